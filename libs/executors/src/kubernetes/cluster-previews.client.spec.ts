import { request as send } from 'node:http';
import type { Gate, RevisionStatus } from '@fairlead/contracts';
import { AllowList, Namespaces, parseAllowList } from '@fairlead/schema';
import { until } from '@fairlead/postgres/testing';
import type { RolloutsOptions } from '@fairlead/rollouts';
import { TENANT, TestRollouts } from '@fairlead/rollouts/testing';
import { FakeCluster } from '../testing/fake-cluster';
import { KubernetesExecutor } from './kubernetes-executor';

let service: TestRollouts;
let cluster: FakeCluster;
beforeEach(async () => {
  service = await TestRollouts.create();
  cluster = await FakeCluster.start();
  await start();
});
afterEach(async () => {
  await service.drop();
  await cluster.stop();
});

async function start(options: Partial<RolloutsOptions> = { watchEvery: 200 }): Promise<void> {
  service.options = options;
  const executor = new KubernetesExecutor({
    config: cluster.config(),
    namespaces: new Namespaces({ name: 'agents' }),
    rules: { allow: new AllowList(parseAllowList('Secret/db,PersistentVolumeClaim/data')), level: 'restricted' },
    route: 'apiVersion: networking.k8s.io/v1\nkind: Ingress\nspec: { rules: [{ host: agents.example }] }',
    look: 20,
    deadline: 2000,
    patience: 100,
  });
  await service.start(executor);
}

const gate = (more: Partial<Gate> = {}): Gate => ({
  ...{ name: 'questions', dataset_id: TENANT, baseline: 'active', keys: {}, measures: {}, min_rows: 30 },
  ...{ max_age_days: 30, wait_days: 7, preview: true, ...more },
});
const image = (version: number) => ({
  source: 'external_container',
  source_revision_config: { image_uri: `registry.example/agent:${version}` },
});
const SPEC = { min_scale: 2, max_scale: 3, cpu_limit: 1, memory_limit_mb: 512, queue_min_scale: 1 };

async function deployed(): Promise<string> {
  const id = await service.deployment({}, { TOKEN: 'sesame-open', LANGSMITH_PROJECT: 'theirs' });
  await service.reached(id, await service.revision(id, { ...image(1), resource_spec: SPEC }), 'DEPLOYED');
  return id;
}

/** A revision that its gates hold, as the deployments service lets it wait. */
async function held(id: string, gates = [gate()], more: object = {}): Promise<string> {
  const rid = await service.revision(id, { ...image(2), resource_spec: SPEC, gates, ...more });
  await until(
    () => service.store.read(`rollout-${rid}`),
    (events) => events.some(({ type }) => type === 'RolloutHeld'),
  );
  const data = { revision_id: rid, gates, active_revision_id: null, until: '2100-01-01T00:00:00.000Z' };
  await service.append(id, [{ type: 'RevisionHeld', data }]);
  return rid;
}

const previewOf = async (id: string) => (await service.health(id)).json.latest_revision.preview as string | null;
const answers = (id: string) => until(() => previewOf(id), Boolean);
const gone = (rid: string) =>
  until(
    () => [...cluster.objects.values()].filter(({ metadata }) => metadata.name.includes(rid)),
    (left) => left.length === 0,
  );
const move = (id: string, revision_id: string, status: RevisionStatus) =>
  service.append(id, [
    { type: 'RevisionStatusChanged', data: { revision_id, previous_status: 'AWAITING_DEPLOY', status } },
  ]);
const ask = (path: string, headers: object = {}, method: 'GET' | 'POST' = 'GET') =>
  service.ask(method, path, { headers: { 'x-api-key': 'invoker', ...headers } });
const logs = async (id: string, rid: string) => {
  const { json } = await service.logs(`${id}/revisions/${rid}/deploy_logs`);
  return (json.logs as { message: string }[]).map(({ message }) => message).join('\n');
};

