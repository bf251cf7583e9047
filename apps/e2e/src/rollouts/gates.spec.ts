import { Installation, startApart } from '@fairlead/service/testing';
import { PostgresEventStore } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { v4 as newId } from 'uuid';

let installation: Installation;
let dataset: { readonly id: string; readonly name: string };
const rows = Array.from({ length: 120 }, () => newId());

const ask = (...request: Parameters<Installation['send']>) => installation.send(...request);
const REASON = { 'x-reason': 'The judge was wrong.' };

beforeAll(async () => {
  installation = await Installation.start();
});
afterAll(() => installation.stop());

/** Uploads an experiment; `wrong`: the number of rows that are not correct, the first ones. Every second row has a topic. */
async function evaluate(
  revision: string,
  wrong: number,
  name = dataset?.name ?? `questions ${newId()}`,
  of = rows,
  key: Readonly<Record<string, string>> = {},
  inputs: (row: string) => object = inputsOf,
) {
  const time = new Date().toISOString();
  const { status, json } = await ask(
    'POST',
    '/api/v1/datasets/upload-experiment',
    {
      ...{
        experiment_name: `experiment ${newId()}`,
        dataset_name: name,
        experiment_metadata: { revision_id: revision },
      },
      ...{ experiment_start_time: time, experiment_end_time: time },
      results: of.map((row_id, place) => ({
        ...{ row_id, inputs: inputs(row_id), actual_outputs: { answer: place }, start_time: time, end_time: time },
        evaluation_scores: [{ key: 'correct', score: place < wrong ? 0 : 1 }],
        run_name: 'agent',
      })),
    },
    key,
  );
  expect([status, json.detail]).toEqual([200, undefined]);
  return json;
}

const inputsOf = (row: string) => ({ question: row, topic: rows.indexOf(row) % 2 === 0 ? 'refunds' : 'delivery' });

const image = (tag: number) => ({ source_revision_config: { image_uri: `registry.example/agent:${tag}` } });

async function statusOf(id: string, revision: string): Promise<string> {
  return (await ask('GET', `/v2/deployments/${id}/revisions/${revision}`)).json.status;
}

const reaches = (id: string, revision: string, status: string) =>
  until(
    () => statusOf(id, revision),
    (now) => now === status,
    60_000,
  );

const verdictOf = (id: string, revision: string) => ask('GET', `/v2/deployments/${id}/revisions/${revision}/verdict`);

/** A verdict whose sentences hold a text. */
const saying = (id: string, revision: string, text: string) =>
  until(
    () => verdictOf(id, revision),
    ({ json }) => JSON.stringify(json.reasons ?? []).includes(text),
    60_000,
  );

/** A deployment whose first revision runs and has been evaluated, with a gate. */
async function gated(gate: object = {}) {
  const { json } = await ask('POST', '/v2/deployments', {
    ...{ name: `agent ${newId()}`, source: 'external_container', source_config: {}, secrets: [], ...image(1) },
  });
  const { id, latest_revision_id: first } = json;
  await reaches(id, first, 'DEPLOYED');
  const uploaded = await evaluate(first, 12);
  dataset = { id: uploaded.dataset.id, name: uploaded.dataset.name };
  const gates = [{ name: 'questions', dataset_id: dataset.id, keys: { correct: { max_drop: 0.05 } }, ...gate }];
  const declared = await ask('PUT', `/v2/deployments/${id}/gates`, { gates });
  expect([declared.status, declared.json.detail]).toEqual([200, undefined]);
  return { id: id as string, first: first as string };
}

async function revise(id: string, tag: number): Promise<string> {
  return (await ask('PATCH', `/v2/deployments/${id}`, image(tag))).json.latest_revision_id;
}

