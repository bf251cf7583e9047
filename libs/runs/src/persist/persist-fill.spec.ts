import { createHash } from 'node:crypto';
import { PayloadStore } from '@fairlead/blobs';
import { Rebuild } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import { experimentsReadModel } from '@fairlead/experiments';
import { LoggedDatasets } from '@fairlead/datasets';
import {
  again,
  failed,
  filling,
  fillsOf,
  numbered,
  scored,
  startUploading,
  type Uploading,
} from '@fairlead/experiments/testing';
import { PayloadSweeper } from './payload-sweeper.worker';
import { PersistRuns } from './persist-runs.consumer';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());
const { post, rowsOf, fill, uploaded, session, runsOf } = fillsOf(() => service);

const model = () => experimentsReadModel(service.store, { tables: [], handlers: new Map() });

/** The transaction of a follower; the rows are stored in others. */
const tx = { query: () => Promise.resolve() } as unknown as PoolClient;

describe('persisting a fill again', () => {
  beforeAll(async () => {
    const [broken, unrun] = [failed(0, { evaluation_scores: [scored('k', 0, 1)] }), numbered(2)];
    const one = await uploaded([broken, numbered(1), broken]);
    await uploaded([unrun], { dataset_name: one.body.dataset_name });
    for (const rows of [
      [again(broken, { error: 'x' }), again(unrun), again(broken, { error: 'y' })],
      [again(broken)],
    ]) {
      const run = (await runsOf(one.id)).findLast(({ status }) => status === 'error')!;
      await post('/api/v1/feedback', { run_id: run.id, key: 'late', score: 0 });
      const { status, text } = await fill(one.id, filling(one, rows));
      if (status !== 200) throw new Error(text);
      await service.settled();
    }
  });

  async function replay(): Promise<void> {
    const events = [];
    for (const { id } of await rowsOf('select id from sessions order by created_at'))
      events.push(...(await service.store.read(`experiment-${String(id)}`)));
    events.sort((one, other) => Number(one.position - other.position));
    await service.app.get(PersistRuns, { strict: false }).handle(events, tx);
  }
  const TABLES = ['runs', 'feedback', 'replaced_runs', 'replaced_feedback', 'examples'];
  const stored = async () =>
    Object.fromEntries(
      await Promise.all(
        TABLES.map(async (table) => [
          table,
          (await rowsOf(`select to_jsonb(t)::text as row from ${table} t order by 1`)).map((one) => one.row),
        ]),
      ),
    );

  it('from the beginning of the log changes nothing', async () => {
    const [before, head] = [await stored(), await service.store.head()];
    expect(before.replaced_runs!.length).toBeGreaterThanOrEqual(3);
    await replay();
    expect(await stored()).toEqual(before);
    expect(await service.store.head()).toBe(head);
  });

  it('into tables that are made again from the log gives the same rows', async () => {
    const rebuild = new Rebuild(service.store, service.pool, service.url, model());
    try {
      await rebuild.fill();
      await rebuild.reach(await service.store.head());
      expect(await rebuild.compare()).toMatchObject({ differences: [] });
      expect(rebuild.leftOut()).toEqual([]);
    } finally {
      await rebuild.close();
    }
  });

  it('leaves nothing out when the upload that made the example of a row is gone', async () => {
    const [one, unrun] = [await uploaded([numbered(0)]), numbered(1)];
    const other = await uploaded([unrun], { dataset_name: one.body.dataset_name });
    await fill(one.id, filling(one, [again(unrun)]));
    await service.settled();
    await service.send('DELETE', `/api/v1/sessions/${other.id}`, []);
    await service.settled();
    const rebuild = new Rebuild(service.store, service.pool, service.url, model());
    try {
      await rebuild.fill();
      await rebuild.reach(await service.store.head());
      const { differences } = await rebuild.compare();
      // The example begins with the fill, now that nothing else made it; the runs are those that there are.
      expect(differences.filter(({ table, kind }) => table === 'runs' && kind !== 'different')).toEqual([]);
      expect(rebuild.leftOut()).toEqual([]);
    } finally {
      await rebuild.close();
    }
    await service.send('DELETE', `/api/v1/datasets/${one.dataset}`, []);
  });

  it('after a crash between storing and recording, records what was stored', async () => {
    const broken = failed(0, { evaluation_scores: [scored('k', 0, 1)] });
    const one = await uploaded([broken]);
    const append = service.store.append.bind(service.store);
    let failures = 0;
    const spy = jest.spyOn(service.store, 'append').mockImplementation((stream, version, events, metadata) => {
      if (events[0]?.type !== 'RunsPersisted' || failures++ > 0) return append(stream, version, events, metadata);
      return Promise.reject(new Error('The process ends here.'));
    });
    await fill(one.id, filling(one, [again(broken, { evaluation_scores: [scored('k', 1, 1)] })]));
    await service.settled();
    spy.mockRestore();
    expect(failures).toBeGreaterThan(1);
    expect(await runsOf(one.id)).toHaveLength(1);
    expect(await session(one.id)).toMatchObject({
      run_count: 1,
      error_rate: 0,
      feedback_stats: { k: { n: 1, avg: 1 } },
    });
  });

  it('that a process without fills has passed by stores it with what comes next', async () => {
    const broken = failed(0);
    const one = await uploaded([broken]);
    type Persists = { persist(): Promise<void> };
    const follower = service.app.get<PersistRuns, Persists>(PersistRuns, { strict: false });
    const spy = jest.spyOn(follower, 'persist').mockResolvedValue();
    await fill(one.id, filling(one, [again(broken)]));
    await service.settled();
    spy.mockRestore();
    expect(await session(one.id)).toMatchObject({ run_count: null });
    const [event] = await service.store.read(`experiment-${one.id}`);
    const next = { ...event!, type: 'SessionPatched', position: (await service.store.head()) + 1n };
    await new PersistRuns(
      service.store,
      service.pool,
      new PayloadStore(service.pool),
      new LoggedDatasets(service.store),
    ).handle([next], tx);
    await service.settled();
    expect(await session(one.id)).toMatchObject({ run_count: 1, error_rate: 0 });
  });

  it('leaves statistics unknown until its rows are stored', async () => {
    const broken = failed(0);
    const one = await uploaded([broken]);
    const append = service.store.append.bind(service.store);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const spy = jest.spyOn(service.store, 'append').mockImplementation(async (stream, version, events, metadata) => {
      if (events[0]?.type === 'RunsPersisted') await held;
      return append(stream, version, events, metadata);
    });
    await fill(one.id, filling(one, [again(broken)]));
    expect(await session(one.id)).toMatchObject({ run_count: null, error_rate: null });
    release();
    await service.settled();
    spy.mockRestore();
    expect(await session(one.id)).toMatchObject({ run_count: 1, error_rate: 0 });
  });
});

describe('deleting a filled experiment', () => {
  it('removes its replaced runs and the bodies of its fills', async () => {
    const broken = failed(0, { evaluation_scores: [scored('k', 0, 1)] });
    const one = await uploaded([broken]);
    const body = JSON.stringify(filling(one, [again(broken)]));
    const sha256 = createHash('sha256').update(body).digest('hex');
    await fill(one.id, body);
    await service.settled();
    const sweeper = service.app.get(PayloadSweeper, { strict: false });
    const kept = async () => (await rowsOf('select 1 from payloads where sha256 = $1', sha256)).length;
    await sweeper.sweep(new Date(Date.now() + 60_000));
    expect(await kept()).toBe(1);
    await service.send('DELETE', `/api/v1/sessions/${one.id}`, []);
    await service.settled();
    for (const table of ['runs', 'feedback', 'replaced_runs', 'replaced_feedback', 'persisted_experiments'])
      expect(await rowsOf(`select 1 from ${table} where session_id = $1`, one.id)).toEqual([]);
    await sweeper.sweep(new Date(Date.now() + 60_000));
    expect(await kept()).toBe(0);
  });
});
