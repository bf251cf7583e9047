import type { Pool } from 'pg';
import {
  all,
  answer,
  batches,
  compileFilter,
  isoTime,
  jsonContaining,
  metadataFamily,
  nulled,
  object,
  Parameters,
  raw,
  shownMetadataOf,
  type Sized,
  text,
  type Vocabulary,
} from '@fairlead/runs';
import type { ExampleEntity } from './example.entity';
import { mayBeShownOfNone, shownMetadata } from './example-metadata';

/** Which examples, and as of when: `asOf` an ISO time, undefined for the current version. */
export interface ExampleFilter {
  readonly id?: readonly string[];
  readonly dataset?: string;
  readonly asOf?: string;
  /** JSON text of what the example's metadata must contain. */
  readonly metadata?: string;
  readonly full_text_contains?: readonly string[];
  readonly splits?: readonly string[];
  readonly filter?: string;
}

interface ExamplePage {
  readonly order: 'recent' | 'random' | 'recently_created' | 'id';
  readonly descending?: boolean;
  readonly random_seed?: number;
  readonly offset: number;
  readonly limit: number;
  readonly select?: readonly string[];
}

export interface ExampleRow extends Pick<
  ExampleEntity,
  'id' | 'dataset_id' | 'name' | 'inputs' | 'outputs' | 'metadata' | 'source_run_id' | 'attachments'
> {
  readonly created: string;
  readonly modified: string;
}

type AttachmentUrls = (row: ExampleRow) => Promise<string>;

interface ExampleKey extends Sized {
  readonly dataset_id: string;
  readonly valid_from: string;
}

interface OrderedKey extends ExampleKey {
  readonly created: string;
  readonly sequence: number;
}

const KEY = `e.id, e.dataset_id, ${isoTime('e.valid_from')} as valid_from,
  octet_length(e.inputs) + coalesce(octet_length(e.outputs), 0) + coalesce(octet_length(e.metadata), 0) +
  coalesce(octet_length(e.attachments::text), 0) as size`;
const columns = (needs = (member: 'outputs' | 'metadata') => `e.${member}`) =>
  `e.id, e.dataset_id, ${isoTime('e.created_at')} as created, ${isoTime('e.valid_from')} as modified,
   e.name, e.inputs, ${needs('outputs')}, ${needs('metadata')}, e.source_run_id, e.attachments`;
const METADATA = shownMetadataOf('e.metadata');
const ALWAYS = ['id', 'dataset_id', 'inputs', 'name', 'created_at', 'modified_at'];

const VOCABULARY: Vocabulary = {
  fields: {
    id: { sql: 'e.id', type: 'uuid' },
    name: { sql: 'e.name', type: 'text' },
    created_at: { sql: 'e.created_at', type: 'time' },
    modified_at: { sql: 'e.valid_from', type: 'time' },
  },
  families: [metadataFamily(METADATA)],
  paths: { metadata: METADATA },
  json: { metadata: METADATA },
  search: { texts: ['e.name'], json: ['e.inputs', 'e.outputs'] },
};

/** The tenant's examples that match as the text of a JSON array, or as pieces of it when it is long. @throws FilterError */
export async function listExamples(
  pool: Pool,
  tenantId: string,
  filter: ExampleFilter,
  page: ExamplePage,
  urls?: AttachmentUrls,
): Promise<string | AsyncGenerator<string>> {
  const parameters = new Parameters();
  const source = matching(tenantId, filter, parameters);
  // The rows that the offset skips are counted, not looked into. The workspace is `$1`.
  const { rows } = await pool.query<ExampleKey>(
    `select ${KEY} from (
       select k.*, row_number() over () as place from (
         select e.dataset_id, e.id, e.valid_from from ${source} order by ${order(page, parameters)}
         limit ${parameters.add(page.limit)} offset ${parameters.add(page.offset)}
       ) k
     ) k join examples e on (e.dataset_id, e.id, e.valid_from) = (k.dataset_id, k.id, k.valid_from)
     where e.tenant_id = $1 order by k.place`,
    parameters.values,
  );
  const shown = page.select?.includes('attachment_urls') ? urls : undefined;
  return answer('[', batches(rows), (keys) => render(pool, tenantId, keys, page.select, shown), ']');
}

export async function findExample(
  pool: Pool,
  tenantId: string,
  filter: ExampleFilter,
  urls?: AttachmentUrls,
): Promise<string | undefined> {
  const parameters = new Parameters();
  const { rows } = await pool.query<ExampleKey>(
    `select ${KEY} from ${matching(tenantId, filter, parameters)} order by e.created_at, e.dataset_id limit 1`,
    parameters.values,
  );
  return (await render(pool, tenantId, rows, undefined, urls))[0];
}

const MOST_KEYS = 50_000;

export async function* readExamples(pool: Pool, tenantId: string, filter: ExampleFilter): AsyncGenerator<ExampleRow> {
  for (let last: OrderedKey | undefined; ;) {
    const parameters = new Parameters();
    const source = matching(tenantId, filter, parameters);
    const place = last && [
      parameters.add(last.created, 'timestamptz'),
      parameters.add(last.sequence, 'int'),
      parameters.add(last.id, 'uuid'),
    ];
    const { rows } = await pool.query<OrderedKey>(
      `select ${KEY}, ${isoTime('e.created_at')} as created, e.sequence from ${source}
         ${place ? `and (e.created_at, e.sequence, e.id) > (${place.join(', ')})` : ''}
       order by e.created_at, e.sequence, e.id limit ${MOST_KEYS}`,
      parameters.values,
    );
    for (const keys of batches(rows)) yield* await rowsOf(pool, tenantId, keys);
    if (rows.length < MOST_KEYS) return;
    last = rows.at(-1);
  }
}

