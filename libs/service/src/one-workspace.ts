import type { EventStore } from '@fairlead/eventing';
import type { Pool } from 'pg';
import { isOfThisMachine } from './apps/app-pages';
import { appsProblem } from './apps/apps-folder';
import { StartProblem } from './problem';
import type { RolloutSettings, Settings } from './settings/settings';

/**
 * Returns the reason that an installation has one workspace only, without its full stop; undefined when it may have
 * several: its executor then keeps them apart.
 */
export function oneWorkspaceReason({ executor, kubernetes }: RolloutSettings): string | undefined {
  if (executor === 'local')
    return 'EXECUTOR=local does not keep workspaces apart on this machine, so that there can be one only';
  if (executor !== 'kubernetes' || kubernetes.namespaces.separate) return undefined;
  return 'EXECUTOR=kubernetes with a namespace that is not of one workspace (KUBERNETES_NAMESPACE, KUBERNETES_NAMESPACES) runs for one only';
}

/**
 * Returns the settings of a standalone installation with its executor: where none is set, `local` if only this machine
 * reaches the server, there is one workspace, and no `problem` keeps programs from running here, which is told.
 */
export async function withExecutor(
  settings: Settings,
  log: Log,
  tell: (warning: string) => void,
  problem = appsProblem,
): Promise<Settings> {
  const { rollouts, serviceUrls } = settings;
  if (rollouts.isExecutorSet || !isOfThisMachine(settings) || Object.values(serviceUrls).some(Boolean)) return settings;
  if ((await workspaces(log)) > 1) return settings;
  const found = problem();
  if (found === undefined) return { ...settings, rollouts: { ...rollouts, executor: 'local' } };
  tell(`Deployments are recorded, and nothing is run: ${found}.`);
  return settings;
}

/**
 * Refuses to start an executor that does not separate workspaces when there is more than one.
 * @throws StartProblem
 */
export async function requireOneWorkspace(log: Log, { rollouts }: Pick<Settings, 'rollouts'>): Promise<void> {
  const reason = oneWorkspaceReason(rollouts);
  if (reason === undefined) return;
  const count = await workspaces(log);
  if (count > 1) throw new StartProblem(`${reason}, and there are ${count}. Change these settings.`);
}

interface Log {
  readonly pool: Pool;
  readonly store: EventStore;
}

/**
 * Returns the number of workspaces. One that was added just before a process ended counts, although no table contains it
 * yet.
 */
async function workspaces({ pool, store }: Log): Promise<number> {
  const { rows } = await pool.query<{ tenants: string | null }>(`select to_regclass('tenants') as tenants`);
  if (rows[0]!.tenants === null) return 0;
  const { rows: counted } = await pool.query<{ count: number; position: string }>(
    `select count(*)::int as count,
       coalesce((select "position" from checkpoints where name = 'tenants'), 0)::text as "position" from tenants`,
  );
  return counted[0]!.count + (await addedAfter(store, BigInt(counted[0]!.position)));
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