it('holds a revision until evidence promotes it', async () => {
  const { id } = await gated();
  const second = await revise(id, 2);
  const { json } = await saying(id, second, 'No experiment on the dataset names the revision.');
  expect(json).toMatchObject({ held: true, outcome: 'hold', look: 0 });
  const { json: waited } = await ask('GET', `/v2/deployments/${id}/revisions/${second}/wait?timeout=60`);
  expect(waited.status).toBe('AWAITING_DEPLOY');
  const { json: health } = await ask('GET', `/v2/deployments/${id}/health`);
  expect(health.latest_revision.reason).toMatch(/^It is held by its gates until /);
  expect(health.standing).toEqual({ text: 'Live, v1; v2 is held by its gates', tone: 'ok' });
  await evaluate(second, 8);
  await reaches(id, second, 'DEPLOYED');
  const { json: verdict } = await verdictOf(id, second);
  expect(verdict).toMatchObject({ held: false, until: null, outcome: 'promote', look: 1, reasons: [] });
  expect(verdict.gates[0].criteria[0]).toMatchObject({
    of: 'the difference of correct',
    rows: 120,
    outcome: 'promote',
  });
  expect(verdict.experiments.map(({ role }: { role: string }) => role)).toEqual(['baseline', 'revision']);
  expect(verdict.experiments[1].actor).not.toBeNull();
  const { json: deployment } = await ask('GET', `/v2/deployments/${id}`);
  expect(deployment.active_revision_id).toBe(second);
});

it('refuses a revision that is worse, and the one before goes on', async () => {
  const { id, first } = await gated();
  const second = await revise(id, 2);
  await evaluate(second, 60);
  await reaches(id, second, 'DEPLOY_FAILED');
  const { json } = await verdictOf(id, second);
  expect(json).toMatchObject({ held: false, outcome: 'refuse' });
  expect(json.reasons[0]).toMatch(/^questions: the difference of correct is -0\.4 over 120 rows, between /);
  const { json: health } = await ask('GET', `/v2/deployments/${id}/health`);
  expect(health).toMatchObject({ active_revision_id: first, latest_revision: { reason: json.reasons[0] } });
});

it('waits for more with too few rows, and lets an admin with a reason override', async () => {
  const { id } = await gated({ min_rows: 100 });
  const second = await revise(id, 2);
  await evaluate(second, 0, dataset.name, rows.slice(0, 99));
  const { json } = await saying(id, second, '99 of 100 rows are there.');
  expect(json).toMatchObject({ held: true, outcome: 'hold', look: 0 });
  const path = `/v2/deployments/${id}/revisions/${second}/override`;
  expect((await ask('POST', path)).json.detail).toBe('Say why in the header x-reason.');
  expect((await ask('POST', path, undefined, REASON)).status).toBe(200);
  await reaches(id, second, 'DEPLOYED');
  const { json: history } = await ask('GET', `/v2/deployments/${id}/history?limit=100`);
  const released = history.resources.find(({ type }: { type: string }) => type === 'RevisionReleased');
  expect(released.reason).toBe(REASON['x-reason']);
  expect((await ask('POST', path, undefined, REASON)).status).toBe(409);
});

it('limits slices, and refuses what is worse in one of them alone', async () => {
  const slices = [{ by: 'inputs.topic', keys: { correct: { min_mean: 0.7 } } }];
  const { id } = await gated({ keys: {}, slices });
  const second = await revise(id, 2);
  const of = (topic: string) => rows.filter((row) => inputsOf(row).topic === topic);
  await evaluate(second, 0, dataset.name, of('refunds'));
  const { json } = await saying(id, second, 'rows in');
  expect([json.outcome, json.reasons]).toEqual([
    'hold',
    ['questions: 0 of 10 rows in inputs.topic=delivery are there.'],
  ]);
  await evaluate(second, 40, dataset.name, of('delivery'));
  await reaches(id, second, 'DEPLOY_FAILED');
  const { json: verdict } = await verdictOf(id, second);
  expect(verdict.reasons).toEqual([
    expect.stringMatching(/^questions: correct in inputs\.topic=delivery is 0\.3333 over 60 rows, between /),
  ]);
  expect(verdict.gates[0].criteria.map(({ slice, outcome }: Record<string, string>) => [slice, outcome])).toEqual([
    ['inputs.topic=delivery', 'refuse'],
    ['inputs.topic=refunds', 'promote'],
  ]);
});

