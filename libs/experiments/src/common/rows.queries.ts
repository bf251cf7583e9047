import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';

export type Row = Readonly<Record<string, unknown>>;
/** SQL for columns that are not stored as they are given, made of the placeholder of the value. */
export type Expressions = Readonly<Record<string, (place: string) => string>>;

/** Inserts a row; when there is one of its id, that stays as it is. */
export async function insertRow(tx: PoolClient, table: string, row: Row, expressions: Expressions = {}): Promise<void> {
  const places = Object.keys(row).map((name, nth) => expressions[name]?.(`$${nth + 1}`) ?? `$${nth + 1}`);
  await tx.query(
    `insert into ${table} (${Object.keys(row).join(', ')}) values (${places.join(', ')}) on conflict (id) do nothing`,
    Object.values(row),
  );
}

/** Changes the row of the aggregate of an event, and notes the version of its stream. Members without a value stay. */
export async function updateRow(
  tx: PoolClient,
  table: 'datasets' | 'sessions',
  { stream, version }: Recorded,
  changes: Row,
  expressions: Expressions = {},
): Promise<number> {
  const changed = Object.entries({ ...changes, version }).filter(([, value]) => value !== undefined);
  const sets = changed.map(([name], nth) => `${name} = ${expressions[name]?.(`$${nth + 2}`) ?? `$${nth + 2}`}`);
  const values = changed.map(([, value]) => value);
  const { rowCount } = await tx.query(`update ${table} set ${sets.join(', ')} where id = $1`, [
    idOf(stream),
    ...values,
  ]);
  return rowCount ?? 0;
}
