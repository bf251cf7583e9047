/** A number whose text JavaScript would change, such as 9007199254740993. */
export class SourceNumber {
  constructor(readonly source: string) {}
}

const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Begins the texts that stand for numbers while JSON is parsed; no data can know it. */
const MARK = `${crypto.randomUUID()} `;

/** Reads JSON; numbers that JavaScript cannot hold as they were written stay text. */
export function parseLossless(text: string): unknown {
  const marked = text.replace(TOKENS, (token) =>
    token.startsWith('"') || isSame(token) ? token : `"${MARK}${token}"`,
  );
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(MARK) ? new SourceNumber(value.slice(MARK.length)) : value,
  );
}

/** Writes what `parseLossless` read, with the same numbers. */
export function printLossless(value: unknown, indent = 2, depth = 0): string {
  if (value instanceof SourceNumber) return value.source;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const items = Array.isArray(value)
    ? value.map((item) => printLossless(item, indent, depth + 1))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${printLossless(item, indent, depth + 1)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  const pad = '\n' + ' '.repeat(indent * (depth + 1));
  return `${open}${pad}${items.join(`,${pad}`)}\n${' '.repeat(indent * depth)}${close}`;
}

/** True when a number keeps all its digits: those of 0.1 and 1.50 stay, those of 9007199254740993 do not. */
function isSame(source: string): boolean {
  const value = Number(source);
  return Number.isFinite(value) && (Number.isSafeInteger(value) || digits(source).length <= 15);
}

function digits(source: string): string {
  return source.replace(/e.*$/i, '').replaceAll(/[-.]/g, '').replace(/^0+/, '');
}
