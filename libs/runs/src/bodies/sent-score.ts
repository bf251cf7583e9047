/** Longest text of a score that is kept; every integer that is stored as a number is shorter, unless it has a fraction of zeros. */
const MOST_CHARACTERS = 400;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/**
 * JSON text of a score that the number stored for it does not give back with the same digits: a truth value, or a number
 * in another spelling, such as `0.10` or one of more digits than a number can hold; null for all others. `token` is the
 * JSON text that was sent.
 */
export function sentScore(score: number | boolean, token: string): string | null {
  if (typeof score === 'boolean') return String(score);
  const text = token.startsWith('"') ? token.slice(1, -1) : token;
  return text === String(score) || text.length > MOST_CHARACTERS || !NUMBER.test(text) ? null : text;
}
