import { type GateJudgedMessage, hasEnded, type RevisionStatusChangedMessage } from '@fairlead/contracts';
import { type DomainEvent, idOf, type Projection, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { GatedEvent } from './gated-revision';

type Noted = GatedEvent | DomainEvent<'GateJudged', GateJudgedMessage>;

/**
 * Notes of which revisions with gates something may be told: code hosts are called later, so that none of them holds up
 * a rollout.
 */
export const verdictReportsView: Projection = {
  name: 'integrations.verdicts',
  categories: ['deployment', 'gate'],
  types: [
    ...(['RevisionHeld', 'RevisionReleased', 'GateJudged'] as const),
    ...(['RevisionStatusChanged', 'RevisionCommitResolved', 'DeploymentDeletionRequested'] as const),
  ],
  async handle(events, tx) {
    for (const event of events as Recorded<Noted>[]) await apply(event, tx);
  },
};

async function apply({ type, data, stream, metadata }: Recorded<Noted>, tx: PoolClient): Promise<void> {
  const { tenant } = metadata;
  if (tenant === undefined) return;
  switch (type) {
    case 'RevisionHeld':
    case 'RevisionReleased':
      return note(tx, tenant, idOf(stream), data.revision_id);
    case 'GateJudged':
      return note(tx, tenant, data.deployment_id, data.revision_id);
    case 'RevisionStatusChanged':
      return isEnd(data) ? renote(tx, tenant, idOf(stream), data.revision_id) : undefined;
    case 'RevisionCommitResolved':
      return renote(tx, tenant, idOf(stream), data.revision_id);
    default:
      return renote(tx, tenant, idOf(stream), null);
  }
}

/** True for the end of a revision that could have been held. */
function isEnd({ previous_status, status }: RevisionStatusChangedMessage): boolean {
  return previous_status === 'AWAITING_DEPLOY' && hasEnded(status);
}

const AGAIN = `version = verdict_reports.version + 1, status = 'waiting', attempts = 0, waits_since = now(),
  next_attempt_at = null`;

async function note(tx: PoolClient, tenant: string, deploymentId: string, revisionId: string): Promise<void> {
  await tx.query(
    `insert into verdict_reports (tenant_id, deployment_id, revision_id) values ($1, $2, $3)
     on conflict (tenant_id, revision_id) do update set ${AGAIN}`,
    [tenant, deploymentId, revisionId],
  );
  await turn(tx, tenant, deploymentId);
}

/** Notes one revision, or all that are told of a deployment, again. */
async function renote(tx: PoolClient, tenant: string, deploymentId: string, revisionId: string | null): Promise<void> {
  const { rowCount } = await tx.query(
    `update verdict_reports set ${AGAIN}
     where tenant_id = $1 and deployment_id = $2 and ($3::uuid is null or revision_id = $3) and
       ($3::uuid is not null or standing = 'held')`,
    [tenant, deploymentId, revisionId],
  );
  if (rowCount !== 0) await turn(tx, tenant, deploymentId);
}

async function turn(tx: PoolClient, tenant: string, deploymentId: string): Promise<void> {
  await tx.query(
    `insert into verdict_turns (tenant_id, deployment_id) values ($1, $2)
     on conflict (deployment_id) do update set noted = verdict_turns.noted + 1, due_at = now()`,
    [tenant, deploymentId],
  );
}