export async function countExamples(pool: Pool, tenantId: string, filter: ExampleFilter): Promise<number> {
  const parameters = new Parameters();
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from ${matching(tenantId, filter, parameters)}`,
    parameters.values,
  );
  return rows[0]?.count ?? 0;
}

export async function readCurrentExamples(
  pool: Pool,
  tenantId: string,
  datasetId: string,
  ids: readonly string[],
): Promise<Map<string, ExampleRow>> {
  const { rows } = await pool.query<ExampleRow>(
    `select ${columns()} from examples e
     where e.tenant_id = $3 and e.dataset_id = $1 and e.id = any($2::uuid[]) and e.valid_to is null`,
    [datasetId, ids, tenantId],
  );
  return new Map(rows.map((row) => [row.id, row]));
}

function matching(tenantId: string, filter: ExampleFilter, parameters: Parameters): string {
  const conditions = [`e.tenant_id = ${parameters.add(tenantId)}`, `d.tenant_id = e.tenant_id`];
  if (filter.dataset) conditions.push(`d.id = ${parameters.add(filter.dataset, 'uuid')}`);
  if (filter.id?.length) conditions.push(`e.id = any(${parameters.add(filter.id, 'uuid[]')})`);
  conditions.push(current(filter.asOf, parameters));
  if (filter.metadata) {
    const metadata = parameters.add(filter.metadata, 'text');
    conditions.push(
      mayBeShownOfNone(filter.metadata)
        ? `${METADATA} @> searchable_json(${metadata})`
        : `e.metadata is not null and searchable_json(e.metadata) @> searchable_json(${metadata})`,
    );
  }
  for (const words of filter.full_text_contains ?? []) {
    const contains = jsonContaining(words, parameters);
    conditions.push(`(${contains('e.inputs')} or ${contains('e.outputs')})`);
  }
  if (filter.splits?.length) {
    conditions.push(`${METADATA} -> 'dataset_split' ?| ${parameters.add(filter.splits, 'text[]')}`);
  }
  if (filter.filter) conditions.push(compileFilter(filter.filter, VOCABULARY, parameters));
  return `datasets d join examples e on e.dataset_id = d.id where ${all(conditions)}`;
}

function current(asOf: string | undefined, parameters: Parameters): string {
  if (!asOf) return 'e.valid_to is null';
  const time = parameters.add(asOf, 'timestamptz');
  return `e.valid_from <= ${time} and (e.valid_to is null or e.valid_to > ${time})`;
}

function order(page: ExamplePage, parameters: Parameters): string {
  const newestFirst = page.descending === false ? 'asc' : 'desc';
  switch (page.order) {
    case 'recent':
      return `e.valid_from ${newestFirst}, e.sequence, e.id`;
    case 'recently_created':
      return `e.created_at ${newestFirst}, e.sequence, e.id`;
    case 'id':
      return `e.id ${page.descending ? 'desc' : 'asc'}`;
    case 'random':
      return `md5(e.id::text || ${parameters.add(String(page.random_seed ?? Math.random()), 'text')}), e.id`;
  }
}

async function render(
  pool: Pool,
  tenantId: string,
  keys: readonly ExampleKey[],
  select?: readonly string[],
  urls?: AttachmentUrls,
): Promise<string[]> {
  if (!keys.length) return [];
  const shown = select && new Set([...ALWAYS, ...select]);
  const needs = (member: 'outputs' | 'metadata') => (!shown || shown.has(member) ? `e.${member}` : `null as ${member}`);
  const rows = await rowsOf(pool, tenantId, keys, needs);
  return Promise.all(
    rows.map(async (row) => {
      const members = exampleMembers(row, row.attachments && urls ? await urls(row) : undefined);
      return object(shown ? nulled(members, shown) : members);
    }),
  );
}

async function rowsOf(
  pool: Pool,
  tenantId: string,
  keys: readonly ExampleKey[],
  needs?: (member: 'outputs' | 'metadata') => string,
): Promise<ExampleRow[]> {
  const { rows } = await pool.query<ExampleRow>(
    `select ${columns(needs)} from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) with ordinality as k(dataset_id, id, valid_from, place)
     join examples e on (e.dataset_id, e.id, e.valid_from) = (k.dataset_id, k.id, k.valid_from)
     where e.tenant_id = $4 order by k.place`,
    [keys.map((key) => key.dataset_id), keys.map((key) => key.id), keys.map((key) => key.valid_from), tenantId],
  );
  return rows;
}

export function exampleMembers(row: ExampleRow, urls = 'null') {
  return {
    outputs: raw(row.outputs),
    dataset_id: text(row.dataset_id),
    source_run_id: text(row.source_run_id),
    metadata: shownMetadata(row.metadata),
    inputs: raw(row.inputs),
    created_at: text(row.created),
    id: text(row.id),
    name: text(row.name),
    modified_at: text(row.modified),
    attachment_urls: urls,
  };
}
