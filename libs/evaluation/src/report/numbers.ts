const MINUS = '\u2212';

/** A number to three significant digits with a true minus; a dash for none. */
export function figure(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  if (Number.isInteger(value)) return whole(value);
  const size = Math.abs(value);
  const text = size >= 100 ? Math.round(size).toLocaleString('en') : trim(size.toPrecision(3));
  return value < 0 ? MINUS + text : text;
}

/** The same with its sign, also of what is positive. */
export function signed(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return value > 0 ? `+${figure(value)}` : figure(value);
}

/** A count with separators. */
export function whole(value: number): string {
  const text = Math.abs(value).toLocaleString('en');
  return value < 0 ? MINUS + text : text;
}

/** A share as per cent. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined) return '–';
  const value = share * 100;
  return `${value >= 100 ? Math.round(value) : trim(value.toPrecision(3))} %`;
}

/** A probability, as `<0.001` when it is less. */
export function probability(p: number | null | undefined): string {
  if (p === null || p === undefined) return '–';
  return p < 0.001 ? '<0.001' : p.toFixed(3);
}

/** A long name cut in its middle. */
export function middle(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = Math.floor((most - 1) / 2);
  return `${text.slice(0, half)}…${text.slice(-half)}`;
}

/** Returns how often labels were given, the most frequent ones first; `…` stands for others. */
export function labelCounts(values: Readonly<Record<string, number>>, given: number, most: number): string {
  const all = Object.entries(values)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1]);
  const shown = all.slice(0, most);
  const told = shown.reduce((sum, [, count]) => sum + count, 0);
  const labels = shown.map(([label, count]) => `${middle(label, 16)} ${figure(count)}`);
  return [...labels, ...(told < given ? ['…'] : [])].join(', ');
}

function trim(text: string): string {
  return text.includes('.') && !text.includes('e') ? text.replace(/\.?0+$/, '') : text;
}
