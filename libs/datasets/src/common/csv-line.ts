/** Digits are a number that a double would not give back. */
export type Cell = string | number | null | { readonly digits: string };

/** One line of CSV. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvLine(values: readonly Cell[]): string {
  return `${values.map(csvValue).join(',')}\r\n`;
}

function csvValue(value: Cell): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object') return value.digits;
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** JSON without line breaks between its tokens, which are the only place where JSON has any. */
export function oneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, ' ');
}