it('a held revision runs beside the live one, with what is its own', async () => {
  const id = await deployed();
  const rid = await held(id);
  expect(await answers(id)).toBe(`/apps/agent@${rid}`);
  const name = `fairlead-${rid}`;
  const deployment = cluster.find('Deployment', name)!;
  const labels = { 'fairlead.dev/preview-of': id, 'fairlead.dev/revision-id': rid };
  const matchLabels = { ...labels, 'fairlead.dev/role': 'server' };
  expect(deployment.metadata.labels).toMatchObject({ ...labels, 'fairlead.dev/workspace-id': TENANT });
  expect(deployment.metadata.labels).not.toHaveProperty(['fairlead.dev/deployment-id']);
  expect(deployment.spec).toMatchObject({ replicas: 1, selector: { matchLabels } });
  const live = cluster.find('Deployment', `fairlead-${id}`)!.spec!.template as Pod;
  const own = deployment.spec!.template as Pod;
  const [container, former] = [own.spec.containers[0]!, live.spec.containers[0]!];
  expect(container).toMatchObject({ image: 'registry.example/agent:2', resources: former.resources });
  expect(container.securityContext).toEqual(former.securityContext);
  const project = `agent@${rid}`;
  expect(Object.fromEntries(container.env.map(({ name: key, value }) => [key, value]))).toEqual({
    ...{ PORT: '8000', FAIRLEAD_ROLE: 'server', LANGCHAIN_REVISION_ID: rid },
    ...{ LANGSMITH_PROJECT: project, LANGCHAIN_PROJECT: project },
  });
  expect(cluster.find('Service', name)!.spec).toMatchObject({ selector: matchLabels });
  // No queue, no autoscaler, no budget, and no way in but the one with a key.
  const owned = [...cluster.objects.values()].filter(({ metadata }) => metadata.name.includes(rid));
  expect(owned.map(({ kind }) => kind).toSorted()).toEqual(['Deployment', 'ReplicaSet', 'Secret', 'Service']);
  for (const object of owned.filter(({ kind }) => kind !== 'Deployment')) {
    expect(object.metadata.ownerReferences).toEqual([expect.objectContaining({ uid: deployment.metadata.uid })]);
  }
  await until(
    () => logs(id, rid),
    (text) => text.includes(`It answers at /apps/agent@${rid}/ while it waits.`),
  );
  expect(live.spec.containers[0]!.image).toBe('registry.example/agent:1');
});

interface Pod {
  readonly spec: {
    readonly containers: readonly {
      readonly image: string;
      readonly env: readonly { readonly name: string; readonly value?: string }[];
      readonly resources: object;
      readonly securityContext: object;
    }[];
    readonly volumes?: readonly object[];
    readonly serviceAccountName?: string;
  };
}

it('requests reach it through the cluster, as a key with the scope to call it may', async () => {
  const id = await deployed();
  const rid = await held(id);
  const path = await answers(id);
  let seen: { service: string; path: string; headers: NodeJS.Dict<string | string[]> } | undefined;
  cluster.program = (called, at, { headers }) => {
    seen = { service: called, path: at, headers };
    if (at === '/moved') return [302, { location: '/there' }, ''];
    return [201, { 'content-type': 'text/plain' }, `answer of ${called}`];
  };
  const theirs = {
    authorization: 'Bearer theirs',
    'impersonate-user': 'admin',
    'x-remote-user': 'admin',
    'x-fairlead-identity': 'a.b.c',
    'x-own': '1',
  };
  const answer = await ask(`${path}/threads?limit=1`, theirs);
  expect([answer.statusCode, answer.payload]).toEqual([201, `answer of fairlead-${rid}`]);
  expect(answer.headers).not.toHaveProperty('audit-id');
  expect(seen).toMatchObject({ service: `fairlead-${rid}`, path: '/threads?limit=1' });
  expect(seen!.headers).toMatchObject({ authorization: 'Bearer token', 'x-own': '1', 'x-forwarded-prefix': path });
  for (const name of ['impersonate-user', 'x-remote-user', 'x-fairlead-identity', 'x-api-key'])
    expect(seen!.headers).not.toHaveProperty(name);
  expect((await ask(`/apps/${id}@${rid}/`)).statusCode).toBe(201);
  expect((await ask(`${path}/moved`)).headers.location).toBe(`${path}/there`);
  const failure = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'account runner in agents' };
  for (const [told, status, shown] of [
    [failure, 503, 'The deployment does not answer'],
    [{ error: 'wrong key' }, 403, '{"error":"wrong key"}'],
  ] as const) {
    const text = JSON.stringify(told);
    const former = cluster.program;
    cluster.program = () => [403, { 'content-type': 'application/json', 'content-length': text.length }, text];
    const { statusCode, payload } = await ask(`${path}/`);
    expect([statusCode, payload]).toEqual([status, expect.stringContaining(shown)]);
    expect(payload).not.toContain('runner');
    cluster.program = former;
  }
  const url = await service.listen();
  for (const out of ['../../../secrets', '%2e%2e/secrets', '..%2f..%2fsecrets', 'a/..%5csecrets', '%ff']) {
    seen = undefined;
    expect(await reachedAt(url, `${path}/${out}`)).toBe(400);
    expect(seen).toBeUndefined();
  }
  expect((await ask(`${path}/runs/crons`, {}, 'POST')).statusCode).toBe(409);
  for (const other of ['/apps/agent', `/apps/agent@${id}`, `/apps/other@${rid}`]) {
    expect((await ask(`${other}/`)).statusCode).toBe(404);
  }
  expect((await service.ask('GET', `${path}/`, { headers: { 'x-api-key': 'stranger' } })).statusCode).toBe(404);
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
  expect(await reachedAt(url, `${path}/ws`, upgrade)).toMatch(new RegExp(`/services/fairlead-${rid}:http/proxy/ws$`));
});

