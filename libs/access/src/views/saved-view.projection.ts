import { idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { type SavedView, type SavedViewEvent, savedViewModel } from './saved-view';

/** Name of the follower that keeps this view. */
export const SAVED_VIEWS_VIEW = 'saved_views';

/** Keeps the table `saved_views`; events that a row already holds are skipped. */
export const savedViewsProjection: Projection = {
  name: SAVED_VIEWS_VIEW,
  categories: ['savedView'],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const event of events as Recorded<SavedViewEvent>[]) await apply(event, tx);
  },
};

async function apply(event: Recorded<SavedViewEvent>, tx: PoolClient): Promise<void> {
  const id = idOf(event.stream);
  const { tenant } = event.metadata;
  if (event.type === 'SavedViewDeleted') {
    await tx.query('delete from saved_views where tenant_id = $1 and id = $2', [tenant, id]);
    return;
  }
  const { rows } = await tx.query<{ state: string; version: number }>(
    'select state, version from saved_views where tenant_id = $1 and id = $2',
    [tenant, id],
  );
  const before = rows[0];
  if (before && before.version >= event.version) return;
  if (event.type === 'SavedViewCreated') {
    requireOwn(event, { id: event.data.view_id, tenant_id: event.data.tenant_id });
  }
  const state = savedViewModel.evolve(before ? (JSON.parse(before.state) as SavedView) : null, event);
  if (!state) return;
  await tx.query(
    `insert into saved_views (tenant_id, id, version, page, state) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id, id) do update set version = excluded.version, state = excluded.state`,
    [tenant, id, event.version, state.page, JSON.stringify(state)],
  );
}