it('counts what trusted keys have written, says who they are, and holds when others had a hand in it', async () => {
  const { json: made } = await ask('POST', '/api/v1/api-key', { description: 'ci' });
  const ci = { 'x-api-key': made.key };
  const { id } = await gated({ keys: { correct: { min_mean: 0.9 } }, evidence_keys: [made.id] });
  const second = await revise(id, 2);
  await evaluate(second, 0);
  await saying(id, second, 'No experiment on the dataset names the revision.');
  const { experiment } = await evaluate(second, 9, dataset.name, rows, ci);
  const seen = (isSeen: (verdict: Awaited<ReturnType<typeof verdictOf>>['json']) => boolean) =>
    until(
      () => verdictOf(id, second),
      ({ json }) => isSeen(json),
      60_000,
    );
  const { json: first } = await seen(({ look }) => look === 1);
  expect(first).toMatchObject({ outcome: 'hold', gates: [{ criteria: [{ mean: 0.925 }] }] });
  expect(first.experiments).toMatchObject([{ actor: made.id, writers: [made.id], scores_left_out: 0 }]);
  const query = { session: [experiment.id], limit: 100 };
  const { json: found } = await ask('POST', '/api/v1/runs/query', query);
  for (const run of found.runs.slice(0, 2)) {
    await ask('POST', '/api/v1/feedback', { run_id: run.id, key: 'correct', score: 1 });
  }
  const { json: helped } = await seen(({ experiments }) => experiments[0].scores_left_out === 2);
  expect(helped).toMatchObject({ look: 1, gates: first.gates, data: first.data });
  await ask('PATCH', `/api/v1/sessions/${experiment.id}`, { description: 'looks good' });
  const { json: changed } = await saying(id, second, 'has changed');
  expect(changed.reasons).toEqual([
    expect.stringMatching(/^questions: The key [0-9a-f-]{36} has changed experiment \S+, and does not count\.$/),
  ]);
  await ask('DELETE', `/api/v1/sessions/${experiment.id}`);
  await evaluate(second, 0, dataset.name, rows, ci);
  const { json: chosen } = await saying(id, second, 'counted before');
  expect([chosen.held, chosen.outcome]).toEqual([true, 'hold']);
});

it('holds when others have changed examples of the dataset, or which scores are better', async () => {
  const { json: made } = await ask('POST', '/api/v1/api-key', { description: 'ci' });
  const ci = { 'x-api-key': made.key };
  const { id } = await gated({ keys: { correct: { min_mean: 0.9 } }, evidence_keys: [made.id] });
  const second = await revise(id, 2);
  const directions = `/api/v1/datasets/${dataset.id}/score-directions`;
  await ask('PUT', directions, { lower_is_better: ['correct'] });
  const { json: turned } = await saying(id, second, 'has changed which scores of the dataset are better');
  expect(turned.reasons[1]).toMatch(/^questions: The key [0-9a-f-]{36} has changed which .*, and does not count\.$/);
  await ask('PUT', directions, { higher_is_better: ['correct'] }, ci);
  await until(
    () => verdictOf(id, second),
    ({ json }) => json.reasons.length === 1,
    60_000,
  );
  // The row of another experiment, with an easier question, is the example from then on.
  await evaluate(newId(), 0, dataset.name, rows.slice(0, 1), {}, () => ({ question: 'easy' }));
  await evaluate(second, 0, dataset.name, rows.slice(1), ci);
  const { json } = await saying(id, second, 'with an upload');
  expect([json.outcome, json.reasons]).toEqual([
    'hold',
    [expect.stringMatching(/^questions: The key [0-9a-f-]{36} has changed examples of the dataset with an upload, /)],
  ]);
  const { json: repeated } = await ask('GET', `/v2/deployments/${id}/revisions/${second}/verdict/repeat`);
  expect(repeated).toMatchObject({ reason: null, repeated: { outcome: 'hold', reasons: json.reasons } });
});

it('compares with the revision that is active when it looks, which may be another than at first', async () => {
  const { id, first } = await gated();
  const path = (revision: string, act: string) => `/v2/deployments/${id}/revisions/${revision}/${act}`;
  const second = await revise(id, 2);
  await ask('POST', path(second, 'override'), undefined, REASON);
  await reaches(id, second, 'DEPLOYED');
  await evaluate(second, 60);
  const third = await revise(id, 3);
  await saying(id, third, 'No experiment');
  // What ends at once is taken back, while the newer one is held.
  const store = new PostgresEventStore(installation.database.pool);
  const data = { revision_id: first, previous_revision_id: second, reason: 'It ended.' };
  const { json: deployment } = await ask('GET', `/v2/deployments/${id}`);
  const metadata = { tenant: deployment.tenant_id, actor: 'system:rollouts' };
  await store.append(`deployment-${id}`, 'any', [{ type: 'RevisionActivated', data }], metadata);
  // As good as the second one, and much worse than the first.
  await evaluate(third, 60);
  await reaches(id, third, 'DEPLOY_FAILED');
  const { json } = await verdictOf(id, third);
  expect([json.outcome, json.gates[0].criteria[0].mean]).toEqual(['refuse', -0.4]);
  await store.close();
});

