import { startUploading, type Uploading } from '@fairlead/experiments/testing';
import { until } from '@fairlead/postgres/testing';
import * as fc from 'fast-check';
import { v4 as uuid } from 'uuid';
import { LIVE_RUNS } from '../common/experiments-view';
import type { RunChange } from '../run/run-change';
import { batchContent, RunBatches, runsOf } from './run-batches.store';

const HOUR = 60 * 60 * 1000;

it('The content of a batch gives back the runs, whatever their texts are', () => {
  const text = fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined });
  const run = fc.record({ id: fc.uuid(), name: text, inputs: text, error: text });
  fc.assert(
    fc.property(fc.uuid(), fc.array(run), (session, runs) => {
      const sent = runs.map((one) => JSON.parse(JSON.stringify(one)) as RunChange);
      expect([...runsOf(batchContent(session, runs))]).toEqual(sent);
    }),
  );
});

describe('A batch of runs', () => {
  let service: Uploading;
  let batches: RunBatches;
  beforeAll(async () => {
    service = await startUploading();
    batches = service.app.get(RunBatches);
  });
  afterAll(() => service.stop());

  const rows = async () =>
    (await service.pool.query<{ sha256: string }>('select sha256 from run_batches')).rows.map(({ sha256 }) => sha256);
  const age = (sha256: string) =>
    service.pool.query(`update run_batches set kept_at = now() - interval '2 hours' where sha256 = $1`, [sha256]);

  it('is kept once, and read as it was', async () => {
    const [tenant, session] = [service.tenants.a, uuid()];
    const content = batchContent(
      session,
      Array.from({ length: 500 }, (_, n) => ({ id: uuid(), inputs: `${n}`.repeat(2000) })),
    );
    const { sha256 } = await batches.keep(tenant, session, content);
    expect(await batches.keep(tenant, session, content)).toEqual({ sha256, bytes: content.length });
    expect(await rows()).toEqual([sha256]);
    expect((await batches.read(tenant, session, [sha256, 'another'])).get(sha256)!.equals(content)).toBe(true);
    expect((await batches.read(uuid(), session, [sha256])).size).toBe(0);
    await batches.forget(tenant, session);
    expect(await rows()).toEqual([]);
  });

  it('is deleted after an hour when no event names it, unless its session is set aside', async () => {
    const kept = async (session = uuid()) =>
      (await batches.keep(service.tenants.a, session, batchContent(session, [{ id: uuid() }]))).sha256;
    const [waiting, fresh, lost, again] = [uuid(), await kept(), await kept(), uuid()];
    const aside = await kept(waiting);
    await service.pool.query(
      `insert into parked_subjects (consumer, subject, event_type, version, last_version, attempts, reason)
       values ($1, $2, 'RunsReceived', 1, 1, 1, 'no')`,
      [LIVE_RUNS, `experiment-${waiting}`],
    );
    const content = batchContent(again, [{ id: uuid() }]);
    const { sha256: repeated } = await batches.keep(service.tenants.a, again, content);
    for (const one of [aside, lost, repeated]) await age(one);
    await batches.keep(service.tenants.a, again, content);
    await batches.sweep(LIVE_RUNS, Date.now());
    expect((await rows()).sort()).toEqual([aside, fresh, repeated].sort());
    await service.pool.query('delete from parked_subjects');
    await batches.sweep(LIVE_RUNS, Date.now() + 2 * HOUR);
    expect(await rows()).toEqual([]);
  });

  it('stays while its session is there, and goes with it', async () => {
    const run = { id: uuid(), name: 'r', run_type: 'llm', session_name: 'kept', inputs: {} };
    expect((await service.send('POST', '/api/v1/runs', [JSON.stringify(run)])).status).toBe(202);
    await service.settled();
    const [sha256] = await rows();
    await age(sha256!);
    await batches.sweep(LIVE_RUNS, Date.now());
    expect(await rows()).toEqual([sha256]);
    const [session] = (await service.get('/api/v1/sessions')).json as { id: string }[];
    expect((await service.send('DELETE', `/api/v1/sessions/${session!.id}`, [])).status).toBe(200);
    await until(rows, (left) => left.length === 0);
  });
});
