import { AllowList, Namespaces, parseAllowList } from '@fairlead/schema';
import { until } from '@fairlead/postgres/testing';
import { TestNamespace } from '../testing/test-namespace';
import { STRANGER, TENANT, TestRollouts } from '@fairlead/rollouts/testing';
import { KubernetesExecutor, type KubernetesSettings } from './kubernetes-executor';
import { KubernetesPlans } from './kubernetes-plans';

const OVERLAY = `
kind: '*'
metadata: { labels: { cost: '{workspace_id}' } }
---
kind: Deployment
spec: { revisionHistoryLimit: 0 }
`;
const ROUTE = `
apiVersion: networking.k8s.io/v1
kind: Ingress
spec:
  rules:
    - host: '{deployment_id}.agents.example'
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: '{name}', port: { name: http } } } }] }
`;

let service: TestRollouts;
/** Takes restricted pods only, and warns of others. */
let namespace: TestNamespace;
let theirs: TestNamespace;
let settings: KubernetesSettings;
beforeAll(async () => {
  const level = 'restricted';
  namespace = await TestNamespace.create({ 'pod-security.kubernetes.io/enforce': level });
  theirs = await TestNamespace.create({ 'pod-security.kubernetes.io/warn': level });
  service = await TestRollouts.create();
  settings = {
    namespaces: new Namespaces({ name: namespace.name }, [{ name: theirs.name, workspace: STRANGER }]),
    rules: { allow: new AllowList(parseAllowList('Secret/db')), level },
    nodes: { 'kubernetes.io/hostname': 'node-2' },
    overlay: OVERLAY,
    route: ROUTE,
    config: await namespace.config(),
    look: 100,
  };
  await service.start(new KubernetesExecutor(settings));
});
afterAll(async () => {
  await service?.drop();
  await namespace?.drop();
  await theirs?.drop();
});

const image = { source: 'external_container', source_revision_config: { image_uri: 'registry.example/agent:1.2' } };
const withSpec = (resource_spec: object) => ({ ...image, resource_spec: { ...resource_spec } });
const privileged = { sidecars: [{ name: 'x', image: 'x/agent:1', securityContext: { privileged: true } }] };

/** Everything of a deployment in the namespaces of both workspaces. */
async function objectsOf(id: string): Promise<string[]> {
  const kinds = ['apps/v1/deployments', 'v1/services', 'v1/secrets', 'networking.k8s.io/v1/ingresses'];
  const lists = [namespace, theirs].flatMap((one) => kinds.map((kind) => one.list(kind)));
  const names = (await Promise.all(lists)).flat().map(({ metadata }) => metadata.name as string);
  return names.filter((name) => name.includes(id));
}

async function errors(id: string, rid: string): Promise<string[]> {
  const { json } = await service.logs(`${id}/revisions/${rid}/deploy_logs`, { level: 'ERROR' });
  return json.logs.map(({ message }: { message: string }) => message);
}

describe('in a real cluster, a workspace', () => {
  it.each([
    ['a namespace of another one', () => ({ listener_config: { cluster_namespace: theirs.name } }), {}, /may not use/],
    ['kube-system', () => ({ listener_config: { cluster_namespace: 'kube-system' } }), {}, /may not use/],
    ['the namespace default', () => ({ listener_config: { cluster_namespace: 'default' } }), {}, /may not use/],
    ['a privileged container', () => ({}), withSpec(privileged), /privileged must be false/],
    ['a service account', () => ({}), withSpec({ service_account_name: 'admin' }), /KUBERNETES_ALLOW does not list/],
    [
      'a volume of the node',
      () => ({}),
      withSpec({ volumes: [{ name: 'v', hostPath: { path: '/' } }] }),
      /exactly one/,
    ],
  ])('cannot have %s, and nothing is applied', async (_, config, wanted, cause) => {
    const id = await service.deployment(config());
    const rid = await service.revision(id, { ...image, ...wanted });
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect(await errors(id, rid)).toEqual([expect.stringMatching(cause)]);
    expect(await objectsOf(id)).toEqual([]);
  });

  it('cannot read the Secret of another deployment', async () => {
    const [victim, id] = [await service.deployment({}, { TOKEN: 'sesame-open' }), await service.deployment()];
    const theirs = await service.revision(victim, image);
    await service.reached(victim, theirs, 'DEPLOYED');
    const secret_name = `fairlead-${victim}-${theirs}`;
    expect(await namespace.get(`v1/secrets/${secret_name}`)).toBeDefined();
    const secret_references = [{ name: 'THEIRS', secret_name, secret_key: 'TOKEN' }];
    const rid = await service.revision(id, { ...image, secret_references });
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect(await errors(id, rid)).toEqual([expect.stringMatching(/may not be fairlead-.*those of Fairlead/)]);
  });

  it('has pods that a restricted namespace takes, without a token of their service account', async () => {
    const id = await service.deployment();
    const containers = {
      init_containers: [{ name: 'a', image: 'x/agent:1' }],
      sidecars: [{ name: 'b', image: 'x/b' }],
    };
    await service.reached(id, await service.revision(id, withSpec(containers)), 'DEPLOYED');
    const pods = (await namespace.pods()).filter(({ metadata }) => metadata!.name!.includes(id));
    expect(pods).toHaveLength(1);
    expect(pods[0]!.spec).toMatchObject({ automountServiceAccountToken: false, nodeName: 'node-2' });
    expect(JSON.stringify(pods[0]!.spec)).not.toContain('serviceAccountToken');
  });
});