it('needs an admin with a reason to roll back with other secrets, and holds what other commands build', async () => {
  const { id, first } = await gated();
  const path = `/v2/deployments/${id}`;
  const back = (query = '', headers = {}) =>
    ask('POST', `${path}/revisions/${first}/redeploy${query}`, undefined, headers);
  const other = { secrets: [{ name: 'KEY', value: 'new' }] };
  const { json: changed } = await ask('PATCH', path, other);
  await saying(id, changed.latest_revision_id, 'No experiment');
  const { status, json } = await back('?keep_secrets=true');
  expect([status, json.detail]).toEqual([
    403,
    expect.stringMatching(/^To keep the present secrets overrides the gates /),
  ]);
  const { json: kept } = await back('?keep_secrets=true', REASON);
  await reaches(id, kept.latest_revision_id, 'DEPLOYED');
  const { json: history } = await ask('GET', `${path}/history?types=RevisionReleased`);
  expect(history.resources).toMatchObject([{ reason: REASON['x-reason'] }]);
  await ask('PATCH', path, { source_config: { install_command: 'npm ci' } });
  const { json: rebuilt } = await back();
  await saying(id, rebuilt.latest_revision_id, 'No experiment');
});

it('skips a held revision for a newer one, and rolls back to what ran without evidence', async () => {
  const { id, first } = await gated();
  const second = await revise(id, 2);
  await saying(id, second, 'No experiment');
  const third = await revise(id, 3);
  await reaches(id, second, 'SKIPPED');
  await saying(id, third, 'No experiment');
  const { json } = await ask('POST', `/v2/deployments/${id}/revisions/${first}/redeploy`);
  await reaches(id, json.latest_revision_id, 'DEPLOYED');
  expect(await statusOf(id, third)).toBe('SKIPPED');
});

it('takes gates with the deployment, and shows them only where they are asked for', async () => {
  const { dataset: other } = await evaluate(newId(), 0, `other ${newId()}`);
  const gate = { name: 'answers', dataset_id: other.id, keys: { correct: { min_mean: 0.8 } } };
  const { json: created, status } = await ask('POST', '/v2/deployments', {
    ...{ name: `agent ${newId()}`, source: 'external_container', secrets: [], ...image(1) },
    source_config: { gates: [gate] },
  });
  expect([status, 'gates' in created.source_config]).toEqual([201, false]);
  const { id, latest_revision_id: first } = created;
  await saying(id, first, 'No experiment');
  await evaluate(first, 6, other.name);
  await reaches(id, first, 'DEPLOYED');
  const path = `/v2/deployments/${id}`;
  const gatesOf = async (query: string, base = '') => (await ask('GET', base + path + query)).json.source_config.gates;
  expect(await gatesOf('?include=gates,standing')).toMatchObject([{ ...gate, min_rows: 30 }]);
  expect(await gatesOf('?include=gates', '/api-host')).toBeUndefined();
  expect(await gatesOf('?include=standing')).toBeUndefined();
  const { json: list } = await ask('GET', `/v2/deployments?deployment_ids=${id}&include=gates`);
  expect(list.resources[0].source_config.gates).toMatchObject([gate]);
  const change = (body: object, headers?: Readonly<Record<string, string>>) => ask('PATCH', path, body, headers);
  await change({ source_config: { custom_url: 'https://agent.example' }, ...image(2) });
  expect(await gatesOf('?include=gates')).toHaveLength(1);
  expect((await change({ source_config: { gates: [] } })).status).toBe(403);
  expect((await change({ source_config: { gates: [{ ...gate, min_rows: 1 }] } })).status).toBe(422);
  const { json: plan } = await ask('PATCH', `${path}?dry_run=plan`, { source_config: { gates: [] } }, REASON);
  expect(plan.changes).toMatchObject([{ member: 'gates.answers', after: null }]);
  const { json: third } = await change({ source_config: { gates: [] }, ...image(3) }, REASON);
  await reaches(id, third.latest_revision_id, 'DEPLOYED');
  expect(await gatesOf('?include=gates')).toEqual([]);
});

