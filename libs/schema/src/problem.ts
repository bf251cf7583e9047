/** Where a value was found: a request part first, then member names and list positions. */
export type Loc = readonly (string | number)[];

/** One finding about a request, in the shape pydantic gives it. */
export interface Problem {
  readonly type: string;
  readonly loc: Loc;
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** What is answered in place of a secret. */
export const REDACTED = '[redacted]';

/** A misplaced value that may hold secrets: `[redacted]`, unless there is nothing in it to hide. */
export function hide(input: unknown): unknown {
  if (typeof input === 'string') return /[\p{L}\p{N}]/u.test(input) ? REDACTED : input;
  return typeof input === 'object' && input !== null && Object.keys(input).length > 0 ? REDACTED : input;
}

const MOST_PROBLEMS = 100;
const MOST_INPUT = 1024;
/** Members or elements of a value that are redacted: what comes after them is never shown, since each takes 8 characters or more. */
const MOST_SHOWN = 200;

/** The first members of an object, as many as an answer can show, each mapped. */
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

/** The first elements of a list, as many as an answer can show, each mapped. */
export function mapShownElements(input: readonly unknown[], map: (value: unknown) => unknown): unknown[] {
  return input.slice(0, MOST_SHOWN).map(map);
}

/** Findings of one request in the order they were made: the first hundred are kept, all are counted. */
export class Problems {
  readonly kept: Problem[] = [];
  total = 0;
  /** What was shown last and how: every member that an object lacks shows the whole object. */
  private shown?: { readonly input: unknown; readonly clipped: unknown };

  add(problem: Problem): void {
    this.total++;
    if (this.kept.length >= MOST_PROBLEMS) return;
    const { input } = problem;
    if (this.shown?.input !== input) this.shown = { input, clipped: clip(input) };
    this.kept.push({ ...problem, input: this.shown!.clipped });
  }

  /** Drops what was found after the first `total`. */
  forget(total: number): void {
    this.total = total;
    if (this.kept.length > total) this.kept.length = total;
  }

  /** The answer's list: the kept findings and, when some were left out, a last one that says how many. */
  list(): Problem[] {
    const more = this.total - this.kept.length;
    if (more === 0) return this.kept;
    const loc = this.kept[0]?.loc.slice(0, 1) ?? [];
    const msg = `${more} more ${more === 1 ? 'error is' : 'errors are'} not listed`;
    return [...this.kept, { type: 'too_many_errors', loc, msg, input: null, ctx: { count: this.total } }];
  }
}

/** The value itself, or a shortened copy when it would take more than a kilobyte of JSON. */
function clip(input: unknown): unknown {
  return measure(input, MOST_INPUT) >= 0 ? input : shorten(input, { left: MOST_INPUT });
}

/** What is left of `budget` characters after writing the value as JSON; negative when it does not fit. Stops early. */
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
