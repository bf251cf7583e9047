import type { EventStore } from '@fairlead/eventing';
import type { Pool } from 'pg';
import { StartProblem } from './problem';
import type { Settings } from './settings';

/** The reason that an installation with this executor has one workspace only. */
export const ONE_WORKSPACE = 'EXECUTOR=kubernetes does not keep workspaces apart in the cluster: it runs for one only';

/**
 * Refuses to start an executor that does not separate workspaces when there is more than one. A workspace that was
 * added just before a process ended counts, although no table contains it yet.
 * @throws StartProblem
 */
export async function requireOneWorkspace(
  pool: Pool,
  store: EventStore,
  { rollouts }: Pick<Settings, 'rollouts'>,
): Promise<void> {
  if (rollouts.executor !== 'kubernetes') return;
  const { rows } = await pool.query<{ tenants: string | null }>(`select to_regclass('tenants') as tenants`);
  if (rows[0]!.tenants === null) return;
  const { rows: counted } = await pool.query<{ count: number; position: string }>(
    `select count(*)::int as count,
       coalesce((select "position" from checkpoints where name = 'tenants'), 0)::text as "position" from tenants`,
  );
  const count = counted[0]!.count + (await addedAfter(store, BigInt(counted[0]!.position)));
  if (count > 1) throw new StartProblem(`${ONE_WORKSPACE}, and there are ${count}. Set EXECUTOR to another executor.`);
}

/** Returns how many workspaces were added after a position of the log. */
async function addedAfter(store: EventStore, position: bigint): Promise<number> {
  const head = await store.head();
  if (position >= head) return 0;
  const read = new AbortController();
  let added = 0;
  for await (const batch of store.subscribe(position, read.signal)) {
    added += batch.events.filter(({ type }) => type === 'TenantCreated').length;
    if (batch.position >= head) break;
  }
  read.abort();
  return added;
}
