/** A text read as a score; `json` is a number with all of its digits, or true or false. */
type ScoreText =
  | { readonly kind: 'none' }
  | { readonly kind: 'number'; readonly json: string }
  | { readonly kind: 'text' }
  | { readonly kind: 'refused'; readonly why: string };

type Decimal = '.' | ',';

const NONE = /^(?:null|none|n\/a|na|nan|-|)$/i;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(e[+-]?\d+)?$/i;
const INFINITE = /^[+-]?inf(?:inity)?$/i;
/**
 * Text that somebody means as a number: with other separators, digits or signs, a currency, a percentage, a fraction, a
 * bound, in brackets; and what Excel writes for errors.
 */
const NUMBER_LIKE =
  /^(?:[(<>≤≥≈~=]*\s*[-+\u2010-\u2015\u2212]?\s*\p{Sc}?\s*[\p{N}.,'’_\s]*\p{N}[\p{N}.,'’_\s]*(?:e[-+]?\d+)?(?:\/\s*[\p{N}.,]+)?\s*[%‰\p{Sc}]?\)?|[+-]?0x[\da-f]+|#(?:N\/A|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|NULL!))$/iu;

/** Reads the text of a score. Text that looks like a number and is none is refused instead of becoming a label. */
export function scoreText(given: string, decimal: Decimal): ScoreText {
  const text = given.trim();
  if (NONE.test(text)) return { kind: 'none' };
  if (/^(?:true|false)$/i.test(text)) return { kind: 'number', json: text.toLowerCase() };
  const json = numberText(text, decimal);
  if (json !== undefined && Number.isFinite(Number(json))) return { kind: 'number', json };
  if (json !== undefined || INFINITE.test(text)) return { kind: 'refused', why: 'is no finite number' };
  if (!NUMBER_LIKE.test(text)) return { kind: 'text' };
  const other = numberText(text, decimal === '.' ? ',' : '.') !== undefined;
  const hint = decimal === ',' ? 'a decimal comma is expected (--decimal ,)' : 'add --decimal , for decimal commas';
  return { kind: 'refused', why: other ? `is no number: ${hint}` : 'is no number' };
}

/** A number of a text as JSON, with the digits that it has; undefined when it is none. */
export function numberText(text: string, decimal: Decimal): string | undefined {
  if (decimal === ',' && text.includes('.')) return undefined;
  const [, sign, whole = '', fraction = '', exponent = ''] = NUMBER.exec(text.replace(decimal, '.')) ?? [];
  if (sign === undefined || (whole === '' && fraction === '')) return undefined;
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === '-' ? '-' : ''}${digits}${fraction && `.${fraction}`}${exponent}`;
}
