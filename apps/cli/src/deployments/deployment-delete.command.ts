import { examples } from '../output/help';
import type { Command } from 'commander';
import type { Api } from '../api/api';
import { type Context, does } from '../api/context';
import { showPlan } from '../api/deployment-answers';
import { deploymentId } from '../api/lookups';
import { EXIT, Failure } from '../failure';
import { confirm } from '../output/confirm';
import { reaches } from '../table/group';
import { PATIENCE_MS } from './deployment-wait.command';

const ONE = '/v2/deployments/{deployment_id}';
/** Milliseconds between two looks at a deployment that is being deleted: they double up to the longest one. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [100, 2000];

interface DeleteOptions {
  readonly yes?: boolean;
  readonly deleteTracingProject?: boolean;
  readonly plan?: boolean;
  readonly wait: boolean;
}

/** The service answers once it accepts a deletion: the deployment is gone when its executor has removed what runs. */
export function addDelete(group: Command): void {
  const remove = group
    .command('delete')
    .description('delete a deployment and wait until it is gone (exit code 0) or --timeout is over (3; 600 seconds)')
    .argument('<deployment>', 'id or name')
    .option('--yes', 'do not ask')
    .option('--delete-tracing-project', 'and the tracing project of its name')
    .option('--plan', 'show what it would change, delete nothing')
    .option('--no-wait', 'end as soon as the service has accepted the deletion');
  examples(remove, 'deployments delete support-agent', 'deployments delete support-agent --plan');
  reaches(remove, `DELETE ${ONE}`, `GET ${ONE}`);
  does<DeleteOptions>(remove, async (context, [name], options) => {
    const { api, out } = context;
    const path = `/v2/deployments/${await deploymentId(api, name!)}`;
    if (options.plan) return showPlan(context, await api.send({ method: 'DELETE', path, query: { dry_run: 'plan' } }));
    await confirm(context, `Deleting deployment ${name} ends what it runs.`, options.yes);
    const query = { delete_tracing_project: options.deleteTracingProject };
    await api.command({ method: 'DELETE', path, query });
    if (options.wait) await out.waiting(`Deleting ${name}`, () => waitUntilGone(context, path, name!));
    if (!out.json) out.line(options.wait ? `Deleted ${name}.` : `${name} is being deleted.`);
  });
}

/** @throws Failure when the deployment is not known to be gone after the time that the user allows */
async function waitUntilGone({ api, timeoutMs }: Context, path: string, name: string): Promise<void> {
  const patience = timeoutMs ?? PATIENCE_MS;
  const deadline = Date.now() + patience;
  for (let pause = FIRST_PAUSE_MS; !(await isGone(api, path)); pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const left = deadline - Date.now();
    if (left <= 0) throw new Failure(`${name} is still being deleted after ${patience / 1000} s.`, EXIT.timeout);
    await api.pause(Math.min(pause, left));
  }
}

/** True when the deployment does not exist any more; false as well when the service is too slow to answer. */
async function isGone(api: Api, path: string): Promise<boolean> {
  try {
    await api.read(path);
    return false;
  } catch (error) {
    const code = error instanceof Failure ? error.exitCode : undefined;
    if (code !== EXIT.notFound && code !== EXIT.timeout) throw error;
    return code === EXIT.notFound;
  }
}
