import { INVALID } from './schema';
import type { Invalid, ParseContext, Schema } from './schema';

/**
 * A point in time with microseconds. `iso` is in UTC, `2026-01-02T03:04:05.123456+00:00`, the fraction left off when it
 * is zero; `micros` counts microseconds since 1970 (exact until the year 2255).
 */
export interface Instant {
  readonly iso: string;
  readonly micros: number;
}

const TIME = /^[Tt _](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:[Zz]|([+\-\u2212])(\d\d):?(\d\d))?$/;
const TIMESTAMP = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
// Numbers above this are taken as milliseconds.
const MOST_SECONDS = 2e10;
const FIRST_MS = -62135596800000;
const LAST_MS = 253402300799999;
const LATE = 'dates after 9999 are not supported as unix timestamps';
const EARLY = 'dates before 0000 are not supported as unix timestamps';

/**
 * A date and time: ISO 8601 (`T`, `_` or a space, seconds and fraction optional, `Z`, an offset or none = UTC), a date
 * alone, or a Unix time in seconds or milliseconds. Digits beyond microseconds are cut off.
 */
export function datetime(): Schema<Instant> {
  return {
    label: 'datetime',
    json: { type: 'string', format: 'date-time' },
    parse(input, context) {
      if (typeof input === 'string') {
        if (input[4] !== '-' && TIMESTAMP.test(input)) {
          const value = fromUnix(Number(input));
          return typeof value === 'string' ? failDate(value, input, context) : value;
        }
        return fromText(input, context);
      }
      if (typeof input !== 'number') return context.fail('datetime_type', 'Input should be a valid datetime', input);
      const value = fromUnix(input);
      return typeof value === 'string' ? failDatetime(value, input, context) : value;
    },
  };
}

/** As `datetime`, but the value stays as it was sent: in answers, ISO 8601 with an offset. */
export function timestamp(): Schema<string> {
  const time = datetime();
  return {
    ...time,
    parse: (input, context) => (time.parse(input, context) === INVALID ? INVALID : String(input)),
  };
}

/** Returns the instant of a Date; without one, the current instant. */
export function instant(date = new Date()): Instant {
  return build(date.getTime(), 0);
}

function failDate(error: string, input: unknown, context: ParseContext): Invalid {
  const msg = `Input should be a valid datetime or date, ${error}`;
  return context.fail('datetime_from_date_parsing', msg, input, { error });
}

function failDatetime(error: string, input: unknown, context: ParseContext): Invalid {
  return context.fail('datetime_parsing', `Input should be a valid datetime, ${error}`, input, { error });
}

function fromUnix(value: number): Instant | string {
  if (Number.isNaN(value)) return 'NaN values not permitted';
  const seconds = Math.abs(value) > MOST_SECONDS ? value / 1000 : value;
  if (seconds * 1000 > LAST_MS + 0.999) return LATE;
  if (seconds * 1000 < FIRST_MS) return EARLY;
  let whole = Math.floor(seconds);
  let micros = Math.abs(value) > MOST_SECONDS ? microsOfMillis(value, whole) : Math.round((seconds - whole) * 1e6);
  if (micros >= 1e6) {
    whole++;
    micros -= 1e6;
  }
  return build(whole * 1000 + Math.floor(micros / 1000), micros % 1000);
}

function microsOfMillis(millis: number, seconds: number): number {
  return Math.round((millis - seconds * 1000) * 1000);
}

