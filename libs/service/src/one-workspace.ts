import type { Pool } from 'pg';
import { StartProblem } from './problem';
import type { Settings } from './settings';

/** Why an installation that runs deployments in Kubernetes has one workspace. */
export const ONE_WORKSPACE = 'EXECUTOR=kubernetes does not keep workspaces apart in the cluster: it runs for one only';

/**
 * Refuses to start an executor that lets one workspace reach what another one runs, where there is more than one.
 * @throws StartProblem
 */
export async function requireOneWorkspace(pool: Pool, { rollouts }: Pick<Settings, 'rollouts'>): Promise<void> {
  if (rollouts.executor !== 'kubernetes') return;
  const { rows } = await pool.query<{ tenants: string | null }>(`select to_regclass('tenants') as tenants`);
  if (rows[0]!.tenants === null) return;
  const { rows: counted } = await pool.query<{ count: number }>('select count(*)::int as count from tenants');
  const { count } = counted[0]!;
  if (count > 1) throw new StartProblem(`${ONE_WORKSPACE}, and there are ${count}. Set EXECUTOR to another executor.`);
}
