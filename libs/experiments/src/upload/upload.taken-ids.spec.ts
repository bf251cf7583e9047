import { createHash } from 'node:crypto';
import { v4 as uuid, v5 } from 'uuid';
import { experimentId, newDatasetId, numberedIds } from '@fairlead/runs';
import { experiment, row, startUploading, type Uploading } from '../testing/uploading';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());

type Row = Record<string, unknown>;

async function rows(sql: string, ...values: unknown[]): Promise<Row[]> {
  return (await service.pool.query<Row>(sql, values)).rows;
}
const post = (path: string, body: unknown, tenant = 'a') =>
  service.send('POST', `/api/v1${path}`, [typeof body === 'string' ? body : JSON.stringify(body)], {
    'x-api-key': tenant,
  });
async function uploaded(body: unknown) {
  const answer = await service.upload(body);
  await service.settled();
  return answer;
}
const idOfUpload = (body: string) =>
  experimentId(service.tenants.a, createHash('sha256').update(body).digest('hex'), 0);
/** The ids that uploads of earlier versions gave. */
function computable(session: string, kind: string): string {
  const hex = numberedIds(session, kind)(0).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

describe('metadata that PostgreSQL cannot hold as jsonb', () => {
  it.each(['1e999999', '"\\u0000"', '"\\ud800"', `${'['.repeat(90)}${']'.repeat(90)}`, `${'9'.repeat(200_000)}`])(
    'is kept as it was sent (%.20s)',
    async (value) => {
      const metadata = `{"a":${value},"sent":"${uuid()}"}`;
      const body = JSON.stringify(experiment({ experiment_metadata: { put: 'here' } }, [row()]));
      const upload = await uploaded(body.replace('{"put":"here"}', metadata));
      expect(upload.status).toBe(200);
      const created = await post('/sessions', `{"name":"${uuid()}","extra":{"metadata":${metadata}}}`);
      expect(created.status).toBe(200);
      await service.settled();
      for (const id of [upload.json.experiment.id, created.json.id]) {
        const read = await service.get(`/api/v1/sessions/${id}`);
        expect(read.status).toBe(200);
        expect(read.text).toContain(`"extra":{"metadata":${metadata}}`);
      }
      const later = await post('/sessions', { name: uuid(), extra: { metadata: { found: 'it' } } });
      const found = await service.get(`/api/v1/sessions?metadata=${encodeURIComponent('{"found":"it"}')}`);
      expect(found.json.map(({ id }: { id: string }) => id)).toContain(later.json.id);
    },
  );
});

describe('an upload gets its runs and scores', () => {
  it('although a live run and a score came first under the ids that could be computed', async () => {
    const body = JSON.stringify(experiment({}, [row({ evaluation_scores: [{ key: 'k', score: 1 }] })]));
    const id = idOfUpload(body);
    const [run, score] = [computable(id, 'run'), computable(id, 'feedback')];
    await post('/runs', { id: run, name: 'first', run_type: 'chain', inputs: {}, session_name: 'squatter' });
    expect((await post('/feedback', { id: score, run_id: run, key: 'first', score: 0 })).status).toBe(200);
    expect(await uploaded(body)).toMatchObject({ status: 200, json: { experiment: { id } } });
    const [session] = await rows('select persisted, run_count from sessions where id = $1', id);
    expect(session).toEqual({ persisted: true, run_count: 1 });
    expect(await rows('select key, score from feedback where session_id = $1', id)).toEqual([{ key: 'k', score: 1 }]);
  });

  it('although one row id is what the example of another row is called', async () => {
    const shared = uuid();
    await uploaded(experiment({}, [row({ row_id: shared, inputs: { of: 'another dataset' } })]));
    const dataset = uuid();
    const renamed = v5(shared, dataset);
    const both = [row({ row_id: shared, inputs: { n: 1 } }), row({ row_id: renamed, inputs: { n: 2 } })];
    for (const pair of [both, [...both].reverse()]) {
      const { status, json } = await uploaded(experiment({ dataset_id: dataset, dataset_name: undefined }, pair));
      expect(status).toBe(200);
      const { id } = json.experiment;
      expect(await rows('select run_count from sessions where id = $1', id)).toEqual([{ run_count: 2 }]);
      expect(await rows('select example_id as id from runs where session_id = $1', id)).toEqual([
        { id: renamed },
        { id: renamed },
      ]);
      const read = await post('/runs/query', { session: [id], select: ['inputs'] });
      expect(read.json.runs.map(({ inputs }: { inputs: Row }) => inputs.n).sort()).toEqual([1, 2]);
    }
  });

  it('although a session has been created under the id that it would get', async () => {
    const body = JSON.stringify(experiment({}, [row()]));
    const squatted = idOfUpload(body);
    expect((await post('/sessions', { name: uuid(), id: squatted }, 'b')).status).toBe(200);
    const answers = [await uploaded(body), await uploaded(body)];
    const [first, again] = answers.map(({ json }) => json.experiment.id as string);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(first).not.toBe(squatted);
    expect(again).toBe(first);
    expect(await rows('select run_count from sessions where id = $1', first)).toEqual([{ run_count: 1 }]);
  });

  it('although another tenant has the dataset id that would be made up', async () => {
    const body = JSON.stringify({ ...experiment({}, [row()]), dataset_id: undefined, dataset_name: uuid() });
    const squatted = newDatasetId(idOfUpload(body));
    const theirs = JSON.stringify(experiment({ dataset_id: squatted }, [row()]));
    expect((await service.upload(theirs, { 'x-api-key': 'b' })).status).toBe(200);
    const answer = await uploaded(body);
    expect(answer.status).toBe(200);
    expect(answer.json.dataset.id).not.toBe(squatted);
  });
});

it('two tenants that send the same run and score at once have one each', async () => {
  for (let n = 0; n < 5; n++) {
    const [run, score] = [uuid(), uuid()];
    const sent = (name: string) => ({ id: run, name, run_type: 'chain', inputs: { name }, session_name: 'same' });
    const tenants = ['a', 'b'] as const;
    const runs = await Promise.all(tenants.map((tenant) => post('/runs', sent(tenant), tenant)));
    expect(runs.map(({ status }) => status)).toEqual([202, 202]);
    await service.settled();
    const given = (key: string) => ({ id: score, run_id: run, key, score: 1 });
    const scores = await Promise.all(tenants.map((tenant) => post('/feedback', given(tenant), tenant)));
    expect(scores.map(({ status }) => status)).toEqual([200, 200]);
    await service.settled();
    for (const tenant of tenants) {
      expect((await service.get(`/api/v1/runs/${run}`, tenant)).json).toMatchObject({
        name: tenant,
        inputs: { name: tenant },
        feedback_stats: { [tenant]: { n: 1 } },
      });
      expect((await service.get(`/api/v1/feedback?run=${run}`, tenant)).json).toMatchObject([{ key: tenant }]);
      const filter = `eq(feedback_key, "${tenant}")`;
      const found = await post('/runs/query', { id: [run], filter }, tenant);
      expect(found.json.runs).toMatchObject([{ name: tenant }]);
    }
  }
});
