/**
 * Texts that a field has sent and that have not come back, beginning with `shown`, the text that is shown elsewhere
 * now. Undefined when somebody else has set that text. A text that was sent comes back late, when others have been sent
 * or typed since.
 */
export function toldSince(told: readonly string[], shown: string): readonly string[] | undefined {
  const at = told.indexOf(shown);
  return at < 0 ? undefined : told.slice(at);
}
