import { hasEnded, type RevisionHeldMessage, type RevisionStatusChangedMessage } from '@fairlead/contracts';
import { type DomainEvent, idOf, type Projection, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';

type HoldEvent =
  | DomainEvent<'RevisionHeld', RevisionHeldMessage>
  | DomainEvent<'RevisionReleased', { readonly revision_id: string }>
  | DomainEvent<'RevisionStatusChanged', RevisionStatusChangedMessage>
  | DomainEvent<'DeploymentDeletionRequested', unknown>;

/** The revisions that gates hold, and the queue of looks at their evidence, which are noted at once. */
export const heldRevisionsView: Projection = {
  name: 'held-revisions-view',
  categories: ['deployment'],
  types: ['RevisionHeld', 'RevisionReleased', 'RevisionStatusChanged', 'DeploymentDeletionRequested'],
  async handle(events, tx) {
    for (const event of events as Recorded<HoldEvent>[]) await apply(event, tx);
  },
};

async function apply({ type, data, stream, metadata: { tenant } }: Recorded<HoldEvent>, tx: PoolClient): Promise<void> {
  const deployment_id = idOf(stream);
  switch (type) {
    case 'RevisionHeld': {
      const { revision_id } = data;
      await tx.query(
        `insert into held_revisions (tenant_id, id, deployment_id, held) values ($1, $2, $3, $4)
         on conflict (tenant_id, id) do nothing`,
        [tenant, revision_id, deployment_id, JSON.stringify(data)],
      );
      await tx.query(
        'insert into gate_looks (tenant_id, revision_id) values ($1, $2) on conflict (revision_id) do nothing',
        [tenant, revision_id],
      );
      return;
    }
    case 'RevisionReleased':
      return remove(tx, tenant, [data.revision_id]);
    case 'RevisionStatusChanged':
      if (data.previous_status !== 'AWAITING_DEPLOY' || !hasEnded(data.status)) return;
      return remove(tx, tenant, [data.revision_id]);
    default: {
      const text = 'select id from held_revisions where tenant_id = $1 and deployment_id = $2';
      const { rows } = await tx.query<{ id: string }>(text, [tenant, deployment_id]);
      return remove(
        tx,
        tenant,
        rows.map(({ id }) => id),
      );
    }
  }
}

async function remove(tx: PoolClient, tenant: string | undefined, revisions: readonly string[]): Promise<void> {
  if (revisions.length === 0) return;
  const ids = [tenant, revisions];
  await tx.query('delete from held_revisions where tenant_id = $1 and id = any($2::uuid[])', ids);
  await tx.query('delete from gate_looks where tenant_id = $1 and revision_id = any($2::uuid[])', ids);
}
