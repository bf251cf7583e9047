interface Fault {
  readonly msg?: unknown;
  readonly type?: unknown;
  readonly loc?: unknown;
}

/** Faults that are written out; of further ones, their number is. */
const MOST = 3;

/** Sentences for details of the service that are codes rather than sentences. */
const PLAIN: Readonly<Record<string, string>> = {
  Forbidden: 'This key may not do this.',
  'Not Found': 'This is not found here.',
  'Invalid token': 'This key is not known here.',
};

/** Labels of a form by the members of the request that it fills: their names, or their paths where names are not enough. */
export type Labels = Readonly<Record<string, string>>;

/** The detail of a refusal as sentences for a person; undefined when it holds none. */
export function sentencesOf(detail: unknown, labels: Labels = {}): string | undefined {
  if (typeof detail === 'string') return PLAIN[detail] ?? detail;
  if (!Array.isArray(detail)) return undefined;
  const faults = (detail as (Fault | null)[]).filter((fault) => typeof fault?.msg === 'string') as Fault[];
  const sentences = [...new Set(faults.map((fault) => sentenceOf(fault, labels)))];
  const more = sentences.length - MOST;
  const shown = sentences.slice(0, MOST).join(' ');
  return shown === '' ? undefined : more > 0 ? `${shown} And ${more} more.` : shown;
}

/** True when a refusal is about the address of a thing: no thing can have such an id. */
export function isOfPath(detail: unknown): boolean {
  return (
    Array.isArray(detail) && detail.some((fault: Fault | null) => Array.isArray(fault?.loc) && fault.loc[0] === 'path')
  );
}

function sentenceOf({ msg, type, loc }: Fault, labels: Labels): string {
  const name = nameOf(Array.isArray(loc) ? loc.slice(1) : [], labels);
  const text = String(msg);
  if (type === 'missing') return `${name} is missing.`;
  if (/^Input should be a valid UUID|^UUID input should/.test(text)) return `${name} is not an id.`;
  if (/at least 1 character/.test(text)) return `${name} must not be empty.`;
  const should = /^(?:Input|String|List|URL scheme|Value) should (.*)$/s.exec(text)?.[1];
  if (should === undefined) return ended(`${name}: ${text.replace(/^Value error, /, '')}`);
  const short = should
    .replace(' after validation', '')
    .replace(/, (?:unable to|got a|input|relative|invalid|not enough).*$/s, '')
    .replace('be a valid dictionary or object to extract fields from', 'be an object')
    .replace('be a valid dictionary', 'be an object')
    .replace('be a valid integer', 'be a whole number')
    .replace('be a valid string', 'be a text')
    .replace('be a valid boolean', 'be true or false');
  return ended(`${name} should ${short}`);
}

/** A place in a request as a person names it: `Name of entry 2 of secrets`, `“Sends to”` where the form has a label. */
function nameOf(loc: readonly unknown[], labels: Labels): string {
  const labelled = loc.findLastIndex((_, at) => labelOf(loc.slice(0, at + 1), labels) !== undefined);
  const parts = loc
    .slice(labelled + 1)
    .map((part) =>
      typeof part === 'number' ? `entry ${part + 1}` : String(part).replace(/^x-/, '').replaceAll('_', ' '),
    );
  const label = labelled < 0 ? [] : [`“${labelOf(loc.slice(0, labelled + 1), labels)}”`];
  const name = [...label, ...parts].reverse().join(' of ');
  return name === '' ? 'The request' : name[0]!.toUpperCase() + name.slice(1);
}

function labelOf(loc: readonly unknown[], labels: Labels): string | undefined {
  const last = loc.at(-1);
  if (typeof last !== 'string') return undefined;
  const path = loc.filter((part) => typeof part === 'string').join('.');
  return [path, last].filter((name) => Object.hasOwn(labels, name)).map((name) => labels[name])[0];
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
