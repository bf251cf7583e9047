import { idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { type Integration, type IntegrationEvent, integrationModel } from './integration';

/** Name of the follower that keeps this view. */
export const INTEGRATIONS_VIEW = 'integrations.view';

/** Keeps the table `integrations`; events that a row already holds are skipped. */
export const integrationsProjection: Projection = {
  name: INTEGRATIONS_VIEW,
  categories: ['integration'],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const event of events as Recorded<IntegrationEvent>[]) await apply(event, tx);
  },
};

async function apply(event: Recorded<IntegrationEvent>, tx: PoolClient): Promise<void> {
  const id = idOf(event.stream);
  if (event.type === 'IntegrationRemoved') {
    await tx.query('delete from integrations where id = $1', [id]);
    return;
  }
  const { rows } = await tx.query<{ state: string; version: number }>(
    'select state, version from integrations where id = $1',
    [id],
  );
  const before = rows[0];
  if (before && before.version >= event.version) return;
  if (event.type === 'IntegrationAdded') {
    requireOwn(event, { id: event.data.integration_id, tenant_id: event.data.tenant_id });
  }
  const state = integrationModel.evolve(before ? (JSON.parse(before.state) as Integration) : null, event);
  if (!state) return;
  await tx.query(
    `insert into integrations (id, tenant_id, version, created_at, state) values ($1, $2, $3, $4, $5)
     on conflict (id) do update set version = excluded.version, state = excluded.state`,
    [id, state.tenant_id, event.version, state.created_at, JSON.stringify(state)],
  );
}
