import { PayloadStore } from '@fairlead/blobs';
import { idOf, type Recorded } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { v4 as newId, stringify } from 'uuid';
import { experiment, row, startUploading, type Uploading } from '@fairlead/experiments/testing';
import { numberedIds } from '../common/ids';
import type { ExperimentUploaded } from '../session/experiment';
import { MOST_TOLD, tellUploadedFeedback } from './uploaded-feedback.commands';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

const scores = (count: number, key = 'correct') => Array.from({ length: count }, (_, n) => ({ key, score: n % 2 }));

async function upload(rows: readonly unknown[], members = {}): Promise<Recorded<ExperimentUploaded>> {
  const answer = await service.upload(experiment(members, rows));
  expect(answer.status).toBe(200);
  const { id } = answer.json.experiment as { id: string };
  const [first] = await service.store.read(`experiment-${id}`);
  return first as Recorded<ExperimentUploaded>;
}
const told = async ({ stream }: Recorded) => service.store.read(`uploadedFeedback-${idOf(stream)}`);

it('tells of each feedback that came within an upload, once, and of what it holds nothing opaque', async () => {
  const secret = { comment: 'private', value: { private: true }, extra: { private: true } };
  const evaluation_scores = [
    { key: 'correct', score: 0.5, created_at: '2026-01-01T00:00:00.000001Z', ...secret },
    { key: 'tone' },
  ];
  const uploaded = await upload([row({ evaluation_scores }), row()], {
    summary_experiment_scores: scores(1, 'overall'),
  });
  await service.settled();
  const events = await told(uploaded);
  const facts = events.map(({ data }) => data as { id: string; run_id: string; key: string });
  const session = idOf(uploaded.stream);
  const stored = (await service.get(`/api/v1/feedback?session=${session}`)).json as {
    id: string;
    run_id: string | null;
    key: string;
  }[];
  const named = (one: { id: string; run_id: string | null; key: string }) => `${one.id} ${one.run_id} ${one.key}`;
  expect(facts.map(named).sort()).toEqual(stored.map(named).sort());
  expect(facts).toMatchObject([
    { key: 'correct', score: 0.5, created_at: '2026-01-01T00:00:00.000001Z' },
    { key: 'tone', score: null },
    { key: 'overall', score: 0, run_id: null },
  ]);
  expect(JSON.stringify(facts)).not.toContain('private');
  expect(
    events.every(({ type, metadata }) => type === 'FeedbackUploaded' && metadata.tenant === service.tenants.a),
  ).toBe(true);
  await tellUploadedFeedback(service.store, service.pool, uploaded);
  expect(await told(uploaded)).toHaveLength(3);
});

it('tells of as many as are bearable for those who are told, and of none of an upload with more', async () => {
  const most = await upload([row({ evaluation_scores: scores(MOST_TOLD - 1) })], {
    summary_experiment_scores: scores(1, 'overall'),
  });
  const more = await upload([row({ evaluation_scores: scores(MOST_TOLD + 1) })]);
  await service.settled();
  expect(await told(most)).toHaveLength(MOST_TOLD);
  expect(await told(more)).toEqual([]);
});

it('tells of feedback that waited for the run of an upload once that is stored', async () => {
  let go: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (go = resolve));
  const { value } = Object.getOwnPropertyDescriptor(PayloadStore.prototype, 'read')!;
  const read = value as PayloadStore['read'];
  jest.spyOn(PayloadStore.prototype, 'read').mockImplementation(async function (this: PayloadStore, tenant, sha256) {
    await opened;
    return read.call(this, tenant, sha256);
  });
  const uploaded = await upload([row()]);
  const run = stringify(numberedIds(uploaded.data.id_seed!, 'run')(0));
  const id = newId();
  const form = new FormData();
  form.append(`feedback.${id}`, JSON.stringify({ trace_id: run, key: 'late', score: 1 }));
  const request = new Request('http://localhost/', { method: 'POST', body: form });
  const body = Buffer.from(await request.arrayBuffer());
  const type = request.headers.get('content-type')!;
  const sent = await service.send('POST', '/api/v1/runs/multipart', [body], { 'content-type': type });
  expect(sent.status).toBe(202);
  go();
  await service.settled();
  const added = async () =>
    (await service.store.read(uploaded.stream)).filter(({ type: one }) => one === 'FeedbackAdded');
  await until(async () => (await added()).length > 0);
  expect(await added()).toMatchObject([{ data: { id, run_id: run, key: 'late' } }]);
  await service.settled();
  expect(await added()).toHaveLength(1);
});
