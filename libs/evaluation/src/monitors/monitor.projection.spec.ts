import { randomUUID } from 'node:crypto';
import { type DomainEvent, eventingMigrations } from '@fairlead/eventing';
import { recorded } from '@fairlead/eventing/testing';
import { experimentsMigrations } from '@fairlead/experiments';
import { transaction } from '@fairlead/postgres';
import { testDatabase } from '@fairlead/postgres/testing';
import { monitorsProjection } from './monitor.projection';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  database = await testDatabase([...eventingMigrations, ...experimentsMigrations]);
});
afterAll(() => database?.drop());

const tenant = randomUUID();
const project_id = randomUUID();
const subject = { project_id, revision_id: null, measure: 'cost', feedback_key: null, alerts_when: 'above' };
const limits = { threshold: 5, recovery_threshold: null, window_minutes: 60, min_runs: 1 };

/** Events of a new monitor, or of the stream that is named, applied as a batch. */
async function project(stream: string, ...events: DomainEvent[]): Promise<void> {
  const all = recorded(events, stream).map((event) => ({ ...event, metadata: { tenant } }));
  await transaction(database.pool, (tx) => monitorsProjection.handle(all, tx));
}
function events(id: string) {
  const facts = { name: 'spend', ...subject, ...limits };
  const created = { monitor_id: id, tenant_id: tenant, ...facts, looks: 1, enabled: true };
  const alerted = {
    ...facts,
    state: 'alerting',
    previous_state: 'not_enough_evidence',
    value: 9,
    runs: 3,
    reason: null,
  };
  return {
    created: { type: 'MonitorCreated', data: created },
    alerted: { type: 'MonitorAlerted', data: alerted },
    changed: { type: 'MonitorChanged', data: { threshold: 10 } },
    deleted: { type: 'MonitorDeleted', data: { name: 'spend', project_id, reason: 'requested' } },
  } satisfies Record<string, DomainEvent>;
}
async function rowOf(id: string) {
  const { rows } = await database.pool.query<{ version: number; state: string; noted: string; is_due: boolean }>(
    `select m.version, m.state, l.noted, l.due_at <= now() as is_due from monitors m
     join monitor_looks l on l.tenant_id = m.tenant_id and l.monitor_id = m.id where m.tenant_id = $1 and m.id = $2`,
    [tenant, id],
  );
  return rows[0] && { ...rows[0], state: JSON.parse(rows[0].state) as object };
}

it('a monitor has a row with its state, and a look that is due', async () => {
  const id = randomUUID();
  const { created, alerted, changed, deleted } = events(id);
  await project(`monitor-${id}`, created);
  expect(await rowOf(id)).toMatchObject({ version: 1, state: { name: 'spend', tenant_id: tenant }, is_due: true });
  await database.pool.query("update monitor_looks set due_at = now() + interval '1 hour'");
  await project(`monitor-${id}`, created, alerted);
  expect(await rowOf(id)).toMatchObject({ version: 2, state: { state: 'alerting' }, noted: '1', is_due: false });
  await project(`monitor-${id}`, created, alerted, changed);
  const after = { version: 3, state: { state: 'alerting', threshold: 10, edition: 2 }, noted: '2', is_due: true };
  expect(await rowOf(id)).toMatchObject(after);
  // What a row contains already changes nothing.
  await project(`monitor-${id}`, created, alerted, changed);
  expect(await rowOf(id)).toMatchObject(after);
  await project(`monitor-${id}`, created, alerted, changed, deleted);
  expect(await rowOf(id)).toBeUndefined();
  expect((await database.pool.query('select from monitor_looks where monitor_id = $1', [id])).rowCount).toBe(0);
});

it('monitors of a project that is deleted are looked at, paused or not, and no others', async () => {
  const [one, other] = [randomUUID(), randomUUID()];
  for (const id of [one, other]) await project(`monitor-${id}`, events(id).created);
  await database.pool.query('update monitor_looks set due_at = null');
  await database.pool.query('update monitors set project_id = $2 where id = $1', [other, randomUUID()]);
  await project(`experiment-${project_id}`, { type: 'SessionDeleted', data: {} });
  expect([(await rowOf(one))?.is_due, (await rowOf(other))?.is_due]).toEqual([true, null]);
});
