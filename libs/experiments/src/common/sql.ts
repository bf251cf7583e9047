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
 * SQL for the seconds that a run (`r.`, or nothing, in front of its columns) took, null while it goes on. Clients count
 * microseconds themselves, and send an end that is a little before the start for what took no time.
 */
export function latencyOf(run: '' | 'r.'): string {
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
