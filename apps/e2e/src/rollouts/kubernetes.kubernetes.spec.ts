import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { rendered, TestNamespace } from '@fairlead/executors/testing';
import { readSettings } from '@fairlead/service';
import { Home, type Service } from '../testing';

const FOLDER = join(__dirname, '../../../../docker/kubernetes');
const KEY = 'a-key-of-the-operator';
const ROUTE = `
apiVersion: networking.k8s.io/v1
kind: Ingress
spec:
  rules:
    - host: '{deployment_id}.agents.example'
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: '{name}', port: { name: http } } } }] }
`;

let home: Home;
let namespace: TestNamespace;
let service: Service;

/** Fairlead runs as the service account of the Kustomize directories, with the role that these give it. */
beforeAll(async () => {
  home = new Home();
  namespace = await TestNamespace.create();
  const accounts = (await rendered(join(FOLDER, 'base'))).filter(({ kind }) => kind === 'ServiceAccount');
  for (const object of [...accounts, ...(await rendered(join(FOLDER, 'agents-with-routes')))]) {
    const subjects = [{ kind: 'ServiceAccount', name: 'fairlead', namespace: namespace.name }];
    await namespace.apply(object.kind === 'RoleBinding' ? ({ ...object, subjects } as typeof object) : object);
  }
  const kubeconfig = join(home.path, 'kubeconfig');
  writeFileSync(kubeconfig, (await namespace.config('fairlead')).exportConfig(), { mode: 0o600 });
  service = await home.start({
    EXECUTOR: 'kubernetes',
    KUBERNETES_NAMESPACE: namespace.name,
    KUBERNETES_ROUTE: ROUTE,
    KUBECONFIG: kubeconfig,
    FAIRLEAD_API_KEY: KEY,
  });
});
afterAll(async () => {
  await home?.end();
  await namespace?.drop();
});

const send = (method: string, path: string, body?: object) => ask(method, `/v2/deployments${path}`, body);

async function ask(method: string, path: string, body?: object) {
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
}

const ended = (id: string, revision: string) => send('GET', `/${id}/revisions/${revision}/wait?timeout=120`);

/** The images of the deployment's pods that are ready. */
async function running(id: string): Promise<string[]> {
  const pods = (await namespace.pods()).filter((pod) => pod.metadata!.labels!['fairlead.dev/deployment-id'] === id);
  const ready = pods.filter(({ metadata, status }) => {
    return !metadata!.deletionTimestamp && status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True');
  });
  return ready.map(({ spec }) => spec!.containers[0]!.image!);
}

async function deployLog(id: string, revision: string): Promise<string> {
  const answer = await fetch(`${service.url}/v1/projects/${id}/revisions/${revision}/deploy_logs`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: '{}',
  });
  return answer.text();
}

