/** The place of a value: a part of the request, then names of members and positions in lists. */
export type Loc = readonly (string | number)[];

/** One problem of a request, in the form of pydantic. */
export interface Problem {
  readonly type: string;
  readonly loc: Loc;
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** The text in place of a secret. */
export const REDACTED = '[redacted]';

/**
 * Returns `[redacted]` for a misplaced value that may contain secrets, or the value itself when there is nothing to
 * hide in it.
 */
export function hide(input: unknown): unknown {
  if (typeof input === 'string') return /[\p{L}\p{N}]/u.test(input) ? REDACTED : input;
  return typeof input === 'object' && input !== null && Object.keys(input).length > 0 ? REDACTED : input;
}

const MOST_PROBLEMS = 100;
const MOST_INPUT = 1024;
/**
 * Largest number of members or elements that are redacted. Later ones are never shown, because each takes at least 8
 * characters.
 */
const MOST_SHOWN = 200;

/** Returns the first members of an object, each mapped, as many as an answer can show. */
export function mapShownMembers(
  input: Readonly<Record<string, unknown>>,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> {
  const members: [string, unknown][] = [];
  for (const key in input) {
    if (members.length >= MOST_SHOWN) break;
    members.push([key, map(input[key], key)]);
  }
  return Object.fromEntries(members);
}

/** Returns the first elements of a list, each mapped, as many as an answer can show. */
export function mapShownElements(input: readonly unknown[], map: (value: unknown) => unknown): unknown[] {
  return input.slice(0, MOST_SHOWN).map(map);
}

/** Collects the problems of one request in their order. It keeps the first hundred and counts all. */
export class Problems {
  readonly kept: Problem[] = [];
  total = 0;
  /** The value that was shown last, and its shortened form: each missing member of an object shows the whole object. */
  private shown?: { readonly input: unknown; readonly clipped: unknown };

  add(problem: Problem): void {
    this.total++;
    if (this.kept.length >= MOST_PROBLEMS) return;
    const { input } = problem;
    if (this.shown?.input !== input) this.shown = { input, clipped: clip(input) };
    this.kept.push({ ...problem, input: this.shown!.clipped });
  }

  /** Forgets all problems after the first `total`. */
  forget(total: number): void {
    this.total = total;
    if (this.kept.length > total) this.kept.length = total;
  }

  /** Returns the problems for the answer: the kept ones and, when some were left out, a last one with their number. */
  list(): Problem[] {
    const more = this.total - this.kept.length;
    if (more === 0) return this.kept;
    const loc = this.kept[0]?.loc.slice(0, 1) ?? [];
    const msg = `${more} more ${more === 1 ? 'error is' : 'errors are'} not listed`;
    return [...this.kept, { type: 'too_many_errors', loc, msg, input: null, ctx: { count: this.total } }];
  }
}

/** Returns the value, or a shortened copy when its JSON exceeds a kilobyte. */
function clip(input: unknown): unknown {
  return measure(input, MOST_INPUT) >= 0 ? input : shorten(input, { left: MOST_INPUT });
}

/**
 * Returns what is left of `budget` characters after writing the value as JSON; negative when it does not fit. It stops
 * early.
 */
function measure(value: unknown, budget: number): number {
  if (typeof value === 'string') return budget - value.length - 2;
  if (typeof value !== 'object' || value === null) return budget - 8;
  let left = budget - 2;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = measure(value[i], left - 1);
    return left;
  }
  for (const key in value) {
    if (left < 0) break;
    left = measure((value as Record<string, unknown>)[key], left - key.length - 4);
  }
  return left;
}

function shorten(value: unknown, budget: { left: number }): unknown {
  if (typeof value === 'string') {
    const room = Math.max(16, Math.min(budget.left, 256));
    budget.left -= Math.min(value.length, room);
    return value.length <= room ? value : `${value.slice(0, room)}…`;
  }
  budget.left -= 8;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (let i = 0; i < value.length && budget.left > 0; i++) items.push(shorten(value[i], budget));
    return items.length < value.length ? [...items, '…'] : items;
  }
  const members: [string, unknown][] = [];
  for (const key in value) {
    if (budget.left <= 0) {
      members.push(['…', '…']);
      break;
    }
    budget.left -= key.length;
    members.push([key.slice(0, 256), shorten((value as Record<string, unknown>)[key], budget)]);
  }
  return Object.fromEntries(members);
}
