import type { Answer } from './api';
import type { Context } from './context';
import { exitCodeOf, waitForRollout } from '../deployments/deployment-wait.command';
import { changeLines, showDeployment } from '../output/deployments.show';
import type { Change, Deployment } from './records';

/** Shows the deployment of an answer. */
export async function show(context: Context, { text, headers }: Answer): Promise<void> {
  if (context.out.json) context.out.text(text);
  else await showDeployment(context, JSON.parse(text) as Deployment, headers.etag);
}

/** Plan of a change, as the API answers it. */
interface Plan {
  readonly changes: readonly Change[];
  readonly creates_revision: boolean;
  readonly pauses_push: boolean;
  readonly skips_commit?: string;
}

/** Shows what a change would do, which was only planned. */
export function showPlan(context: Context, answer: Answer): void {
  const { out } = context;
  const { text } = answer;
  warnOf(context, answer);
  if (out.json) return out.text(text);
  const { changes, creates_revision, pauses_push, skips_commit } = JSON.parse(text) as Plan;
  for (const line of changeLines(context, changes)) out.line(line.slice(2));
  if (creates_revision) out.note('It makes a revision.');
  if (pauses_push) out.note('Pushes make no revisions from then on.');
  if (skips_commit) out.note(`Pushes of commit ${skips_commit} make no revisions from then on.`);
  if (changes.length === 0 && !creates_revision) out.note('It changes nothing.');
}

/** Shows the warnings in the header of an answer. */
export function warnOf({ out }: Context, { headers }: Answer): void {
  for (const [value] of (headers.warning ?? '').matchAll(/"(?:[^"\\]|\\.)*"/g)) out.warn(JSON.parse(value) as string);
}

/** Waits for a rollout, then shows its deployment. Answers the exit code. */
export async function showRolledOut(context: Context, id: string, revisionId: string): Promise<number> {
  const { status } = await waitForRollout(context, id, revisionId);
  await show(context, await context.api.send({ method: 'GET', path: `/v2/deployments/${id}` }));
  return exitCodeOf(status);
}