it('creates, changes, interrupts, rolls back and deletes a deployment in a real cluster, and needs its whole role for that', async () => {
  const created = await send('POST', '', {
    name: 'agent',
    source: 'external_container',
    source_config: { resource_spec: { min_scale: 2, max_scale: 4, queue_min_scale: 1, cpu: 0.5 } },
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    secrets: [{ name: 'TOKEN', value: 'sesame-open' }],
  });
  const first = created.latest_revision_id as string;
  expect(await ended(created.id, first)).toMatchObject({ status: 'DEPLOYED' });
  expect(await running(created.id)).toEqual(Array.from({ length: 3 }, () => 'registry.example/agent:1'));

  const changed = await send('PATCH', `/${created.id}`, {
    source_revision_config: { image_uri: 'registry.example/agent:2' },
    source_config: { resource_spec: { queue_min_scale: null, max_scale: null } },
  });
  expect(await ended(created.id, changed.latest_revision_id)).toMatchObject({ status: 'DEPLOYED' });
  await until(
    () => running(created.id),
    (images) => images.length > 0 && images.every((image) => image.endsWith(':2')),
  );

  const { latest_revision_id: ill } = await send('PATCH', `/${created.id}`, {
    source_revision_config: { image_uri: 'registry.example/missing:1' },
  });
  await until(
    () => deployLog(created.id, ill),
    (log) => /missing:1.*not found/.test(log),
  );
  await send('POST', `/${created.id}/revisions/${ill}/interrupt`);
  await until(
    () => running(created.id),
    (images) => images.length > 0 && images.every((image) => image.endsWith(':2')),
  );
  expect(await send('GET', `/${created.id}/health`)).toMatchObject({ deployment_id: created.id });

  const back = await send('POST', `/${created.id}/revisions/${first}/redeploy`);
  expect(await ended(created.id, back.latest_revision_id)).toMatchObject({ status: 'DEPLOYED' });
  await until(
    () => running(created.id),
    (images) => images.length > 0 && images.every((image) => image.endsWith(':1')),
  );

  // A revision that its gates hold is reached through the API server, and ends when it is interrupted.
  const { id: dataset_id } = await ask('POST', '/api/v1/datasets', { name: 'questions' });
  const gates = [{ name: 'g', dataset_id, keys: { correct: { min_mean: 0.9 } }, preview: true }];
  await send('PUT', `/${created.id}/gates`, { gates });
  const { latest_revision_id: held } = await send('PATCH', `/${created.id}`, {
    source_revision_config: { image_uri: 'registry.example/here:1' },
  });
  const { latest_revision } = await until(
    () => send('GET', `/${created.id}/health`),
    ({ latest_revision: { preview } }) => preview !== null,
  );
  const program = createServer(({ method, url, headers }, response) => {
    const given = headers['x-api-key'] ?? headers['authorization'] ?? headers['impersonate-user'];
    response.end(JSON.stringify({ method, url, given }));
  });
  await new Promise<void>((resolve) => program.listen(8000, '0.0.0.0', resolve));
  const reached = async (method: string) => {
    const headers = { 'x-api-key': KEY, authorization: 'Bearer own', 'impersonate-user': 'admin' };
    const answer = await fetch(`${service.url}${latest_revision.preview}/threads?limit=1`, { method, headers });
    return [answer.status, await answer.json()];
  };
  // The addresses of pods are known to the API server a moment after they are ready.
  await until(
    () => reached('GET'),
    ([status]) => status === 200,
  );
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
    expect(await reached(method)).toEqual([200, { method, url: '/threads?limit=1' }]);
  }
  program.closeAllConnections();
  program.close();
  await send('POST', `/${created.id}/revisions/${held}/interrupt`);
  for (const path of ['apps/v1/deployments', 'v1/services', 'v1/secrets', 'v1/pods']) {
    await until(
      () => namespace.list(path),
      (objects) => !objects.some(({ metadata }) => metadata.name.startsWith(`fairlead-${held}`)),
    );
  }

  const address = `networking.k8s.io/v1/ingresses/fairlead-${created.id}`;
  expect((await namespace.get(address)).spec.rules[0].host).toBe(`${created.id}.agents.example`);

  // What runs is looked at every minute, which reads everything, the route last.
  await until(
    () => namespace.asked('fairlead'),
    (asked) => asked.includes('networking.k8s.io ingresses get 200'),
  );
  await send('DELETE', `/${created.id}`);
  await until(
    () => namespace.list('v1/pods'),
    (pods) => pods.length === 0,
  );
  for (const path of ['apps/v1/deployments', 'v1/services', 'autoscaling/v2/horizontalpodautoscalers']) {
    expect(await namespace.list(path)).toEqual([]);
  }
  expect(await namespace.list('v1/secrets')).toEqual([]);
  await until(async () => (await namespace.get(address)) === undefined);
  const isKnown = async () =>
    (await fetch(`${service.url}/v2/deployments/${created.id}`, { headers: { 'x-api-key': KEY } })).ok;
  await until(async () => !(await isKnown()));

  const { rules } = await namespace.get('rbac.authorization.k8s.io/v1/roles/fairlead');
  const allowed = (rules as { apiGroups: string[]; resources: string[]; verbs: string[] }[]).flatMap((rule) =>
    rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((resource) => rule.verbs.map((verb) => `${group || 'core'} ${resource} ${verb}`)),
    ),
  );
  const asked = namespace.asked('fairlead');
  expect(asked.filter((request) => request.endsWith(' 403'))).toEqual([]);
  // Applying what is not there asks for two verbs, and is recorded as one.
  const patched = asked
    .filter((request) => request.endsWith(' patch 201'))
    .map((one) => one.replace('patch', 'create'));
  const used = new Set([...asked, ...patched].map((request) => request.replace(/ \d+$/, '')));
  // This control plane knows no HTTPRoutes: the verbs are those of an Ingress, which is deleted when the setting changes.
  const others = allowed.filter(
    (verb) =>
      !verb.startsWith('gateway.networking.k8s.io httproutes ') && verb !== 'networking.k8s.io ingresses delete',
  );
  expect(others.filter((verb) => !used.has(verb))).toEqual([]);
}, 600_000);

describe('Fairlead itself', () => {
  let objects: Awaited<ReturnType<typeof rendered>>;
  const ofKind = (wanted: string) => objects.find(({ kind }) => kind === wanted) as ReturnType<typeof JSON.parse>;
  const secrets = {
    DATABASE_URL: 'postgres://fairlead:password@postgres:5432/fairlead',
    FAIRLEAD_API_KEY: KEY,
    FAIRLEAD_MASTER_KEY: 'ab'.repeat(32),
  };
  let restricted: TestNamespace;
  beforeAll(async () => {
    objects = await rendered(join(FOLDER, 'base'));
    restricted = await TestNamespace.create(ofKind('Namespace').metadata.labels);
  });
  afterAll(() => restricted.drop());

  it('runs in its namespace, which takes restricted pods only', async () => {
    const privileged = { name: 'agent', image: 'registry.example/agent:1', securityContext: { privileged: true } };
    const pod = { metadata: { name: 'privileged' }, spec: { containers: [privileged] } };
    await expect(restricted.create('v1/pods', pod)).rejects.toThrow(/violates PodSecurity "restricted/);
    await restricted.create('v1/secrets', { metadata: { name: 'fairlead' }, stringData: secrets });
    for (const object of objects) if (object.kind !== 'Namespace') await restricted.apply(object);
    const { status } = await until(
      () => restricted.get('apps/v1/deployments/fairlead'),
      ({ status }) => status.availableReplicas === 1,
    );
    expect(status).toMatchObject({ replicas: 1, updatedReplicas: 1 });
    const [slice] = await until(
      () => restricted.list('discovery.k8s.io/v1/endpointslices'),
      ([slice]) => slice?.endpoints?.length === 1,
    );
    expect(slice).toMatchObject({ ports: [{ port: 4600 }] });
  });

  it('has settings that are understood, and runs as a user that is a number', () => {
    const { spec } = ofKind('Deployment').spec.template;
    const [{ env, image }] = spec.containers;
    const given = (env as { name: string; value: string }[]).map(({ name, value }) => [name, value] as const);
    const settings = readSettings({ ...secrets, ...Object.fromEntries(given) });
    expect(settings).toMatchObject({ rollouts: { executor: 'kubernetes' }, databaseUrl: secrets.DATABASE_URL });
    expect(image).toBe('registry.example/fairlead:1');
    expect(readFileSync(join(FOLDER, '../Dockerfile'), 'utf8')).toMatch(/^USER 1000:1000$/m);
    expect(spec.securityContext).toMatchObject({ runAsUser: 1000, runAsGroup: 1000 });
  });
});
