import { examples } from '../output/help';
import type { Command } from 'commander';
import { type Context, does } from '../api/context';
import { scoresOf } from './deployment-scores.command';
import { show, showPlan, showRolledOut, warnOf } from '../api/deployment-answers';
import { changeLines } from '../output/deployments.show';
import { showRevisionScores } from '../output/revision-scores';
import { EXIT, Failure } from '../failure';
import { findDeployment, revisionId } from '../api/lookups';
import { reaches } from '../table/group';
import { type Api, reasonHeader } from '../api/api';
import type { Change, Deployment, Page, Revision } from '../api/records';

interface RollbackOptions {
  readonly reason?: string;
  readonly dryRun?: boolean;
  readonly plan?: boolean;
  readonly keepSecrets?: boolean;
  readonly skipCommit?: boolean;
  readonly wait?: boolean;
}

export function addRollback(group: Command): void {
  const rollback = group
    .command('rollback')
    .description('run an earlier revision again, by default the one deployed before')
    .argument('<deployment>', 'id or name')
    .argument('[revision]', 'id of the revision to go back to')
    .option('--reason <text>', 'why, for the history')
    .option('--keep-secrets', 'keep the present secrets instead of those of the earlier revision')
    .option('--skip-commit', 'let pushes go on, but for the commit of the latest revision')
    .option('--dry-run', 'show what would change from what runs now, change nothing')
    .option('--plan', 'show what would change of the deployment, change nothing')
    .option('--wait', 'wait until it is deployed');
  examples(rollback, "deployments rollback support-agent --reason 'slow answers' --wait");
  reaches(
    rollback,
    'POST /v2/deployments/{deployment_id}/revisions/{revision_id}/redeploy',
    'GET /api/v1/revisions/scores',
  );
  does<RollbackOptions>(rollback, async (context, [name, revision], options) => {
    const { api, out } = context;
    const { reason, dryRun, plan, keepSecrets, skipCommit, wait } = options;
    const named = revision === undefined ? undefined : revisionId(revision);
    const deployment = await findDeployment(api, name!);
    const { id, active_revision_id, latest_revision_id } = deployment;
    const target = named ?? (await deployedBefore(api, deployment));
    if (named !== undefined) await warnOfFailed(context, id, named);
    const redeploy = `/v2/deployments/${id}/revisions/${target}/redeploy`;
    const query = { ...(keepSecrets && { keep_secrets: true }), ...(skipCommit && { skip_commit: true }) };
    const planned = () =>
      api.send({ method: 'POST', path: redeploy, body: '{}', query: { ...query, dry_run: 'plan' } });
    const present = active_revision_id ?? latest_revision_id;
    if ((plan || dryRun) && !out.json) await tellScores(context, present, target);
    if (plan) return showPlan(context, await planned());
    if (!out.json && present !== null) {
      const path = `/v2/deployments/${id}/revisions/${present}/diff/${target}`;
      const { changes: all } = await api.get<{ changes: Change[] }>(path);
      const changes = all.filter(({ member }) => !keepSecrets || !/^secret(s\.|_references)/.test(member));
      out.note(`Going back from ${present} to ${target} changes ${changes.length === 0 ? 'nothing' : 'this'}:`);
      for (const line of changeLines(context, changes)) out.note(line);
    }
    if (dryRun) {
      warnOf(context, await planned());
      return show(context, await api.send({ method: 'GET', path: `/v2/deployments/${id}` }));
    }
    const headers = reasonHeader(reason);
    const answer = await api.command({ method: 'POST', path: redeploy, body: '{}', headers, query });
    warnOf(context, answer);
    const { latest_revision_id: made } = JSON.parse(answer.text) as Deployment;
    if (wait && made !== null) return showRolledOut(context, id, made);
    await show(context, answer);
  });
}

/** Prints what is known of the present revision and the one to go back to, where anything is. */
async function tellScores(context: Context, present: string | null, target: string): Promise<void> {
  const revisions = [...new Set([present ?? target, target])].map((id) => ({ id }));
  const known = await scoresOf(context.api, revisions);
  if (![...known.values()].some(({ evaluated, live }) => evaluated.experiments + live.runs > 0)) return;
  showRevisionScores(context, revisions, known);
  context.out.line();
}

/** Warns when a revision has never run, so that there is nothing to go back to. */
async function warnOfFailed({ api, out }: Context, deployment: string, revision: string): Promise<void> {
  const { status } = await api.get<Revision>(`/v2/deployments/${deployment}/revisions/${revision}`);
  if (status !== 'DEPLOYED') out.warn(`Revision ${revision} is ${status}: it has never run. It is tried again.`);
}

/** The newest revision that was deployed before the active one. @throws Failure when there is none */
async function deployedBefore(api: Api, { id, name, active_revision_id: active }: Deployment): Promise<string> {
  let passed = active === null;
  for (let offset = 0; ;) {
    const query = { status: 'DEPLOYED', limit: 100, offset };
    const page = await api.get<Page<Revision>>(`/v2/deployments/${id}/revisions`, query);
    for (const revision of page.resources) {
      if (passed) return revision.id;
      passed = revision.id === active;
    }
    if (page.resources.length === 0) {
      throw new Failure(`No revision of ${name} was deployed before the present one.`, EXIT.failed);
    }
    offset = page.offset;
  }
}
