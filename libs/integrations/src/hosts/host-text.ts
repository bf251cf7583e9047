/** Characters of a text of a host that are kept. */
const LONGEST_TEXT = 200;

/** Returns the first line of the message of a commit, as it is kept. */
export function subjectOf(message: string | undefined): string | null {
  return textOf(message?.trim().split('\n', 1)[0]);
}

/** Returns a text as it is kept, without control characters; null when there is none. */
export function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  return cut(value.replaceAll(/[\p{Cc}\p{Cs}]/gu, ' ').trim()) || null;
}

export function cut(text: string): string {
  return [...text.slice(0, 2 * LONGEST_TEXT)].slice(0, LONGEST_TEXT).join('');
}
