import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';

/** Interval (ms) at which a worker looks for items that another process has noted or left behind, or whose pause has ended. */
export const LOOK_MS = 1000;

/** The table of a queue. It has the columns `tenant_id`, `noted`, `due_at`, `failures`, `holder` and `leased_until`. */
interface QueueTable {
  readonly table: string;
  readonly key: string;
  /** Duration of a lease (ms), and the longest time between two renewals. */
  readonly lease: number;
  readonly renewal?: number;
  /** Most items of one workspace that may be leased at a time. */
  readonly mostOfTenant: number;
  /** SQL: the leases that count for this limit, of those that have not ended. `$1` is the holder. */
  readonly counted: string;
  /** SQL: further columns that a new lease sets. */
  readonly begins?: string;
  /** SQL: the items that may be leased; `q` is the item. */
  readonly eligible?: string;
  /** The clock of `due_at`; that of the database by default. */
  readonly now?: () => number;
}

export interface WorkItem {
  readonly id: string;
  /** The workspace; null for items of early versions. */
  readonly tenant: string | null;
  /** Grows with everything that is noted for the item. */
  readonly noted: bigint;
  /** Number of times in a row that the item was postponed; a queue may count leases that were not given back as well. */
  readonly failures: number;
}

/** A queue of items in a table. A process leases items; a lease that is not renewed ends, and another process may take the item. */
export abstract class WorkQueue {
  protected readonly holder = randomUUID();
  private readonly listeners = new Set<(id?: string, noted?: bigint) => void>();

  constructor(
    protected readonly pool: Pool,
    readonly settings: QueueTable,
  ) {}

  /** Calls `heard` when this process has noted something, with the id of its item when it is one item, and what is noted. */
  onNote(heard: (id?: string, noted?: bigint) => void): void {
    this.listeners.add(heard);
  }

  wake(id?: string, noted?: bigint): void {
    for (const heard of this.listeners) heard(id, noted);
  }

  /** Leases up to `most` items that are due, those of the workspaces with the fewest leases first. */
  async claim(most: number): Promise<WorkItem[]> {
    const { table, key, lease, mostOfTenant, counted, begins, eligible = 'true', now } = this.settings;
    const { rows } = await this.pool.query<Omit<WorkItem, 'noted'> & { noted: string }>({
      name: `claim ${table}`,
      text: `with leased as (select tenant_id, count(*) as places from ${table}
          where leased_until >= now() and ${counted} group by tenant_id),
        waiting as (
          select q.${key}, q.due_at, coalesce(leased.places, 0)
            + row_number() over (partition by q.tenant_id order by q.due_at, q.${key}) as place
          from ${table} q left join leased on leased.tenant_id is not distinct from q.tenant_id
          where q.due_at <= coalesce($5, now()) and (q.leased_until is null or q.leased_until < now()) and ${eligible})
        update ${table} set holder = $1, leased_until = now() + $3 * interval '1 millisecond'${begins ? `, ${begins}` : ''}
        where ${key} in (
          select q.${key} from ${table} q join waiting using (${key})
          where place <= $4 and q.due_at <= coalesce($5, now()) and (q.leased_until is null or q.leased_until < now())
          order by place, waiting.due_at limit $2 for update of q skip locked)
        returning ${key} as id, tenant_id as tenant, noted, failures`,
      values: [this.holder, most, lease, mostOfTenant, now && new Date(now())],
    });
    return rows.map((row) => ({ ...row, noted: BigInt(row.noted) }));
  }

  /** Extends the lease of an item; returns what has been noted by now, undefined when the lease has been lost. */
  async renew(id: string): Promise<bigint | undefined> {
    const { table, key, lease } = this.settings;
    const { rows } = await this.pool.query<{ noted: string }>({
      name: `renew ${table}`,
      text: `update ${table} set leased_until = now() + $3 * interval '1 millisecond'
        where ${key} = $1 and holder = $2 returning noted`,
      values: [id, this.holder, lease],
    });
    return rows[0] && BigInt(rows[0].noted);
  }

  /** Deletes an item unless more has been noted for it; returns whether it is gone. */
  protected async done({ id, noted }: WorkItem): Promise<boolean> {
    const { table, key } = this.settings;
    const { rowCount } = await this.pool.query({
      name: `done with ${table}`,
      text: `delete from ${table} where ${key} = $1 and holder = $2 and noted = $3`,
      values: [id, this.holder, noted.toString()],
    });
    return rowCount === 1;
  }

  /** Ends the lease of an item. `set` is SQL for its other columns; the parameters of `values` begin with `$3`. */
  protected async giveBack(id: string, set: string, values: readonly unknown[] = []): Promise<void> {
    const { table, key } = this.settings;
    await this.pool.query(
      `update ${table} set holder = null, leased_until = null, ${set} where ${key} = $1 and holder = $2`,
      [id, this.holder, ...values],
    );
  }

  /** Lets the workers of this process look when a pause (ms) ends that is shorter than their interval. */
  protected wakeAfter(pause: number): void {
    if (pause < LOOK_MS) setTimeout(() => this.wake(), pause).unref();
  }

  async release(): Promise<void> {
    const { table } = this.settings;
    await this.pool.query(`update ${table} set holder = null, leased_until = null where holder = $1`, [this.holder]);
  }
}