describe('in a real cluster, a plan', () => {
  const plans = (more: Partial<KubernetesSettings> = {}) => new KubernetesPlans({ ...settings, ...more });
  const planned = (wanted: object) => ({
    tenantId: TENANT,
    deploymentId: '0198c0de-0000-7000-8000-000000000001',
    name: 'agent',
    config: {},
    revision: {
      ...{ revision_id: '0198c0de-0000-7000-8000-000000000002', deployment_id: '0198c0de-0000-7000-8000-000000000001' },
      ...{ source: 'external_container', source_revision_config: image.source_revision_config, resource_spec: null },
      ...{ secrets: [{ name: 'TOKEN', sealed: { subject: 's', sealed: 'sealed' } }], secret_references: null },
      ...wanted,
    },
  });

  it('is what the cluster says, and nothing is stored', async () => {
    const { deploymentId } = planned({});
    const spec = { min_scale: 2, max_scale: 3, queue_min_scale: 1 };
    expect(await plans().rehearse(planned(withSpec(spec)))).toEqual({ warnings: [] });
    expect(await objectsOf(deploymentId)).toEqual([]);
    const refused = await plans().rehearse(planned(withSpec({ labels: { team: 'a b' } })));
    expect(refused.refusal).toMatch(/^The cluster refuses \(422\): .*"a b"/);
    const volumes = [{ name: 'v', flexVolume: {} }];
    expect(plans().refusal(planned(withSpec({ volumes })))).toMatch(/^volumes\[0\] \(v\) must have exactly one of/);
  });

  it('has the warnings of the cluster, and says that a namespace is missing', async () => {
    const rules = { allow: new AllowList(), level: 'privileged' as const };
    const warned = await plans({ rules, namespaces: new Namespaces({ name: theirs.name }) }).rehearse(
      planned(withSpec(privileged)),
    );
    expect(warned).toEqual({ warnings: [expect.stringMatching(/^would violate PodSecurity "restricted/)] });
    const missing = plans({ namespaces: new Namespaces({ name: 'not-there' }) });
    expect(await missing.rehearse(planned({}))).toMatchObject({ refusal: 'The cluster has no namespace not-there.' });
  });
});

describe('in a real cluster, what an operator sets', () => {
  it('is part of every object: labels, an overlay, nodes, a budget and an address', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    const rid = await service.revision(id, withSpec({ min_scale: 2, max_scale: 3 }));
    await service.reached(id, rid, 'DEPLOYED');
    const name = `fairlead-${id}`;
    const labels = {
      'app.kubernetes.io/name': 'agent',
      'app.kubernetes.io/version': '1.2',
      'fairlead.dev/workspace-id': TENANT,
      'fairlead.dev/revision-id': rid,
      cost: TENANT,
    };
    const paths = ['apps/v1/deployments', 'v1/services', 'networking.k8s.io/v1/ingresses'];
    paths.push('autoscaling/v2/horizontalpodautoscalers', 'policy/v1/poddisruptionbudgets');
    for (const path of paths) expect(await namespace.get(`${path}/${name}`)).toMatchObject({ metadata: { labels } });
    expect(await namespace.get(`v1/secrets/${name}-${rid}`)).toMatchObject({ metadata: { labels } });
    const { spec } = await namespace.get(`networking.k8s.io/v1/ingresses/${name}`);
    expect(spec.rules[0].host).toBe(`${id}.agents.example`);
    const pods = (await namespace.pods()).filter(({ metadata }) => metadata!.name!.includes(id));
    expect(pods.map((pod) => pod.spec!.nodeName)).toEqual(['node-2', 'node-2']);
    expect(pods[0]!.spec!.topologySpreadConstraints).toHaveLength(2);
    await until(
      () => namespace.get(`policy/v1/poddisruptionbudgets/${name}`),
      ({ status }) => status?.disruptionsAllowed === 1,
    );
  });

  it('lets Secrets of former revisions go with their ReplicaSets', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    const rids: string[] = [];
    while (rids.length < 3) {
      rids.push(await service.revision(id, image));
      await service.reached(id, rids.at(-1)!, 'DEPLOYED');
      await until(
        () => namespace.list('apps/v1/replicasets'),
        (sets) => sets.filter(({ metadata }) => metadata.name.includes(id)).length === 1,
      );
    }
    const names = (await namespace.list('v1/secrets')).map(({ metadata }) => metadata.name as string);
    expect(names).toContain(`fairlead-${id}-${rids[2]}`);
    expect(names).not.toContain(`fairlead-${id}-${rids[0]}`);
  });

  it('is said when it cannot work', async () => {
    const { signal } = new AbortController();
    const check = (more: Partial<KubernetesSettings>) => new KubernetesExecutor({ ...settings, ...more }).check(signal);
    expect(await check({})).toBeUndefined();
    const missing = { namespaces: new Namespaces({ name: 'not-there' }) };
    expect(await check(missing)).toBe('The cluster has no namespace not-there.');
  });
});
