import { SourceNumber } from '../../api/lossless';

type Members = Readonly<Record<string, unknown>>;

/** A text of a run; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A number of a run, also one that was written as text; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  const number =
    value instanceof SourceNumber ? Number(value.source) : typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** When a model gave its first token: as the run says it, or by the first event about one. */
export function firstTokenAt(run: Members): string | undefined {
  const said = textOf(run.first_token_time);
  if (said !== undefined) return said;
  const events = Array.isArray(run.events) ? (run.events as unknown[]) : [];
  const first = events.find((event) => isMembers(event) && event.name === 'new_token') as Members | undefined;
  const time = textOf(first?.time);
  return time === undefined || Number.isNaN(Date.parse(time)) ? undefined : time;
}

const MOST_LINES = 1000;
const MOST_CHARACTERS = 10_000;

/** The lines of an error, each cut to what a page can show. */
export function linesOf(error: string): string[] {
  const lines = error.replace(/\n+$/, '').split(/\r?\n/);
  const shown = lines.slice(0, MOST_LINES).map((line) => line.slice(0, MOST_CHARACTERS));
  return lines.length > shown.length ? [...shown, `… and ${lines.length - shown.length} more lines`] : shown;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}
