/** Longest text of a score that is kept; every integer that is stored as a number is shorter, unless it has a fraction of zeros. */
const MOST_CHARACTERS = 400;

/** True for an integer that may have been rounded to be stored as a number. */
export function isLarge(score: number): boolean {
  return Number.isInteger(score) && !Number.isSafeInteger(score);
}

/**
 * JSON text of a score that the number stored for it does not give back: a truth value, or an integer beyond 2^53 in
 * another spelling than that of the number; null for all others. `token` is the JSON text that was sent.
 */
export function sentScore(score: number | boolean, token: string): string | null {
  if (typeof score === 'boolean') return String(score);
  if (!isLarge(score) || token === String(score) || token.length > MOST_CHARACTERS) return null;
  return token.startsWith('"') ? null : token;
}
