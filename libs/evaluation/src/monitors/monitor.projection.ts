import { type DomainEvent, idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { type Monitor, type MonitorEvent, monitorModel } from './monitor';

/** Name of the follower that keeps this view. */
export const MONITORS_VIEW = 'monitors';

/**
 * Keeps the table `monitors`, and the queue of looks: a look is due once a monitor is created or changed by a client, and
 * once its project is deleted. Events that a row already holds are skipped.
 */
export const monitorsProjection: Projection = {
  name: MONITORS_VIEW,
  categories: ['monitor', 'experiment'],
  types: [
    ...(['MonitorCreated', 'MonitorChanged', 'MonitorDeleted'] as const),
    ...(['MonitorAlerted', 'MonitorRecovered', 'MonitorStateChanged', 'SessionDeleted'] as const),
  ],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const event of events as Recorded<MonitorEvent | DomainEvent<'SessionDeleted', object>>[]) {
      if (event.type === 'SessionDeleted') await lookAtThoseOf(event, tx);
      else await apply(event, tx);
    }
  },
};

async function apply(event: Recorded<MonitorEvent>, tx: PoolClient): Promise<void> {
  const id = idOf(event.stream);
  const { tenant } = event.metadata;
  if (event.type === 'MonitorDeleted') {
    await tx.query('delete from monitors where tenant_id = $1 and id = $2', [tenant, id]);
    await tx.query('delete from monitor_looks where tenant_id = $1 and monitor_id = $2', [tenant, id]);
    return;
  }
  const { rows } = await tx.query<{ state: string; version: number }>(
    'select state, version from monitors where tenant_id = $1 and id = $2',
    [tenant, id],
  );
  const before = rows[0];
  if (before && before.version >= event.version) return;
  if (event.type === 'MonitorCreated') {
    requireOwn(event, { id: event.data.monitor_id, tenant_id: event.data.tenant_id });
  }
  const state = monitorModel.evolve(before ? (JSON.parse(before.state) as Monitor) : null, event);
  if (!state) return;
  await tx.query(
    `insert into monitors (tenant_id, id, version, project_id, state) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id, id) do update set version = excluded.version, state = excluded.state`,
    [tenant, id, event.version, state.project_id, JSON.stringify(state)],
  );
  if (event.type !== 'MonitorCreated' && event.type !== 'MonitorChanged') return;
  await tx.query(
    `insert into monitor_looks (tenant_id, monitor_id) values ($1, $2)
     on conflict (monitor_id) do update set noted = monitor_looks.noted + 1, due_at = now()
     where monitor_looks.tenant_id = $1`,
    [tenant, id],
  );
}

/** The monitors of a project that is deleted end when they are looked at. */
async function lookAtThoseOf({ stream, metadata }: Recorded, tx: PoolClient): Promise<void> {
  await tx.query(
    `update monitor_looks set noted = noted + 1, due_at = now()
     where tenant_id = $1 and monitor_id in (select id from monitors where tenant_id = $1 and project_id = $2)`,
    [metadata.tenant, idOf(stream)],
  );
}
