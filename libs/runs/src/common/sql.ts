import { isObject, parseJson } from '@fairlead/schema';

const MOST_DEPTH = 100;

export class Parameters {
  readonly values: unknown[] = [];

  /** The placeholder for `value`, cast to `type` when one is given. Text is made storable first (see `storable`). */
  add(value: unknown, type?: string): string {
    this.values.push(
      typeof value === 'string' ? storable(value) : Array.isArray(value) ? value.map(storableItem) : value,
    );
    return `$${this.values.length}${type ? `::${type}` : ''}`;
  }
}

/** Text that PostgreSQL can hold: U+0000 becomes U+FFFD, so that looking for it finds nothing instead of failing. */
export function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

function storableItem(item: unknown): unknown {
  return typeof item === 'string' ? storable(item) : item;
}

/** SQL for a timestamptz as ISO 8601 text in UTC with microseconds, `2026-01-02T03:04:05.123456+00:00`. */
export function isoTime(expression: string): string {
  return `to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"')`;
}

/**
 * SQL for the seconds that a run (`r.`, `u.`, or nothing, in front of its columns) took, null while it goes on. Clients count
 * microseconds themselves, and send an end that is a little before the start for what took no time.
 */
export function latencyOf(run: '' | 'r.' | 'u.'): string {
  return `case when ${run}end_time < ${run}start_time then 0 else extract(epoch from ${run}end_time - ${run}start_time)::float8 end`;
}

/**
 * SQL for the metadata of an example as answers show them, as jsonb: an example in no split is in `base`. `column` is
 * the text that is kept.
 */
export function shownMetadataOf(column: string): string {
  return `(select case when coalesce(kept.metadata -> 'dataset_split', 'null') in ('null', '[]')
      then coalesce(kept.metadata, '{}') || '{"dataset_split": ["base"]}' else kept.metadata end
    from (select searchable_json(${column}) as metadata offset 0) kept)`;
}

export function containing(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Characters of a searched text that may be written in several ways each; longer texts cost PostgreSQL much more. */
const MOST_SPELLED = 50;
/** `searchable_json` leaves out U+0000 and halves of characters, which no text of PostgreSQL has. */
const UNREADABLE = /[\0\p{Cs}]/gu;
const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\\\', '/': '/', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' },
};

/**
 * Returns what makes the SQL condition that JSON contains a text, in upper or lower case. JSON is stored as it was sent, in
 * which each character of a string may be an escape: `é` is `\u00e9` too. The text is found as JSON means it, and as it was
 * sent. The condition is null where the JSON is.
 */
export function jsonContaining(text: string, parameters: Parameters): (json: string) => string {
  const characters = [...text];
  const start = characters.slice(0, MOST_SPELLED);
  // What is in front of the text is no half of an escape: `\\u00e9` is a backslash and five characters.
  const spelled = String.raw`(?:^|[^\\])(?:\\\\)*${start.map(spellings).join('')}`;
  const pattern = parameters.add(`${literally(start.join(''))}|${spelled}`, 'text');
  // A text that begins with a hexadecimal digit may match from inside an escape on.
  if (characters.length <= MOST_SPELLED && !/^[\da-f]/i.test(text)) return (json) => `${json} ~* ${pattern}`;
  const escaped = [text, text.replaceAll(UNREADABLE, '')].map((one) => JSON.stringify(one).slice(1, -1));
  const whole = parameters.add([text, ...escaped].map(containing), 'text[]');
  return (json) =>
    `(${json} ~* ${pattern} and (${json} ilike any(${whole}) or searchable_json(${json})::text ilike any(${whole})))`;
}

/** The regular expression of a character in a string of JSON; the database may know upper and lower case of ASCII alone. */
function spellings(character: string): string {
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])].filter(
    (one) => [...one].length === 1,
  );
  const escapes = cases.map((one) =>
    Array.from(
      { length: one.length },
      (_, at) => String.raw`\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
  const short = SHORT_ESCAPES[character];
  if (short !== undefined) escapes.push(String.raw`\\${short}`);
  const isEscape = character === '\\' || character.search(UNREADABLE) === 0;
  return `(?:${[...(isEscape ? [] : cases.map(literally)), ...escapes].join('|')})`;
}

/** The regular expression that a text matches as it is. */
function literally(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}\s]/gu, (sign) => (sign > '\x7f' ? sign : `\\${sign}`));
}

export function all(conditions: readonly string[]): string {
  return conditions.length ? conditions.join(' and ') : 'true';
}

export function isSearchable(json: string): boolean {
  try {
    return isObject(parseJson(Buffer.from(json), MOST_DEPTH));
  } catch {
    return false;
  }
}

/** SQL: that a row belongs to a session that is there. The rows of a large session go after it when it is deleted. */
export const ofSession = (row: string, tenant: string) =>
  `exists (select from sessions own where own.tenant_id = ${tenant} and own.id = ${row}.session_id)`;
