import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { connect } from './database';
import { buildIndex } from './index-builds';
import { LOCKS } from './locks';
import { Migration, type MigrationClass } from './migration';

/**
 * A migration that adds the workspace to tables whose rows belong to a row of another table. Whoever writes a row sets it
 * from now on. Rows of before, and those of services of the version before, get it from `fillWorkspaces`.
 */
export abstract class WorkspaceColumns extends Migration {
  /** The column with the id of the owner, and the table of owners, by the name of the table. */
  abstract readonly owners: Readonly<Record<string, readonly [column: string, owners: string]>>;

  get statements(): string[] {
    return Object.keys(this.owners).map((table) => `alter table ${table} add column tenant_id uuid`);
  }
}

/** Rows that one transaction fills. */
const BATCH = 200;
const POLL_MS = 1000;
const REPORT_MS = 30_000;
const LEAST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Gives the rows of the `WorkspaceColumns` among `migrations` the workspace of their owner, one process after the other,
 * and tells of it. It takes half of the time at most, so that others get on, and may end at any time: the next call goes
 * on. Resolves when no row is left, or when `signal` ends it.
 */
export async function fillWorkspaces(
  url: string,
  migrations: readonly MigrationClass[],
  tell: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const tables = migrations.flatMap((migration) => {
    const one = new migration();
    return one instanceof WorkspaceColumns ? Object.entries(one.owners) : [];
  });
  if (tables.length === 0) return;
  const client = await connect(url);
  // The server goes on with an index that it builds; a batch is undone.
  const end = () => void client.end();
  signal.addEventListener('abort', end);
  try {
    // What a crash takes back is filled by the next call.
    await client.query('set synchronous_commit = off');
    const lock = 'select pg_try_advisory_lock($1) as taken';
    while (!(await client.query<{ taken: boolean }>(lock, [LOCKS.workspaceFill])).rows[0]!.taken)
      await delay(POLL_MS, undefined, { signal });
    for (const [table, [column, owners]] of tables) {
      // Without it, each call would read the whole table.
      const index = `${table}_without_workspace`;
      await buildIndex(
        async (text, values) => (await client.query<object>(text, values)).rows,
        index,
        `create index concurrently ${index} on ${table} (${column}) where tenant_id is null`,
      );
      await new Filling(client, table, column, owners, tell, signal).run();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', end);
    await client.end();
  }
}

/** Fills one table, the rows of one owner after those of another. */
class Filling {
  private filled = 0;
  private reported = Date.now();

  constructor(
    private readonly client: Client,
    private readonly table: string,
    private readonly column: string,
    private readonly owners: string,
    private readonly tell: (line: string) => void,
    private readonly signal: AbortSignal,
  ) {}

  async run(): Promise<void> {
    const { table, column, owners } = this;
    // Another service, which has not started yet, brings the owners.
    const { rows: found } = await this.client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
      owners,
    ]);
    if (!found[0]!.there) return;
    const text = `select c.id, o.tenant_id as tenant
      from (select ${column} as id from ${table} where tenant_id is null and ${column} > $1 order by ${column} limit 1) c
      left join ${owners} o on o.id = c.id`;
    for (let after = LEAST_ID; ;) {
      const { rows } = await this.client.query<{ id: string; tenant: string | null }>(text, [after]);
      if (!rows[0]) break;
      after = rows[0].id;
      // An owner that is missing is about to be written, or was deleted.
      if (rows[0].tenant !== null) await this.fill(after, rows[0].tenant);
    }
    if (this.filled > 0) this.report(', which was all');
  }

  private async fill(owner: string, tenant: string): Promise<void> {
    const { table, column } = this;
    for (let count = BATCH; count === BATCH;) {
      this.signal.throwIfAborted();
      const started = Date.now();
      const { rowCount } = await this.client.query(
        `update ${table} set tenant_id = $2
         where ctid = any(array(select ctid from ${table} where ${column} = $1 and tenant_id is null limit ${BATCH}))`,
        [owner, tenant],
      );
      count = rowCount ?? 0;
      this.filled += count;
      if (Date.now() - this.reported > REPORT_MS) this.report(' so far');
      await delay(Date.now() - started, undefined, { signal: this.signal });
    }
  }

  private report(when: string): void {
    this.reported = Date.now();
    this.tell(`${this.table}: ${this.filled} rows of before have got their workspace${when}.`);
  }
}