/** The status of a request for a path as it is, or the path at which its WebSocket has arrived. */
function reachedAt(url: string, path: string, more: object = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    send(url, { path, headers: { 'x-api-key': 'invoker', ...more } })
      .once('upgrade', (answer, socket) => {
        socket.destroy();
        resolve(answer.headers['x-path']);
      })
      .once('response', (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
      .once('error', reject)
      .end();
  });
}

it('it has the secrets only if a gate says so, and never the data of its deployment', async () => {
  const id = await deployed();
  const more = {
    secret_references: [{ name: 'DB', secret_name: 'db', secret_key: 'password' }],
    resource_spec: { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] },
  };
  const podOf = (rid: string) => cluster.find('Deployment', `fairlead-${rid}`)!.spec!.template as Pod;
  const namesOf = (rid: string) => podOf(rid).spec.containers[0]!.env.map(({ name }) => name);
  const rid = await held(id, [gate()], more);
  await answers(id);
  expect(namesOf(rid)).not.toEqual(expect.arrayContaining(['TOKEN']));
  expect(namesOf(rid)).not.toContain('DB');
  expect(podOf(rid).spec.serviceAccountName).toBeUndefined();
  expect(cluster.find('Secret', `fairlead-${rid}-${rid}`)).not.toHaveProperty('data');
  expect(podOf(rid).spec.volumes).toEqual([{ name: 'data', emptyDir: {} }]);
  const trusted = await held(id, [gate({ preview_secrets: true })], more);
  await move(id, rid, 'SKIPPED');
  await until(
    () => previewOf(id),
    (path) => path === `/apps/agent@${trusted}`,
  );
  expect(namesOf(trusted)).toEqual(expect.arrayContaining(['TOKEN', 'DB']));
  expect(podOf(trusted).spec.volumes).toEqual([{ name: 'data', emptyDir: {} }]);
  const mounts = { resource_spec: { volumes: [{ name: 's', secret: { secretName: 'db' } }] } };
  const refused = await held(id, [gate()], mounts);
  await move(id, trusted, 'SKIPPED');
  await until(
    () => logs(id, refused),
    (text) => text.includes('only with preview_secrets'),
  );
  await gone(trusted);
  expect(cluster.find('Deployment', `fairlead-${refused}`)).toBeUndefined();
  expect(await previewOf(id)).toBeNull();
});

it.each<[string, (id: string, rid: string) => Promise<unknown>]>([
  ['a refusal, or the end of its wait', (id, rid) => move(id, rid, 'DEPLOY_FAILED')],
  ['an interruption', (id, rid) => move(id, rid, 'INTERRUPTED')],
  ['a newer revision', (id, rid) => move(id, rid, 'SKIPPED')],
  ['the deletion of its deployment', (id) => service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }])],
])('%s ends it', async (_, end) => {
  const id = await deployed();
  const rid = await held(id);
  const path = await answers(id);
  await end(id, rid);
  await gone(rid);
  expect((await ask(`${path}/`)).statusCode).toBe(404);
});

it('its promotion ends it, and puts it in the place of the live one', async () => {
  const id = await deployed();
  const rid = await held(id);
  const path = await answers(id);
  await service.append(id, [{ type: 'RevisionReleased', data: { revision_id: rid, by: 'override' } }]);
  await service.reached(id, rid, 'DEPLOYED');
  expect((await ask(`${path}/`)).statusCode).toBe(404);
  const left = [...cluster.objects.values()].filter(({ metadata }) => metadata.name.startsWith(`fairlead-${rid}`));
  expect(left).toEqual([]);
  expect(cluster.find('Service', `fairlead-${id}`)).toBeDefined();
});

