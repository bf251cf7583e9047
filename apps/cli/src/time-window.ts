const UNIX = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const MOST_SECONDS = 2e10;
const ZONED = /(?:z|[+-]\d\d:?\d\d)$/i;
const FINE = /[.,]\d{3}\d*[1-9]/;

/** The span of the times that were added. */
export class TimeWindow {
  private first = Infinity;
  private last = -Infinity;

  /** Adds a time as JSON; what cannot be understood is left to the service to refuse. */
  add(json: string): void {
    const text = String(JSON.parse(json));
    const ms = millisOf(text);
    if (ms === undefined) return;
    this.first = Math.min(this.first, Math.floor(ms));
    // Digits beyond milliseconds were cut off.
    this.last = Math.max(this.last, Math.ceil(ms) + Number(FINE.test(text)));
  }

  /** ISO times that hold all that were added; undefined when there was none. */
  get span(): { readonly start: string; readonly end: string } | undefined {
    if (this.first > this.last) return undefined;
    return { start: new Date(this.first).toISOString(), end: new Date(this.last).toISOString() };
  }
}

/**
 * A time `seconds` later, or earlier when they are negative, to the microsecond; undefined when the time is not
 * understood.
 */
export function shifted(json: string, seconds: number): string | undefined {
  const from = microsOf(json);
  const micros = from === undefined ? NaN : from + Math.round(seconds * 1e6);
  const time = new Date(Math.floor(micros / 1000));
  if (Number.isNaN(time.getTime())) return undefined;
  const rest = micros - time.getTime() * 1000;
  return JSON.stringify(time.toISOString().replace('Z', rest === 0 ? 'Z' : `${String(rest).padStart(3, '0')}Z`));
}

/** Seconds from one time to another; undefined when one of them is not understood. */
export function secondsBetween(start: string, end: string): number | undefined {
  const [from, to] = [microsOf(start), microsOf(end)];
  return from === undefined || to === undefined ? undefined : (to - from) / 1e6;
}

/** Microseconds since 1970 of a time as JSON. */
function microsOf(json: string): number | undefined {
  const text = String(JSON.parse(json));
  const ms = millisOf(text);
  if (ms === undefined) return undefined;
  if (UNIX.test(text)) return Math.round(ms * 1000);
  const finer = /[.,]\d{3}(\d{1,3})/.exec(text)?.[1] ?? '';
  return ms * 1000 + Number(finer.padEnd(3, '0'));
}

/** Milliseconds since 1970 of ISO 8601 or Unix time, UTC when no zone is given. */
function millisOf(text: string): number | undefined {
  let ms: number;
  if (UNIX.test(text)) ms = Math.abs(Number(text)) > MOST_SECONDS ? Number(text) : Number(text) * 1000;
  else {
    const iso = text
      .trim()
      .replace(/^(\d{4}-\d\d-\d\d)[ _t]/, '$1T')
      .replace(',', '.');
    ms = Date.parse(iso.length === 10 || ZONED.test(iso.slice(10)) ? iso : `${iso}Z`);
  }
  return Number.isNaN(new Date(ms).getTime()) ? undefined : ms;
}