function fromText(input: string, context: ParseContext): Instant | Invalid {
  const year = digits(input, 0, 4);
  const month = digits(input, 5, 2);
  const day = digits(input, 8, 2);
  if (input.length < 10) return failDate('input is too short', input, context);
  if (year < 0) return failDate('invalid character in year', input, context);
  if (input[4] !== '-') return failDate('invalid date separator, expected `-`', input, context);
  if (month < 0) return failDate('invalid character in month', input, context);
  if (input[7] !== '-') return failDate('invalid date separator, expected `-`', input, context);
  if (day < 0) return failDate('invalid character in day', input, context);
  if (month < 1 || month > 12) return failDate('month value is outside expected range of 1-12', input, context);
  if (day < 1 || day > daysOf(year, month)) return failDate('day value is outside expected range', input, context);
  if (year === 0) return failDatetime('year 0 is out of range', input, context);
  const date = utc(year, month, day);
  if (input.length === 10) return build(date, 0);

  const usual = inUtc(input, date);
  if (usual) return usual;
  const time = TIME.exec(input.slice(10));
  const [hours, minutes, seconds] = time ? [Number(time[1]), Number(time[2]), Number(time[3] ?? 0)] : [24, 0, 0];
  const offset = time?.[5] === undefined ? 0 : Number(time[6]) * 60 + Number(time[7]);
  if (time === null || hours > 23 || minutes > 59 || seconds > 59 || offset >= 1440 || Number(time[7] ?? 0) > 59) {
    return failDate('unexpected extra characters at the end of the input', input, context);
  }
  const local = date + (hours * 60 + minutes) * 60_000 + seconds * 1000;
  const fraction = time[4] === undefined ? 0 : Number(time[4].slice(0, 6).padEnd(6, '0'));
  if (offset === 0) {
    const clock = time[3] === undefined ? `${input.slice(11, 16)}:00` : input.slice(11, 19);
    const digits = fraction === 0 ? '' : `.${String(fraction).padStart(6, '0')}`;
    return { iso: `${input.slice(0, 10)}T${clock}${digits}+00:00`, micros: local * 1000 + fraction };
  }
  const ms = local + Math.floor(fraction / 1000) + (time[5] === '+' ? -offset : offset) * 60_000;
  if (ms < FIRST_MS || ms > LAST_MS) {
    return failDatetime(`year ${ms < FIRST_MS ? 0 : 10000} is out of range`, input, context);
  }
  return build(ms, fraction % 1000);
}

/**
 * Returns the instant at `date` and a time of day of the usual form, `T12:34:56[.123456]` in UTC; undefined for other
 * forms, which are slower to parse.
 */
function inUtc(input: string, date: number): Instant | undefined {
  const zone = input.endsWith('Z') ? 1 : input.endsWith('+00:00') ? 6 : 0;
  const end = input.length - zone;
  if (end < 19 || end === 20 || end > 26) return undefined;
  if (input[10] !== 'T' || input[13] !== ':' || input[16] !== ':') return undefined;
  if (end > 19 && input[19] !== '.') return undefined;
  const hours = digits(input, 11, 2);
  const minutes = digits(input, 14, 2);
  const seconds = digits(input, 17, 2);
  const fraction = end > 19 ? digits(input, 20, end - 20) : 0;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59) return undefined;
  if (fraction < 0) return undefined;
  const micros = fraction * 10 ** (26 - Math.max(end, 20));
  const iso = fraction === 0 ? input.slice(0, 19) : input.slice(0, end).padEnd(26, '0');
  return { iso: `${iso}+00:00`, micros: (date + ((hours * 60 + minutes) * 60 + seconds) * 1000) * 1000 + micros };
}

function digits(text: string, start: number, count: number): number {
  let value = 0;
  for (let i = start; i < start + count; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * Returns milliseconds since 1970. Years are counted from March, so that the leap day is the last one; 400 years have
 * 146,097 days.
 */
function utc(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return (y * 365 + leapDays + dayOfYear - 719_468) * 86_400_000;
}

function build(ms: number, micros: number): Instant {
  const text = new Date(ms).toISOString();
  const millis = text.slice(20, 23);
  const fraction = micros === 0 && millis === '000' ? '' : `.${millis}${String(micros).padStart(3, '0')}`;
  return { iso: `${text.slice(0, 19)}${fraction}+00:00`, micros: ms * 1000 + micros };
}
