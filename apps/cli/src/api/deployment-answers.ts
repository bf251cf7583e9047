import type { Answer } from './api';
import type { Context } from './context';
import { exitCodeOf, waitForRollout } from '../commands/deployment-wait.command';
import { showDeployment } from '../output/deployments.show';
import { MASKED } from './lookups';
import type { Deployment } from './records';

/** The reason for a change as a header, which holds plain characters only. */
export function reasonHeader(reason: string | undefined): Record<string, string> {
  return reason === undefined ? {} : { 'x-reason': encodeURIComponent(reason) };
}

/** Shows the deployment of an answer. */
export async function show(context: Context, { text, headers }: Answer): Promise<void> {
  if (context.out.json) context.out.text(text);
  else await showDeployment(context, JSON.parse(text) as Deployment, headers.etag);
}

/** Waits for a rollout, then shows its deployment. Answers the exit code. */
export async function showRolledOut(context: Context, id: string, revisionId: string): Promise<number> {
  const { status } = await waitForRollout(context, id, revisionId);
  await show(context, await context.api.send({ method: 'GET', path: `/v2/deployments/${id}`, query: MASKED }));
  return exitCodeOf(status);
}
