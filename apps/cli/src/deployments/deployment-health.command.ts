import { examples } from '../output/help';
import type { Command } from 'commander';
import { type Context, does } from '../api/context';
import { deploymentId } from '../api/lookups';
import type { Health } from '../api/records';
import { bytes, clean, when } from '../output/text';
import { reaches } from '../table/group';

export function addHealth(group: Command): void {
  const health = group
    .command('health')
    .description('show what runs of a deployment, and why a revision has failed or waits')
    .argument('<deployment>', 'id or name');
  examples(health, 'deployments health support-agent');
  reaches(health, 'GET /v2/deployments/{deployment_id}/health');
  does(health, (context, [name]) => showHealthOf(context, name!));
}

/** Prints the health of the deployment of this id or name. */
export async function showHealthOf(context: Context, name: string): Promise<void> {
  const text = await context.api.read(`/v2/deployments/${await deploymentId(context.api, name)}/health`);
  if (context.out.json) context.out.text(text);
  else showHealth(context, JSON.parse(text) as Health);
}

function showHealth({ out }: Context, { state, detail, standing, executor, processes, ...health }: Health): void {
  const { active_revision_id: active, latest_revision: latest } = health;
  out.facts([
    ['standing', out.paint('bold', clean(standing.text))],
    ['state', state],
    ['', clean(detail)],
    ['deployed by', executor ?? '-'],
    ['active revision', active ?? '-'],
    ['latest revision', latest ? `${latest.id}, ${latest.status}` : '-'],
    ['reason', latest?.reason ? clean(latest.reason) : undefined],
  ]);
  if (processes.length === 0) return;
  out.line();
  out.table(
    [
      { title: 'PROCESS', whole: true },
      { title: 'STATE' },
      { title: 'MEMORY', right: true },
      { title: 'CORES', right: true },
      { title: 'RESTARTS', right: true },
      { title: 'STARTED', spare: true },
      { title: 'REASON OR LAST ERROR', flexible: true },
    ],
    processes.map(({ name, state, memory_bytes, cpu_cores, restarts, started_at, reason, last_error }) => [
      out.cell('bold', clean(name)),
      state,
      memory_bytes === null ? '-' : bytes(memory_bytes),
      cpu_cores === null ? '-' : cpu_cores.toFixed(2),
      String(restarts),
      when(started_at),
      clean(reason ?? last_error ?? ''),
    ]),
  );
}
