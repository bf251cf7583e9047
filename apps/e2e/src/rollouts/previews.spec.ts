import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeCluster } from '@fairlead/executors/testing';
import { until } from '@fairlead/postgres/testing';
import { Installation } from '@fairlead/service/testing';
import { v4 as newId } from 'uuid';

/** A held revision ends in a cluster with its wait, however that ends. */

let folder: string;
let cluster: FakeCluster;
let installation: Installation;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-previews-'));
  cluster = await FakeCluster.start();
  cluster.program = (service) => [200, {}, service];
  process.env.KUBECONFIG = join(folder, 'kubeconfig');
  writeFileSync(process.env.KUBECONFIG, cluster.config().exportConfig(), { mode: 0o600 });
  installation = await Installation.start({ EXECUTOR: 'kubernetes', KUBERNETES_NAMESPACE: 'agents-{workspace_id}' });
});
afterAll(async () => {
  await installation?.stop();
  await cluster?.stop();
  delete process.env.KUBECONFIG;
  rmSync(folder, { recursive: true, force: true });
});

type Key = Readonly<Record<string, string>>;
const ask = (method: string, path: string, body?: object, key?: Key) => installation.ask(method, path, body, key);

/** A workspace of its own, with the headers of its key. */
async function workspace(): Promise<{ readonly id: string; readonly key: Key }> {
  const { id } = await ask('POST', '/api/v1/workspaces', { display_name: `team ${newId()}` });
  cluster.namespaces.add(`agents-${id}`);
  const body = { scopes: ['admin'], description: 'team' };
  const { key } = await ask('POST', '/api/v1/api-key', body, { 'x-tenant-id': id });
  return { id, key: { 'x-api-key': key } };
}

const image = (tag: number) => ({ source_revision_config: { image_uri: `registry.example/agent:${tag}` } });

/** An experiment about a revision in which every answer is wrong; returns its dataset. */
async function evaluate(dataset_name: string, revision_id: string, key: Key): Promise<{ readonly id: string }> {
  const time = new Date().toISOString();
  const times = { start_time: time, end_time: time };
  const results = Array.from({ length: 60 }, () => ({
    ...{ row_id: newId(), inputs: {}, actual_outputs: {}, run_name: 'agent', ...times },
    evaluation_scores: [{ key: 'correct', score: 0 }],
  }));
  const named = { experiment_name: `experiment ${newId()}`, dataset_name, experiment_metadata: { revision_id } };
  const [experiment_start_time, experiment_end_time] = [time, time];
  const body = { ...named, experiment_start_time, experiment_end_time, results };
  return (await ask('POST', '/api/v1/datasets/upload-experiment', body, key)).dataset;
}

/** A deployment that runs, and a revision of it that is held and answers. */
async function held(key: Key) {
  const created = await ask(
    'POST',
    '/v2/deployments',
    { ...{ name: 'agent', source: 'external_container', source_config: {}, secrets: [] }, ...image(1) },
    key,
  );
  const { id, latest_revision_id: first } = created as { id: string; latest_revision_id: string };
  await reaches(id, first, 'DEPLOYED', key);
  const dataset = `questions ${newId()}`;
  const { id: dataset_id } = await evaluate(dataset, first, key);
  const gates = [{ name: 'g', dataset_id, keys: { correct: { min_mean: 0.9 } }, preview: true }];
  await ask('PUT', `/v2/deployments/${id}/gates`, { gates }, key);
  const { latest_revision_id: revision } = await ask('PATCH', `/v2/deployments/${id}`, image(2), key);
  const path = await until(
    async () => (await ask('GET', `/v2/deployments/${id}/health`, undefined, key)).latest_revision.preview as string,
    Boolean,
  );
  expect(path).toBe(`/apps/agent@${revision}`);
  expect(await (await installation.fetch('GET', `${path}/`, undefined, key)).text()).toBe(`fairlead-${revision}`);
  return { id, revision: revision as string, path, dataset };
}

const reaches = (id: string, revision: string, status: string, key: Key) =>
  until(
    async () => (await ask('GET', `/v2/deployments/${id}/revisions/${revision}`, undefined, key)).status as string,
    (now) => now === status,
  );

/** Waits until nothing of a revision is in the cluster, and its address does not answer. */
async function gone({ revision, path }: { readonly revision: string; readonly path: string }, key: Key) {
  await until(
    () => [...cluster.objects.values()].filter(({ metadata }) => metadata.name.startsWith(`fairlead-${revision}`)),
    (left) => left.length === 0,
  );
  return (await installation.fetch('GET', `${path}/`, undefined, key)).status;
}

it.each<[string, string, (held: Awaited<ReturnType<typeof waiting>>) => Promise<unknown>]>([
  ['its refusal', 'DEPLOY_FAILED', ({ dataset, revision, key }) => evaluate(dataset, revision, key)],
  [
    'the end of its wait',
    'DEPLOY_FAILED',
    ({ revision }) =>
      installation.database.pool.query(
        `update held_revisions set held = (held::jsonb || '{"until": "2020-01-01T00:00:00.000Z"}')::text where id = $1`,
        [revision],
      ),
  ],
  [
    'its interruption',
    'INTERRUPTED',
    ({ id, revision, key }) => ask('POST', `/v2/deployments/${id}/revisions/${revision}/interrupt`, undefined, key),
  ],
])('%s ends it', async (_, status, end) => {
  const preview = await waiting();
  const { id, revision, key } = preview;
  await end(preview);
  await reaches(id, revision, status, key);
  expect(await gone(preview, key)).toBe(404);
  expect(cluster.find('Deployment', `fairlead-${id}`)).toBeDefined();
});

async function waiting() {
  const { key } = await workspace();
  return { ...(await held(key)), key };
}

it('the deletion of its deployment ends it, and nothing of both is left', async () => {
  const preview = await waiting();
  const { id, key } = preview;
  await ask('DELETE', `/v2/deployments/${id}`, undefined, key);
  expect(await gone(preview, key)).toBe(404);
  await until(async () => (await installation.fetch('GET', `/v2/deployments/${id}`, undefined, key)).status === 404);
  expect([...cluster.objects.values()].filter(({ metadata }) => metadata.name.includes(id))).toEqual([]);
});

it('the deletion of its workspace ends it, and another workspace never reaches it', async () => {
  const [{ id, key }, other] = [await workspace(), await workspace()];
  const preview = await held(key);
  expect((await installation.fetch('GET', `${preview.path}/`, undefined, other.key)).status).toBe(404);
  await installation.fetch('DELETE', `/api/v1/workspaces/${id}`, undefined, { 'x-reason': 'they ask for it' });
  expect(await gone(preview, key)).toBeGreaterThanOrEqual(401);
  const rows = 'select from gated_deployments where tenant_id = $1';
  await until(async () => (await installation.database.pool.query(rows, [id])).rowCount === 0);
  await until(async () => ![...cluster.objects.values()].some(({ metadata }) => metadata.namespace === `agents-${id}`));
});
