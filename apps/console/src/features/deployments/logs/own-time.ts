/** A time at the beginning of a line, as programs write it, and what separates it from the rest. */
const TIME =
  /^\s*[[(]?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|\s?[+-]\d\d:?\d\d)?[\])]?(?:\s+[-|]\s+|:?\s+)/;

/** A line without the time that it begins with: its place in the log has one already. */
export function withoutTime(line: string): string {
  return line.replace(TIME, '') || line;
}
