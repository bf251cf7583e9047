import { setTimeout as pause } from 'node:timers/promises';
import { examples } from '../output/help';
import type { Command } from 'commander';
import { type Context, does } from '../api/context';
import { EXIT, Failure, Usage } from '../failure';
import { checkHeld } from './deployment-gates.commands';
import { findDeployment, revisionId } from '../api/lookups';
import type { Deployment, Health, Revision } from '../api/records';
import { reaches } from '../table/group';
import { RECORDED } from '../output/deployments.show';

/** Milliseconds that a wait lasts when the user does not say. */
export const PATIENCE_MS = 600_000;
/** Seconds that one request is held back. */
const HOLD_S = 25;
/** Milliseconds by which an answer has to be early to say something. */
const EARLY_MS = 500;
/** Milliseconds between two looks for a verdict, before which no request is held back. */
const VERDICT_MS = 1000;
const ENDED = ['DEPLOYED', 'CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED'];

export function hasEnded(status: string): boolean {
  return ENDED.includes(status);
}

export function addWait(group: Command): void {
  const wait = group
    .command('wait')
    .description(
      'wait until a revision is deployed (exit code 0), has failed (1), is held by its gates (7), or --timeout is over (3; 600 seconds)',
    )
    .argument('<deployment>', 'id or name')
    .option('--revision <id>', 'which one (default: the latest)')
    .option('--verdict', 'wait on while gates hold it, until there is a verdict');
  examples(wait, 'deployments wait support-agent --timeout 120');
  reaches(wait, 'GET /v2/deployments/{deployment_id}/revisions/{revision_id}/wait');
  does<{ revision?: string; verdict?: true }>(wait, async (context, [name], options) => {
    const named = options.revision === undefined ? undefined : revisionId(options.revision);
    const { id, latest_revision_id } = await findDeployment(context.api, name!);
    const wanted = named ?? latest_revision_id;
    if (wanted === null) throw new Usage(`${name} has no revision to wait for.`);
    const revision = await waitForRollout(context, id, wanted, options);
    if (context.out.json) context.out.text(JSON.stringify(revision));
    else await noteEnd(context, id, revision);
    return exitCodeOf(revision.status);
  });
}

/** Says why the revision has failed, and when it was deployed by an executor that runs nothing. */
async function noteEnd({ api, out }: Context, deploymentId: string, { id, status }: Revision): Promise<void> {
  const path = `/v2/deployments/${deploymentId}`;
  if (status !== 'DEPLOYED') {
    const { latest_revision: latest } = await api.get<Health>(`${path}/health`);
    if (latest?.id === id && latest.reason !== null) out.error(latest.reason);
    return;
  }
  const { active_revision_id, executor } = await api.get<Deployment>(path);
  if (active_revision_id === id && executor === 'record') out.note(`Deployed by ${RECORDED}.`);
}

/**
 * Waits until a revision has ended and tells how it goes.
 * @throws Failure when that takes too long, and when gates hold it unless their `verdict` is waited for
 */
export async function waitForRollout(
  context: Context,
  deploymentId: string,
  id: string,
  { verdict = false }: { readonly verdict?: boolean } = {},
): Promise<Revision> {
  return context.out.waiting(`Revision ${id}`, (tell) => rolledOut(context, deploymentId, id, verdict, tell));
}

async function rolledOut(
  context: Context,
  deploymentId: string,
  id: string,
  verdict: boolean,
  tell: (label: string) => void,
): Promise<Revision> {
  const { api, out } = context;
  const path = `/v2/deployments/${deploymentId}/revisions/${id}`;
  const patience = context.timeoutMs ?? PATIENCE_MS;
  const deadline = Date.now() + patience;
  let told: string | undefined;
  const late = () => new Failure(`Revision ${id} is ${told} after ${patience / 1000} s.`, EXIT.timeout);
  for (let hold = 0; ; hold = Math.min(HOLD_S, Math.ceil((deadline - Date.now()) / 1000))) {
    const asked = Date.now();
    const call = { method: 'GET', path: `${path}/wait`, query: { timeout: hold }, patience: hold * 1000 };
    const { text } = await api.send(call).catch((error: unknown) => {
      // A service that is slow to say that nothing has changed.
      const isLate = error instanceof Failure && error.exitCode === EXIT.timeout && Date.now() >= deadline;
      throw told !== undefined && isLate ? late() : error;
    });
    const revision = JSON.parse(text) as Revision;
    const { status } = revision;
    if (status !== told && !out.json) out.note(`Revision ${id}: ${status}`);
    tell(`Revision ${id}: ${status}`);
    told = status;
    if (hasEnded(status)) return revision;
    // A request that was to be held back and was not says that gates hold the revision.
    const isEarly = hold > 0 && Date.now() - asked < hold * 1000 - EARLY_MS;
    const isOver = Date.now() >= deadline;
    if (isEarly && status === 'AWAITING_DEPLOY' && (!verdict || isOver)) await checkHeld(api, path);
    if (isOver) throw late();
    if (isEarly) await pause(verdict ? VERDICT_MS : EARLY_MS);
  }
}

export function exitCodeOf(status: string): number {
  return status === 'DEPLOYED' ? EXIT.ok : EXIT.failed;
}