it('takes no gate for what is not there, and holds when it is deleted later', async () => {
  const { id, first } = await gated();
  const { experiment } = await evaluate(newId(), 0);
  const path = `/v2/deployments/${id}`;
  const limits = { keys: { correct: { max_drop: 0.05 } } };
  const [second, other, missing] = [newId(), newId(), newId()].map((unknown) => ({
    ...{ ...limits, name: unknown, dataset_id: dataset.id, baseline: { experiment_id: unknown } },
  }));
  const { json: now } = await ask('GET', `${path}/gates`);
  const { status, json } = await ask('PUT', `${path}/gates`, { gates: [...now.gates, second] });
  expect([status, json.detail[0].loc]).toEqual([422, ['body', 'gates', 1, 'baseline', 'experiment_id']]);
  const { json: patched } = await ask('PATCH', path, { source_config: { gates: [...now.gates, other] } });
  expect(patched.detail[0].loc).toEqual(['body', 'source_config', 'gates', 1, 'baseline', 'experiment_id']);
  const created = { ...missing, dataset_id: newId(), baseline: 'active' };
  const { json: refused } = await ask('POST', '/v2/deployments', {
    ...{ name: `agent ${newId()}`, source: 'external_container', secrets: [], ...image(1) },
    source_config: { gates: [created] },
  });
  expect(refused.detail[0]).toMatchObject({
    ...{ loc: ['body', 'source_config', 'gates', 0, 'dataset_id'], input: created.dataset_id },
    msg: 'Value error, there is no dataset of this id in the workspace',
  });
  const named = { ...limits, name: 'named', dataset_id: dataset.id, baseline: { experiment_id: experiment.id } };
  expect((await ask('PUT', `${path}/gates`, { gates: [...now.gates, named] })).status).toBe(200);
  const revision = await revise(id, 2);
  await saying(id, revision, 'No experiment');
  await ask('DELETE', `/api/v1/sessions/${experiment.id}`);
  await evaluate(revision, 0);
  await saying(id, revision, 'named: The experiment that the gate compares with has been deleted.');
  await ask('DELETE', `/api/v1/datasets/${dataset.id}`);
  const { json: gone } = await saying(id, revision, 'questions: The dataset of the gate has been deleted.');
  expect([gone.held, gone.outcome, (await ask('GET', path)).json.active_revision_id]).toEqual([true, 'hold', first]);
  // What is there already is no reason to refuse more.
  const more = { ...limits, name: 'more', dataset_id: (await evaluate(first, 0, `more ${newId()}`)).dataset.id };
  expect((await ask('PUT', `${path}/gates`, { gates: [...now.gates, named, more] })).status).toBe(200);
});

it('takes fewer gates only with a reason, and refuses what it does not understand', async () => {
  const { id } = await gated();
  const path = `/v2/deployments/${id}/gates`;
  const { json } = await ask('GET', path);
  expect(json.gates).toMatchObject([{ name: 'questions', baseline: 'active', min_rows: 30, wait_days: 7 }]);
  const { status, json: refused } = await ask('PUT', path, { gates: [] });
  expect([status, refused.detail]).toEqual([
    403,
    'Changing or removing a gate needs a key with the scope admin, and a reason in x-reason.',
  ]);
  expect((await ask('PUT', path, { gates: [{ ...json.gates[0], max_drop: 1 }] })).status).toBe(422);
  expect((await ask('PUT', path, { gates: [] }, REASON)).json).toEqual({ gates: [] });
});

describe('With a process for each service', () => {
  let together: Installation;

  beforeAll(async () => {
    together = installation;
    dataset = undefined!;
    installation = await Installation.start({}, startApart);
  });
  afterAll(async () => {
    await installation.stop();
    installation = together;
  });

  it('a revision is held, refused when it is worse, and deployed when it is not', async () => {
    const { id, first } = await gated();
    const second = await revise(id, 2);
    await saying(id, second, 'No experiment on the dataset names the revision.');
    await evaluate(second, 60);
    await reaches(id, second, 'DEPLOY_FAILED');
    const { json: deployment } = await ask('GET', `/v2/deployments/${id}?include=gates`);
    expect([deployment.active_revision_id, deployment.source_config.gates]).toMatchObject([first, [{ min_rows: 30 }]]);
    const third = await revise(id, 3);
    await saying(id, third, 'No experiment on the dataset names the revision.');
    await evaluate(third, 8);
    await reaches(id, third, 'DEPLOYED');
    expect((await verdictOf(id, third)).json).toMatchObject({ held: false, outcome: 'promote', look: 1 });
  });
});
