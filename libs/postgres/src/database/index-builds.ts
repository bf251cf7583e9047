import { setTimeout as delay } from 'node:timers/promises';

/** Runs a statement and returns its rows. */
export type Ask = (text: string, values?: unknown[]) => Promise<readonly object[]>;

const POLL_MS = 50;

/**
 * Builds an index by `statement`, which says `create index concurrently`. An index that is complete stays, and one whose
 * build was cut off is dropped and built anew.
 */
export async function buildIndex(ask: Ask, name: string, statement: string): Promise<void> {
  // The server goes on with a build whose process was killed.
  const building = `select 1 from pg_stat_progress_create_index
    where datname = current_database() and index_relid = to_regclass($1)`;
  while ((await ask(building, [name])).length > 0) await delay(POLL_MS);
  const [index] = await ask('select indisvalid as complete from pg_index where indexrelid = to_regclass($1)', [name]);
  if ((index as { complete: boolean } | undefined)?.complete) return;
  if (index) await ask(`drop index concurrently ${name}`);
  await ask(statement);
}