it('it does not run while its deployment is stopped', async () => {
  const id = await deployed();
  const rid = await held(id);
  const path = await answers(id);
  await service.append(id, [{ type: 'DeploymentStopRequested', data: {} }]);
  await gone(rid);
  expect((await ask(`${path}/`)).statusCode).toBe(503);
  await service.append(id, [{ type: 'DeploymentStartRequested', data: {} }]);
  expect(await answers(id)).toBe(path);
});

it('after a restart it goes on, and what is to end or was never known of is removed by its label', async () => {
  const [id, other] = [await deployed(), await deployed()];
  const [rid, late] = [await held(id), await held(other)];
  const path = await answers(id);
  await answers(other);
  const { uid } = cluster.find('Deployment', `fairlead-${rid}`)!.metadata;
  await service.stop();
  await move(other, late, 'INTERRUPTED');
  // What a process had begun that was killed, for a revision of which nothing else is known.
  const [at, kept] = [...cluster.objects].find(
    ([, { kind, metadata }]) => kind === 'Deployment' && metadata.name === `fairlead-${late}`,
  )!;
  const lost = '0198c0de-0000-7000-8000-000000000001';
  const labels = { ...(kept.metadata.labels as object), 'fairlead.dev/revision-id': lost };
  const metadata = { ...kept.metadata, name: `fairlead-${lost}`, labels, uid: lost };
  cluster.objects.set(at.replace(late, lost), { ...kept, metadata });
  await start();
  await gone(late);
  await gone(lost);
  cluster.program = () => [200, {}, 'here'];
  expect(await answers(id)).toBe(path);
  expect((await ask(`${path}/`)).payload).toBe('here');
  expect(cluster.find('Deployment', `fairlead-${rid}`)!.metadata.uid).toBe(uid);
});

it('a cluster that is gone for a while neither keeps it from ending nor from being answered with an error', async () => {
  const id = await deployed();
  const rid = await held(id);
  const path = await answers(id);
  cluster.failing = 503;
  const answer = await ask(`${path}/`);
  expect([answer.statusCode, answer.payload]).toEqual([503, expect.stringContaining('The deployment does not answer')]);
  expect(await previewOf(id)).toBeNull();
  await move(id, rid, 'DEPLOY_FAILED');
  await until(
    () => service.hostStatuses(id),
    (statuses) => statuses.at(-1) === 'UNKNOWN',
  );
  expect(cluster.find('Deployment', `fairlead-${rid}`)).toBeDefined();
  cluster.failing = undefined;
  await gone(rid);
  expect((await ask(`${path}/`)).statusCode).toBe(404);
});

it('one that does not get ready says why, and is left to the cluster', async () => {
  const id = await deployed();
  cluster.status = (name) => (name.endsWith(id) ? { replicas: 2, updatedReplicas: 2, availableReplicas: 2 } : {});
  cluster.pods = [
    {
      name: 'pod',
      containerStatuses: [{ name: 'agent', state: { waiting: { reason: 'ErrImagePull', message: 'not found' } } }],
    },
  ];
  const rid = await held(id);
  await until(
    () => logs(id, rid),
    (text) => /It does not answer at an address of its own while it waits: .*ErrImagePull/.test(text),
  );
  expect((await ask(`/apps/agent@${rid}/`)).statusCode).toBe(503);
  const applied = () => cluster.requests.filter(({ method, url }) => method === 'PATCH' && url.includes(rid)).length;
  const before = applied();
  await move(id, rid, 'INTERRUPTED');
  await gone(rid);
  expect(applied()).toBe(before);
});

it('one that is not ready within the time limit is not begun again', async () => {
  await service.stop();
  await start({ watchEvery: 50, timeLimit: 1000 });
  const id = await deployed();
  cluster.status = (name) => (name.endsWith(id) ? { replicas: 2, updatedReplicas: 2, availableReplicas: 2 } : {});
  cluster.pods = [
    { name: 'pod', containerStatuses: [{ name: 'agent', state: { waiting: { reason: 'ContainerCreating' } } }] },
  ];
  const rid = await held(id);
  await until(
    () => logs(id, rid),
    (text) => text.includes('It does not answer at an address of its own'),
  );
  const applied = () => cluster.requests.filter(({ method, url }) => method === 'PATCH' && url.includes(rid)).length;
  const before = applied();
  const looks = () => cluster.requests.filter(({ method, url }) => method === 'GET' && url.includes(id)).length;
  const seen = looks();
  await until(looks, (count) => count > seen + 3);
  expect(applied()).toBe(before);
});
