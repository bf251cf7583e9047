import { Usage } from '../failure';

/** Numbers that stand for labels, by key and label. */
export type LabelValues = Readonly<Record<string, Readonly<Record<string, number>>>>;

const NUMBER = '[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?';
const ENTRY = new RegExp(`([^=]+)=\\s*(${NUMBER})\\s*(?:,\\s*|$)`, 'iy');
const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:/i;

export const LABELS_HELP = `
--label-values 'KEY:LABEL=NUMBER,…' makes labels numbers, in place of what the
feedback configuration of the key says; JSON such as {"KEY": {"LABEL": 1}} is
taken too, for names with these characters.
--only takes KIND,…:KEY with better, worse, same, changed, missing, extra,
errored or unscored, or FROM->TO:KEY for labels; * is any other label. With more
than two experiments, the id of one of them stands in front: ID:KIND:KEY.`;

/** Adds the values of one `--label-values` to those before. @throws Usage when they are none */
export function labelValuesOption(text: string, before: LabelValues = {}): LabelValues {
  const given = text.trimStart().startsWith('{') ? parsed(text) : { [keyOf(text)]: entriesOf(text) };
  return { ...before, ...given };
}

/** The key stands before the last colon that comes before the first `=`. */
function keyOf(text: string): string {
  const end = text.lastIndexOf(':', text.indexOf('='));
  return end > 0 ? text.slice(0, end) : wrong(text);
}

function entriesOf(text: string): Record<string, number> {
  const rest = text.slice(keyOf(text).length + 1);
  const entries: [string, number][] = [];
  ENTRY.lastIndex = 0;
  while (ENTRY.lastIndex < rest.length) {
    const [, label, number] = ENTRY.exec(rest) ?? wrong(text);
    if (entries.some(([known]) => known === label)) throw new Usage(`--label-values ${text}: ${label} comes twice.`);
    entries.push([label!, Number(number)]);
  }
  return Object.fromEntries(entries);
}

function parsed(text: string): LabelValues {
  try {
    return JSON.parse(text) as LabelValues;
  } catch {
    return wrong(text);
  }
}

function wrong(text: string): never {
  throw new Usage(`--label-values ${text}: write KEY:LABEL=NUMBER,… such as grade:C=1,P=0.5,I=0.`);
}

/**
 * The filter of rows that the service takes for one of `--only`.
 * @param others the experiments that are held against the baseline
 * @throws Usage when it does not say which of several it is about
 */
export function rowFilter(text: string, others: readonly string[]): string {
  if (ID.test(text)) return text.slice(0, 37) + filterOf(text.slice(37));
  const [only] = others;
  if (only === undefined || others.length > 1) {
    throw new Usage(`The filter ${text}: put the id of an experiment in front, such as ${only ?? 'ID'}:${text}.`);
  }
  return `${only}:${filterOf(text)}`;
}

function filterOf(text: string): string {
  const [, from, to, key] = /^(.+?)\s*->\s*(.+?):(.+)$/s.exec(text) ?? [];
  if (from === undefined) return text;
  const label = (name: string) => (name === '*' ? '' : encodeURIComponent(name));
  return `label=${label(from)},${label(to!)}:${key}`;
}
