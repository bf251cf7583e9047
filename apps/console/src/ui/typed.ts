/**
 * What a field has told of, from the text that is shown elsewhere on, once that text is `shown`; undefined when somebody
 * else has set the text. A text that was told comes back late, when others have been told or typed since.
 */
export function toldSince(told: readonly string[], shown: string): readonly string[] | undefined {
  const at = told.indexOf(shown);
  return at < 0 ? undefined : told.slice(at);
}
