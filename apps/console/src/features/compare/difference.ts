import { type Change, diffLines, diffWordsWithSpace } from 'diff';
import { SourceNumber } from '../../api/lossless';

/** A stretch of text that both have, or only one of them. */
export interface Stretch {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** A member that differs, by its path; undefined where one side lacks it. */
interface MemberDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

const MOST_CHARACTERS = 40_000;
const MOST_EDITS = 4000;
const MOST_MEMBERS = 500;

/** The difference of two texts by words; undefined when they are too long or too different to be marked. */
export function words(before: string, after: string): Stretch[] | undefined {
  if (before.length + after.length > MOST_CHARACTERS) return undefined;
  return stretches(diffWordsWithSpace(before, after, { maxEditLength: MOST_EDITS }));
}

/** The difference of two texts by lines; undefined when they are too different to be marked. */
export function lines(before: string, after: string): Stretch[] | undefined {
  return stretches(diffLines(before, after, { maxEditLength: MOST_EDITS }));
}

function stretches(parts: readonly Change[] | undefined): Stretch[] | undefined {
  return parts?.map(({ added, removed, value }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }));
}

/** The members of two JSON values that differ, and how many are the same. */
export function members(before: unknown, after: unknown): { changed: MemberDifference[]; same: number } {
  const changed: MemberDifference[] = [];
  let same = 0;
  const visit = (path: string, one: unknown, other: unknown) => {
    if (changed.length >= MOST_MEMBERS) return;
    if (isTree(one) && isTree(other) && Array.isArray(one) === Array.isArray(other)) {
      const list = Array.isArray(one);
      const names = new Set([...Object.keys(one), ...Object.keys(other)]);
      for (const name of names) {
        const next = list ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`;
        visit(next, own(one, name), own(other, name));
      }
    } else if (isEqual(one, other)) same++;
    else changed.push({ path, before: one, after: other });
  };
  visit('', before, after);
  return { changed, same };
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof SourceNumber);
}

function own(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isEqual(one: unknown, other: unknown): boolean {
  if (one instanceof SourceNumber && other instanceof SourceNumber) return one.source === other.source;
  return one === other || (isTree(one) && isTree(other) && JSON.stringify(one) === JSON.stringify(other));
}

/** Where a text begins to differ from another one, a little before; undefined when they are equal. */
export function firstDifference(text: string, other: string): number | undefined {
  if (text === other) return undefined;
  const most = Math.min(text.length, other.length);
  let at = 0;
  while (at < most && text[at] === other[at]) at++;
  const start = Math.max(0, at - 16);
  return start === 0
    ? 0
    : text.indexOf(' ', start) > 0 && text.indexOf(' ', start) < at
      ? text.indexOf(' ', start) + 1
      : start;
}
