import { type Recorded, StoredBytes } from '@fairlead/eventing';
import { transaction } from '@fairlead/postgres';
import { until } from '@fairlead/postgres/testing';
import { v4 as uuid } from 'uuid';
import { experiment, startUploading, type Uploading } from '@fairlead/experiments/testing';
import { LiveRuns } from '../batch/live-runs.consumer';
import { DELETED_UPLOADS } from './payload-sweeper.worker';

/** Bytes that the workspaces of this test may store. */
const LIMIT = 20_000;

describe('the bytes that a workspace may store', () => {
  let service: Uploading;
  let stored: StoredBytes;
  beforeAll(async () => {
    service = await startUploading({}, LIMIT);
    stored = service.app.get(StoredBytes);
  });
  afterAll(() => service.stop());

  const used = () => stored.used(service.tenants.a);
  const upload = (bytes: number) => {
    const body = JSON.stringify(experiment({ experiment_metadata: { text: '' } }));
    return service.upload(body.replace('"text":""', `"text":"${'x'.repeat(bytes - body.length)}"`));
  };
  const sendRun = (project: string, bytes: number, key = 'a') => {
    const run = { id: uuid(), name: 'r', run_type: 'llm', session_name: project, inputs: { text: 'x'.repeat(bytes) } };
    return service.send('POST', '/api/v1/runs', [JSON.stringify(run)], { 'x-api-key': key });
  };
  const sessions = async () => (await service.get('/api/v1/sessions')).json as { id: string; name: string }[];
  const deleteAll = async () => {
    for (const { id } of await sessions()) {
      expect((await service.send('DELETE', `/api/v1/sessions/${id}`, [])).status).toBe(200);
    }
    await service.settled();
  };
  const detail = expect.stringMatching(
    /^This workspace stores \d+ bytes of the 20000 that it may store: \d+ more are too many \(setting QUOTA_STORED_BYTES\)\.$/,
  );

  it('hold for runs, of each workspace apart, and the end of their session gives them back', async () => {
    expect((await sendRun('runs', 12_000)).status).toBe(202);
    await service.settled();
    expect(await used()).toBeGreaterThan(12_000);
    const refused = await sendRun('another', 9_000);
    expect([refused.status, refused.json]).toEqual([409, { detail }]);
    expect((await sendRun('runs', 9_000, 'b')).status).toBe(202);
    await service.settled();
    // Nothing was written of what was refused.
    expect((await sessions()).map(({ name }) => name)).toEqual(['runs']);
    await deleteAll();
    expect(await used()).toBe(0);
    expect((await sendRun('another', 9_000)).status).toBe(202);
    await service.settled();
    await deleteAll();
  });

  it('hold for uploads that come at once; a deleted experiment gives them back after a refusal', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => upload(8_000)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409, 409, 409]);
    expect(answers.find(({ status }) => status === 409)!.json).toEqual({ detail });
    expect(await used()).toBe(16_000);
    await service.settled();
    expect((await sessions()).length).toBe(2);
    const { rows } = await service.pool.query<{ n: number }>('select count(*)::int as n from datasets');
    expect(rows[0]!.n).toBe(2);
    await deleteAll();
    await service.followers.passed(await service.store.head(), [DELETED_UPLOADS], 60_000);
    await service.pool.query(`update payloads set created_at = created_at - interval '11 minutes'`);
    // This workspace was swept a moment ago; the sweeper is asked as if that were longer ago.
    jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000);
    expect((await upload(8_000)).status).toBe(409);
    jest.restoreAllMocks();
    await until(used, (bytes) => bytes === 0);
    expect((await upload(8_000)).status).toBe(200);
    await service.settled();
    await deleteAll();
    await service.pool.query('delete from payloads');
    expect(await used()).toBe(0);
  });

  it('are given back when an upload is deleted, unless another one needs the same body', async () => {
    expect((await upload(8_000)).status).toBe(200);
    const again = JSON.stringify(experiment({ experiment_metadata: { text: 'y'.repeat(7_000) } }));
    expect((await service.upload(again)).status).toBe(200);
    await service.settled();
    await service.pool.query(`update payloads set created_at = created_at - interval '11 minutes'`);
    const kept = await used();
    const [first, second] = await sessions();
    await service.send('DELETE', `/api/v1/sessions/${first!.id}`, []);
    await until(used, (bytes) => bytes < kept);
    expect(await used()).toBeGreaterThan(7_000);
    await service.send('DELETE', `/api/v1/sessions/${second!.id}`, []);
    await until(used, (bytes) => bytes === 0);
    // One that has just been kept may be about to be recorded again: it stays for now.
    expect((await service.upload(again)).status).toBe(200);
    await deleteAll();
    await service.followers.passed(await service.store.head(), [DELETED_UPLOADS], 60_000);
    expect(await used()).toBeGreaterThan(7_000);
    expect((await service.upload(again)).status).toBe(200);
    await service.settled();
    expect((await sessions()).length).toBe(1);
    await deleteAll();
    await service.pool.query('delete from payloads');
  });

  it('hold for examples, which can be ended all the same', async () => {
    const made = await service.send('POST', '/api/v1/datasets', [JSON.stringify({ name: uuid() })]);
    const dataset_id = (made.json as { id: string }).id;
    const create = (bytes: number) =>
      service.send('POST', '/api/v1/examples', [JSON.stringify({ dataset_id, inputs: { text: 'x'.repeat(bytes) } })]);
    const example = await create(19_800 - 200);
    expect(example.status).toBe(200);
    const refused = await create(1_000);
    expect([refused.status, refused.json]).toEqual([409, { detail }]);
    const { id } = example.json as { id: string };
    expect((await service.send('DELETE', `/api/v1/examples/${id}`, [])).status).toBe(200);
    await service.send('DELETE', `/api/v1/datasets/${dataset_id}`, []);
    await service.settled();
    await service.pool.query('delete from payloads');
    expect(await used()).toBe(0);
  });

  it('count what was sent again once, whether it is shown yet or not, and what a change adds', async () => {
    const start_time = new Date().toISOString();
    const run = { id: uuid(), name: 'r', run_type: 'llm', session_name: 'repeated', start_time, error: 'e\u0000' };
    const told = { ...run, inputs: { text: 'x'.repeat(1_000) }, extra: { metadata: { a: 1 } }, tags: ['t'] };
    const ended = { id: run.id, end_time: start_time, outputs: { text: 'y'.repeat(2_000) } };
    const send = async (post: object[], patch: object[] = []) => {
      const body = [JSON.stringify({ post, patch })];
      expect((await service.send('POST', '/api/v1/runs/batch', body)).status).toBe(202);
    };
    await send([told]);
    await send([told]);
    await service.settled();
    const first = await used();
    expect(first).toBeGreaterThan(1_000);
    expect(first).toBeLessThan(2_000);
    await send([told], [ended]);
    await send([told], [ended]);
    await service.settled();
    const second = await used();
    expect(second - first).toBeGreaterThan(2_000);
    // A batch is stored as a whole, also what it says again of a run.
    expect(second - first).toBeLessThan(first + 2_500);
    for (const change of [{ ...ended, outputs: { text: 'z'.repeat(2_000) } }, ended]) {
      const before = await used();
      await send([], [change]);
      await service.settled();
      expect((await used()) - before).toBeGreaterThan(2_000);
    }
    await deleteAll();
    expect(await used()).toBe(0);
  });

  it('are counted once when the projection of runs is made again', async () => {
    await sendRun('again', 3_000);
    await sendRun('again', 2_000);
    await service.settled();
    const before = await used();
    expect(before).toBeGreaterThan(5_000);
    const events: Recorded[] = [];
    for (let position = 1n; position <= (await service.store.head()); position++) {
      const event = await service.store.at(position);
      if (event) events.push(event);
    }
    const again = async (...tables: string[]) => {
      for (const table of tables) await service.pool.query(`delete from ${table}`);
      await transaction(service.pool, (tx) => service.app.get(LiveRuns).handle(events, tx));
      return used();
    };
    expect(await again()).toBe(before);
    expect(await again('session_run_bytes', 'stored_run_bytes', 'stored_run_batches', 'runs')).toBe(before);
  });
});
