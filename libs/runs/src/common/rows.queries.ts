import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';

export type Row = Readonly<Record<string, unknown>>;
/** SQL for columns that are not stored as they are given, made of the placeholder of the value. */
export type Expressions = Readonly<Record<string, (place: string) => string>>;

/** Inserts a row; when there is one of its id, that stays as it is. */
export async function insertRow(tx: PoolClient, table: string, row: Row, expressions: Expressions = {}): Promise<void> {
  const places = Object.keys(row).map((name, nth) => expressions[name]?.(`$${nth + 1}`) ?? `$${nth + 1}`);
  await tx.query(
    `insert into ${table} (${Object.keys(row).join(', ')}) values (${places.join(', ')})
     on conflict (tenant_id, id) do nothing`,
    Object.values(row),
  );
}

type Owned = 'datasets' | 'sessions' | 'comparative_experiments' | 'shares' | 'share_links';

/**
 * The workspace of the rows that an event is about. Events of early versions do not name it: then it is that of the row
 * that has the id of the stream in `column`, and null when there is none.
 */
export async function workspaceOf(
  tx: PoolClient,
  { stream, metadata }: Recorded,
  table: Owned,
  column = 'id',
): Promise<string | null> {
  if (metadata.tenant !== undefined) return metadata.tenant;
  const text = `select tenant_id from ${table} where ${column} = $1 limit 1`;
  const { rows } = await tx.query<{ tenant_id: string }>(text, [idOf(stream)]);
  return rows[0]?.tenant_id ?? null;
}

/** Changes the row of the aggregate of an event, and notes the version of its stream. Members without a value stay. */
export async function updateRow(
  tx: PoolClient,
  table: 'datasets' | 'sessions',
  event: Recorded,
  changes: Row,
  expressions: Expressions = {},
): Promise<number> {
  const { stream, version } = event;
  const changed = Object.entries({ ...changes, version }).filter(([, value]) => value !== undefined);
  const sets = changed.map(([name], nth) => `${name} = ${expressions[name]?.(`$${nth + 3}`) ?? `$${nth + 3}`}`);
  const values = changed.map(([, value]) => value);
  const { rowCount } = await tx.query(`update ${table} set ${sets.join(', ')} where id = $1 and tenant_id = $2`, [
    idOf(stream),
    await workspaceOf(tx, event, table),
    ...values,
  ]);
  return rowCount ?? 0;
}
