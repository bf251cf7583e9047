import { AllowList, Namespaces, parseAllowList } from '@fairlead/schema';
import { until } from '@fairlead/postgres/testing';
import { KubernetesExecutor, type KubernetesSettings } from './kubernetes-executor';
import { FakeCluster } from '../testing/fake-cluster';
import type { RolloutsOptions } from '@fairlead/rollouts';
import { STRANGER, TENANT, TestRollouts } from '@fairlead/rollouts/testing';

let service: TestRollouts;
let cluster: FakeCluster;
const OVERLAY = `
kind: '*'
metadata: { labels: { cost: '{workspace_id}' } }
---
kind: Deployment
spec: { template: { spec: { containers: [{ name: agent, env: [{ name: PROXY, value: proxy }] }] } } }
`;
const PROXY = { name: 'PROXY', value: 'proxy' };
const ROUTE = `
apiVersion: networking.k8s.io/v1
kind: Ingress
spec:
  tls: [{ hosts: ['*.agents.example'] }]
  rules:
    - host: '{deployment_id}.agents.example'
      http: { paths: [{ path: /, pathType: Prefix, backend: { service: { name: '{name}', port: { name: http } } } }] }
`;
/** Settings with short times. */
const settings = (): KubernetesSettings => ({
  config: cluster.config(),
  namespaces: new Namespaces({ name: 'elsewhere' }, [{ name: 'agents' }, { name: 'theirs', workspace: STRANGER }]),
  rules: {
    allow: new AllowList(parseAllowList('Secret/db,Secret/pull,ServiceAccount/runner')),
    level: 'restricted',
  },
  nodes: { disk: 'ssd' },
  overlay: OVERLAY,
  route: ROUTE,
  look: 20,
  deadline: 30_000,
  patience: 1000,
});

beforeEach(async () => {
  service = await TestRollouts.create();
  cluster = await FakeCluster.start();
  await service.start(new KubernetesExecutor(settings()));
});
afterEach(async () => {
  await service.drop();
  await cluster.stop();
});

const image = (image_uri: string) => ({ source: 'external_container', source_revision_config: { image_uri } });
const agents = { listener_config: { cluster_namespace: 'agents' } };
const SPEC = {
  min_scale: 2,
  max_scale: 5,
  cpu: 0.5,
  cpu_limit: 2,
  memory_mb: 512,
  memory_limit_mb: 1024,
  queue_min_scale: 3,
  queue_cpu: 1,
  cache_memory_mb: 256,
  db_storage_gi: 10,
  labels: { team: 'blue', size: 1, old: null },
  annotations: { note: 'x', tags: ['a', true] },
  service_account_name: 'runner',
  image_pull_secrets: [{ name: 'pull' }],
  volumes: [{ name: 'tmp', emptyDir: {} }],
  volume_mounts: [{ name: 'tmp', mountPath: '/scratch' }],
  init_containers: [{ name: 'init', image: 'busybox' }],
  sidecars: [
    { name: 'proxy', image: 'envoy', resources: { limits: { cpu: 1 }, requests: { cpu: 0.5, memory: '1Gi' } } },
  ],
};

/** Security context that the Pod Security level `restricted` requires of a container. */
const RESTRICTED = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
};
const messages = async (id: string, rid: string, query: object = {}): Promise<string[]> => {
  const { json } = await service.logs(`${id}/revisions/${rid}/deploy_logs`, query);
  return json.logs.map(({ message }: { message: string }) => message);
};
/** The errors of a revision. What is done for its deployment after it has failed may be logged at any time later. */
const errors = (id: string, rid: string) => messages(id, rid, { level: 'ERROR' });
const lastLine = async (id: string, rid: string) => (await messages(id, rid)).at(-1) ?? '';
const last = async (id: string) => (await service.store.read(`host-${id}`)).at(-1)!;
const told = (id: string, status: string) =>
  until(
    () => last(id),
    ({ data }) => (data as { status?: string }).status === status,
  );

describe('the kubernetes executor', () => {
  it('applies the whole resource spec on the server side and waits until it is ready', async () => {
    const id = await service.deployment(agents, { TOKEN: 'sesame-open' });
    const references = [{ name: 'DB', secret_name: 'db', secret_key: 'password' }];
    const rid = await service.revision(id, { ...image('r/a:1'), resource_spec: SPEC, secret_references: references });
    expect(await service.reached(id, rid, 'DEPLOYED')).toEqual(['AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED']);
    const name = `fairlead-${id}`;
    expect(cluster.find('Secret', `${name}-${rid}`)).toMatchObject({
      metadata: { namespace: 'agents' },
      immutable: true,
      data: { TOKEN: Buffer.from('sesame-open').toString('base64') },
    });
    const server = cluster.find('Deployment', name)!;
    expect(server).toMatchObject({
      metadata: {
        labels: {
          team: 'blue',
          size: '1',
          'fairlead.dev/deployment-id': id,
          'app.kubernetes.io/managed-by': 'fairlead',
        },
        annotations: {
          note: 'x',
          tags: '["a",true]',
          'fairlead.dev/cache-memory-mb': '256',
          'fairlead.dev/db-storage-gi': '10',
        },
      },
      spec: {
        template: {
          metadata: { labels: { team: 'blue' }, annotations: { 'fairlead.dev/revision-id': rid } },
          spec: {
            serviceAccountName: 'runner',
            automountServiceAccountToken: false,
            imagePullSecrets: [{ name: 'pull' }],
            volumes: [{ name: 'tmp', emptyDir: {} }],
            initContainers: [{ name: 'init', image: 'busybox', securityContext: RESTRICTED }],
            containers: [
              {
                image: 'r/a:1',
                securityContext: RESTRICTED,
                resources: { requests: { cpu: '0.5', memory: '512M' }, limits: { cpu: '2', memory: '1024M' } },
                volumeMounts: [{ name: 'tmp', mountPath: '/scratch' }],
              },
              {
                name: 'proxy',
                image: 'envoy',
                securityContext: RESTRICTED,
                resources: { limits: { cpu: '1' }, requests: { cpu: '0.5', memory: '1Gi' } },
              },
            ],
          },
        },
      },
    });
    expect(server.metadata.labels).not.toHaveProperty('old');
    const applied = cluster.requests.find(({ url }) => url.includes(`/deployments/${name}?fieldManager`));
    expect(applied!.body).not.toHaveProperty('spec.replicas');
    expect(server.spec).toMatchObject({ replicas: 2 });
    const { template } = server.spec as { template: { spec: { containers: { env: object[] }[] } } };
    expect(template.spec.containers[0]!.env).toEqual(
      expect.arrayContaining([
        { name: 'TOKEN', valueFrom: { secretKeyRef: { name: `${name}-${rid}`, key: 'TOKEN' } } },
        { name: 'DB', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
      ]),
    );
    expect(cluster.find('HorizontalPodAutoscaler', name)).toMatchObject({
      spec: { scaleTargetRef: { kind: 'Deployment', name }, minReplicas: 2, maxReplicas: 5 },
    });
    expect(cluster.find('Service', name)).toMatchObject({ spec: { selector: { 'fairlead.dev/role': 'server' } } });
    expect(cluster.find('Deployment', `${name}-queue`)).toMatchObject({ spec: { replicas: 3 } });
    const patches = cluster.requests.filter(({ method }) => method === 'PATCH');
    expect(patches).toHaveLength(10);
    for (const { agent, type, url } of patches) {
      expect(type).toBe('application/apply-patch+yaml');
      expect(agent).toBe('fairlead');
      expect(url).toMatch(/fieldManager=fairlead/);
    }
  });

  it('gives each revision a Secret of its own, which goes with the last ReplicaSet that uses it', async () => {
    cluster.history = 1;
    const secrets = () => [...cluster.objects.values()].filter(({ kind }) => kind === 'Secret');
    const id = await service.deployment(agents, { TOKEN: 'sesame-open' });
    const rids: string[] = [];
    for (const uri of ['a:1', 'a:2', 'a:3']) {
      rids.push(await service.revision(id, image(uri)));
      await service.reached(id, rids.at(-1)!, 'DEPLOYED');
    }
    expect(secrets().map(({ metadata }) => metadata.name)).toEqual(rids.slice(1).map((rid) => `fairlead-${id}-${rid}`));
  });

  it('lets everything belong to the first Deployment', async () => {
    const id = await service.deployment(agents);
    await service.reached(id, await service.revision(id, { ...image('a:1'), resource_spec: SPEC }), 'DEPLOYED');
    const { uid } = cluster.find('Deployment', `fairlead-${id}`)!.metadata;
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: `fairlead-${id}`, uid };
    const owners = [...cluster.objects.values()]
      .filter(({ kind }) => kind !== 'ReplicaSet')
      .map(({ kind, metadata }) => [kind, metadata.ownerReferences]);
    expect(owners).toEqual([
      ['Secret', [owner]],
      ['Deployment', undefined],
      ['HorizontalPodAutoscaler', [owner]],
      ['PodDisruptionBudget', [owner]],
      ['Deployment', [owner]],
      ['PodDisruptionBudget', [owner]],
      ['Service', [owner]],
      ['Ingress', [owner]],
    ]);
  });

  it('takes away what a later revision no longer has', async () => {
    const id = await service.deployment(agents);
    await service.reached(id, await service.revision(id, { ...image('a:1'), resource_spec: SPEC }), 'DEPLOYED');
    await service.reached(id, await service.revision(id, { ...image('a:2'), resource_spec: { cpu: 1 } }), 'DEPLOYED');
    const kinds = new Set([...cluster.objects.values()].map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(['Deployment', 'Ingress', 'ReplicaSet', 'Secret', 'Service']);
    expect(cluster.find('Deployment', `fairlead-${id}-queue`)).toBeUndefined();
    expect(cluster.find('Deployment', `fairlead-${id}`)).toMatchObject({ spec: { replicas: 1 } });
  });

  it('fails when Kubernetes gives the rollout up, and tells what containers wait for', async () => {
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    cluster.pods = [{ name: 'pod-1', containerStatuses: [{ name: 'agent', state: { waiting } }] }];
    const conditions = [{ type: 'Progressing', status: 'False', message: 'has timed out progressing' }];
    cluster.status = () => ({ replicas: 1, conditions });
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect(await messages(id, rid)).toContain('pod-1/agent waits: ImagePullBackOff, no such image');
    expect((await errors(id, rid)).at(-1)).toBe(
      `pod-1/agent waits: ImagePullBackOff, no such image (fairlead-${id}: has timed out progressing)`,
    );
  });

  it('fails soon for an error that does not mend itself, and its last line is the first cause', async () => {
    cluster.status = () => ({ replicas: 1, updatedReplicas: 1 });
    const conditions = [{ type: 'Ready', status: 'False' }];
    const waiting = { reason: 'PodInitializing' };
    const terminated = { exitCode: 3, reason: 'Error', message: 'no migration 7' };
    const initContainerStatuses = [{ name: 'migrate', state: { terminated } }];
    cluster.pods = [
      { name: 'pod-1', conditions, initContainerStatuses, containerStatuses: [{ name: 'agent', state: { waiting } }] },
    ];
    const involvedObject = { kind: 'Pod', name: 'pod-1' };
    cluster.events = [
      { type: 'Warning', reason: 'Unhealthy', message: 'Startup probe failed', involvedObject },
      {
        type: 'Warning',
        reason: 'Unhealthy',
        message: 'of another one',
        involvedObject: { ...involvedObject, name: 'x' },
      },
    ];
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect((await errors(id, rid)).at(-1)).toBe('pod-1/migrate ended with exit code 3: no migration 7');
    const lines = await messages(id, rid);
    expect(lines).toContain('pod-1: Unhealthy, Startup probe failed');
    expect(lines.join()).not.toContain('of another one');
  });

  it('does not call an agent deployed that is started again and again', async () => {
    let restartCount = 1;
    const lastState = { terminated: { exitCode: 1, reason: 'Error' } };
    cluster.status = () => {
      const containerStatuses = [{ name: 'agent', state: { running: {} }, lastState, restartCount: restartCount++ }];
      cluster.pods = [{ name: 'pod-1', containerStatuses }];
      return { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
    };
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('a:1'));
    expect((await service.reached(id, rid, 'DEPLOY_FAILED')).at(-1)).toBe('DEPLOY_FAILED');
    expect((await errors(id, rid)).at(-1)).toBe('pod-1/agent ended with exit code 1');
  });

  it('hands the number of replicas over to an autoscaler, and is deployed when min_scale of them are there', async () => {
    const id = await service.deployment(agents);
    const roll = async (resource_spec: object) => {
      await service.reached(
        id,
        await service.revision(id, { ...image('a:1'), resource_spec: { ...resource_spec } }),
        'DEPLOYED',
      );
      return cluster.find('Deployment', `fairlead-${id}`)!.spec!.replicas;
    };
    expect(await roll({ min_scale: 3, max_scale: 5 })).toBe(3);
    cluster.scale(`fairlead-${id}`, 5);
    expect(await roll({ min_scale: 2, max_scale: 6 })).toBe(5);
    expect(await roll({ min_scale: 4 })).toBe(4);
    expect(await roll({ min_scale: 2, max_scale: 6 })).toBe(4);
    expect(await roll({ min_scale: 0, max_scale: 6 })).toBe(0);
    expect(cluster.find('HorizontalPodAutoscaler', `fairlead-${id}`)).toBeUndefined();
    expect(await roll({ min_scale: 2, max_scale: 6 })).toBe(2);
  });

  it('tries the port of an agent, or the path that is named, before it is ready', async () => {
    const id = await service.deployment(agents);
    const templateOf = async (annotations: object) => {
      const wanted = { ...image('a:1'), resource_spec: { annotations } };
      await service.reached(id, await service.revision(id, wanted), 'DEPLOYED');
      return cluster.find('Deployment', `fairlead-${id}`)!.spec;
    };
    const probed = (how: object) => ({
      minReadySeconds: 10,
      template: { spec: { containers: [{ startupProbe: how, readinessProbe: how }] } },
    });
    expect(await templateOf({})).toMatchObject(probed({ tcpSocket: { port: 8000 } }));
    const path = { 'fairlead.dev/health-path': '/ok' };
    expect(await templateOf(path)).toMatchObject(probed({ httpGet: { path: '/ok', port: 8000 } }));
  });

  it('does not keep others waiting while revisions wait for the cluster', async () => {
    await service.stop();
    service.options = { concurrency: 1 };
    await service.start(new KubernetesExecutor(settings()));
    cluster.status = () => ({ replicas: 1, updatedReplicas: 1 });
    const waiting: [string, string][] = [];
    for (let count = 0; count < 3; count++) {
      const id = await service.deployment(agents);
      waiting.push([id, await service.revision(id, image('a:1'))]);
    }
    for (const [id, rid] of waiting) await service.reached(id, rid, 'DEPLOYING');
    cluster.status = undefined;
    for (const [id, rid] of waiting) await service.reached(id, rid, 'DEPLOYED');
  });

  it('stops, starts and restarts what runs, which is seen to again once it runs', async () => {
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOYED');
    const said = async (message: string) => {
      const messages = async () => {
        const { json } = await service.logs(`${id}/revisions/${rid}/deploy_logs`);
        return (json.logs as { message: string }[]).map((line) => line.message);
      };
      await until(messages, (all) => all.includes(message));
    };
    const replicas = () => cluster.find('Deployment', `fairlead-${id}`)!.spec!.replicas;
    await service.append(id, [{ type: 'DeploymentStopRequested', data: {} }]);
    await said('Stopped.');
    expect(replicas()).toBe(0);
    await service.append(id, [{ type: 'DeploymentStartRequested', data: {} }]);
    await said('Started.');
    expect(replicas()).toBe(1);
    await service.append(id, [{ type: 'DeploymentRestartRequested', data: {} }]);
    await said('Restarted.');
    expect(replicas()).toBe(1);
  });

  it('stops nothing that may not be started again, and says when it may not stop', async () => {
    const id = await service.deployment(agents);
    const secret_references = [{ name: 'DB', secret_name: 'db', secret_key: 'password' }];
    const rid = await service.revision(id, { ...image('a:1'), secret_references });
    await service.reached(id, rid, 'DEPLOYED');
    const fails = (reason: string) =>
      until(
        () => errors(id, rid),
        (all) => all.some((message) => message.startsWith(reason)),
      );
    const replicas = () => cluster.find('Deployment', `fairlead-${id}`)!.spec!.replicas;
    await service.stop();
    const rules = { allow: new AllowList(parseAllowList('Secret/pull')), level: 'restricted' as const };
    await service.start(new KubernetesExecutor({ ...settings(), rules }));
    await service.append(id, [{ type: 'DeploymentRestartRequested', data: {} }]);
    await fails('It did not restart: secret_references[0].secret_name may not be db');
    expect(replicas()).toBe(1);
    await service.stop();
    const namespaces = new Namespaces({ name: 'elsewhere' }, []);
    await service.start(new KubernetesExecutor({ ...settings(), namespaces }));
    await service.append(id, [{ type: 'DeploymentStopRequested', data: {} }]);
    await fails('It did not stop: The workspace may not use the namespace agents');
    expect(replicas()).toBe(1);
  });

  it('does not keep others waiting while a refusal may pass', async () => {
    await service.stop();
    service.options = { concurrency: 1 };
    await service.start(new KubernetesExecutor({ ...settings(), patience: 60_000 }));
    const refused = await service.deployment(agents);
    cluster.instead = ({ method, url }) =>
      method === 'PATCH' && url.includes(refused) ? [403, { kind: 'Status', message: 'exceeded quota' }] : undefined;
    const waiting = await service.revision(refused, image('a:1'));
    await until(() => cluster.requests.some(({ method, url }) => method === 'PATCH' && url.includes(refused)));
    const id = await service.deployment(agents);
    await service.reached(id, await service.revision(id, image('a:1')), 'DEPLOYED');
    expect((await service.statuses(refused, waiting)).at(-1)).toBe('DEPLOYING');
    cluster.instead = undefined;
  });

  it('tells what runs, with what it uses where the cluster measures that', async () => {
    const id = await service.deployment(agents);
    await service.reached(id, await service.revision(id, image('a:1')), 'DEPLOYED');
    cluster.pods = [{ name: 'pod-1', conditions: [{ type: 'Ready', status: 'True' }] }];
    const pod = { name: 'pod-1', state: 'RUNNING', memory_bytes: null, cpu_cores: null };
    cluster.instead = ({ url }) => (url.includes('metrics.k8s.io') ? [404, {}] : undefined);
    expect((await service.health(id)).json).toMatchObject({ state: 'RUNNING', processes: [pod] });
    const odd = { items: [{ metadata: { name: 'pod-1' } }] };
    cluster.instead = ({ url }) => (url.includes('metrics.k8s.io') ? [200, odd] : undefined);
    expect((await service.health(id)).json).toMatchObject({ state: 'RUNNING', processes: [pod] });
    const containers = ['64Mi', '1Mi'].map((memory) => ({ usage: { memory, cpu: '100m' } }));
    const measured = { items: [{ metadata: { name: 'pod-1' }, containers }] };
    cluster.instead = ({ url }) => (url.includes('metrics.k8s.io') ? [200, measured] : undefined);
    const used = { memory_bytes: 65 * 1024 ** 2, cpu_cores: 0.2 };
    expect((await service.health(id)).json.processes).toEqual([expect.objectContaining({ ...pod, ...used })]);
    const asked = cluster.requests.findLast(({ url }) => url.includes('metrics.k8s.io'));
    expect(asked!.url).toContain(`labelSelector=fairlead.dev%2Fdeployment-id%3D${id}`);
    cluster.instead = () => [403, { kind: 'Status', message: 'pods is forbidden' }];
    const { state, detail } = (await service.health(id)).json;
    expect([state, detail]).toEqual(['UNKNOWN', 'The cluster refuses (403): pods is forbidden']);
  });

  it('stops watching when the revision is interrupted', async () => {
    cluster.status = () => ({ replicas: 1 });
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOYING');
    await service.interrupt(id, rid);
    cluster.status = undefined;
    await service.reached(id, await service.revision(id, image('a:2')), 'DEPLOYED');
  });

  describe('after a revision that was not deployed', () => {
    const imageOf = (id: string) => {
      const { template } = cluster.find('Deployment', `fairlead-${id}`)!.spec as {
        template: { spec: { containers: [{ image: string }] } };
      };
      return template.spec.containers[0].image;
    };
    const ready = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
    /** Lets a revision with this image never get ready, and no other one. */
    const breaks = (id: string, broken: string) => {
      const waiting = { reason: 'ErrImagePull', message: 'not found' };
      cluster.status = () => {
        const isBroken = imageOf(id) === broken;
        cluster.pods = isBroken ? [{ name: 'p', containerStatuses: [{ name: 'agent', state: { waiting } }] }] : [];
        return isBroken ? { replicas: 2, updatedReplicas: 1, availableReplicas: 1 } : ready;
      };
    };
    const ended = (id: string, rid: string, line: RegExp) =>
      until(
        () => lastLine(id, rid),
        (last) => line.test(last),
      );

    it('the one before it runs again, and its log says so', async () => {
      const id = await service.deployment(agents);
      const first = await service.revision(id, image('a:1'));
      await service.reached(id, first, 'DEPLOYED');
      breaks(id, 'a:2');
      const second = await service.revision(id, image('a:2'));
      await service.reached(id, second, 'DEPLOY_FAILED');
      expect(await ended(id, second, /runs again/)).toBe(`Revision ${first} runs again.`);
      expect(imageOf(id)).toBe('a:1');
      expect(await errors(id, second)).toEqual(['p/agent waits: ErrImagePull, not found']);
    });

    it('a newer one that took its place runs, and not the one before both', async () => {
      const id = await service.deployment(agents);
      await service.reached(id, await service.revision(id, image('a:1')), 'DEPLOYED');
      cluster.status = () => (imageOf(id) === 'a:2' ? { replicas: 2, updatedReplicas: 1 } : ready);
      const stuck = await service.revision(id, image('a:2'));
      await service.reached(id, stuck, 'DEPLOYING');
      await until(
        () => imageOf(id),
        (now) => now === 'a:2',
      );
      const newer = await service.replace(id, stuck, image('a:3'));
      await service.reached(id, newer, 'DEPLOYED');
      expect((await service.statuses(id, stuck)).at(-1)).toBe('INTERRUPTED');
      expect(await messages(id, stuck)).toContainEqual(
        expect.stringContaining(`the newer revision ${newer} took its place`),
      );
      expect(imageOf(id)).toBe('a:3');
      expect(await messages(id, stuck)).not.toContainEqual(expect.stringContaining('runs again'));
    });

    it('also when it was interrupted, and not while another one waits', async () => {
      const id = await service.deployment(agents);
      await service.reached(id, await service.revision(id, image('a:1')), 'DEPLOYED');
      cluster.status = () => (imageOf(id) === 'a:1' ? ready : { replicas: 2, updatedReplicas: 1 });
      const second = await service.revision(id, image('a:2'));
      await until(
        () => imageOf(id),
        (now) => now === 'a:2',
      );
      await service.interrupt(id, second);
      await ended(id, second, /runs again/);
      expect(imageOf(id)).toBe('a:1');
      const third = await service.revision(id, image('a:3'));
      await until(
        () => imageOf(id),
        (now) => now === 'a:3',
      );
      const fourth = await service.revision(id, image('a:1'));
      await service.interrupt(id, third);
      await service.reached(id, fourth, 'DEPLOYED');
      const { json } = await service.logs(`${id}/revisions/${third}/deploy_logs`);
      expect(JSON.stringify(json)).not.toContain('runs again');
    });

    it('nothing runs when it was the first one', async () => {
      const id = await service.deployment(agents);
      cluster.status = () => {
        const { replicas } = cluster.find('Deployment', `fairlead-${id}`)!.spec!;
        return { replicas, conditions: [{ type: 'Progressing', status: 'False', message: 'timed out' }] };
      };
      const rid = await service.revision(id, { ...image('a:1'), resource_spec: { min_scale: 2, max_scale: 3 } });
      await service.reached(id, rid, 'DEPLOY_FAILED');
      expect(await ended(id, rid, /Nothing runs/)).toMatch(/^Nothing runs/);
      expect(cluster.find('Deployment', `fairlead-${id}`)).toMatchObject({ spec: { replicas: 0 } });
      expect(cluster.find('HorizontalPodAutoscaler', `fairlead-${id}`)).toBeUndefined();
    });

    it('the deployment is UNKNOWN when the one before it does not run either', async () => {
      const id = await service.deployment(agents);
      const first = await service.revision(id, image('a:1'));
      await service.reached(id, first, 'DEPLOYED');
      const conditions = [{ type: 'Progressing', status: 'False', message: 'timed out' }];
      cluster.status = () => ({ replicas: 1, conditions });
      const second = await service.revision(id, image('a:2'));
      await until(
        () => service.hostStatuses(id),
        (statuses) => statuses.at(-1) === 'UNKNOWN',
      );
      await until(
        () => lastLine(id, second),
        (line) => line === `Revision ${first} does not run again: fairlead-${id}: timed out`,
      );
    });

    it('the deployment stays UNKNOWN while something of the first one may still run', async () => {
      const id = await service.deployment(agents);
      const conditions = [{ type: 'Progressing', status: 'False', message: 'timed out' }];
      cluster.status = () => ({ replicas: 1, conditions });
      const invalid = { kind: 'Status', reason: 'Invalid', message: 'no scale' };
      cluster.instead = ({ url }) => (url.includes('fieldManager=fairlead-scale') ? [422, invalid] : undefined);
      await service.reached(id, await service.revision(id, image('a:1')), 'DEPLOY_FAILED');
      const { data } = await told(id, 'UNKNOWN');
      expect((data as { reason: string }).reason).toMatch(/^The deployment may still run: .*no scale/);
      const duties = () => service.database.pool.query('select from rollout_duties');
      await until(duties, ({ rowCount }) => rowCount === 0);
      expect(await service.hostStatuses(id)).toEqual(['READY', 'UNKNOWN']);
    });

    it('it stays when the operator wants to look at it, and is watched', async () => {
      await service.stop();
      service.options = { onFailure: 'keep', onDrift: 'repair', watchEvery: 50 };
      await service.start(new KubernetesExecutor(settings()));
      const id = await service.deployment(agents);
      await service.reached(id, await service.revision(id, image('a:1')), 'DEPLOYED');
      breaks(id, 'a:2');
      const second = await service.revision(id, image('a:2'));
      await service.reached(id, second, 'DEPLOY_FAILED');
      const { data } = await told(id, 'UNKNOWN');
      expect((data as { reason: string }).reason).toBe(
        `Revision ${second} was not deployed and stays (ON_FAILURE=keep): p/agent waits: ErrImagePull, not found`,
      );
      cluster.objects.delete(`/api/v1/namespaces/agents/services/fairlead-${id}`);
      const drifted = await until(async () =>
        (await service.store.read(`host-${id}`)).find(({ type }) => type === 'DeploymentDrifted'),
      );
      expect(drifted.data).toMatchObject({ revision_id: second, differences: [`Service fairlead-${id} is gone`] });
      expect(imageOf(id)).toBe('a:2');
      await service.reached(id, await service.revision(id, image('a:3')), 'DEPLOYED');
      expect((await service.hostStatuses(id)).slice(0, 3)).toEqual(['READY', 'UNKNOWN', 'READY']);
    });
  });

  it('builds nothing: a source without an image fails', async () => {
    const id = await service.deployment(agents);
    const rid = await service.revision(id);
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect((await errors(id, rid)).at(-1)).toMatch(/deploys images/);
  });

  it('is UNKNOWN while the cluster does not answer, and goes on when it does', async () => {
    cluster.failing = 503;
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('a:1'));
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('UNKNOWN'),
    );
    cluster.failing = undefined;
    await service.reached(id, rid, 'DEPLOYED');
    expect(await service.hostStatuses(id)).toEqual(['UNKNOWN', 'READY']);
  });

  it('fails a revision whose namespace does not exist', async () => {
    cluster.namespaces.delete('agents');
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect((await errors(id, rid)).at(-1)).toBe('The cluster has no namespace agents.');
  });

  it.each(['kube-system', 'theirs', 'default'])('applies nothing in the namespace %s', async (cluster_namespace) => {
    cluster.namespaces.add(cluster_namespace);
    const id = await service.deployment({ listener_config: { cluster_namespace } });
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect((await errors(id, rid)).at(-1)).toMatch(`The workspace may not use the namespace ${cluster_namespace} `);
    expect(cluster.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('refuses pods that name what the operator does not list, before anything is applied', async () => {
    const id = await service.deployment(agents);
    const references = [{ name: 'THEIRS', secret_name: `fairlead-${id}`, secret_key: 'TOKEN' }];
    const resource_spec = {
      service_account_name: 'admin',
      sidecars: [{ name: 'x', image: 'x', securityContext: { privileged: true } }],
    };
    const rid = await service.revision(id, { ...image('a:1'), resource_spec, secret_references: references });
    await service.reached(id, rid, 'DEPLOY_FAILED');
    expect(await errors(id, rid)).toEqual([
      expect.stringMatching(/^secret_references\[0\]\.secret_name may not be fairlead-/),
      'service_account_name may not be admin: the setting KUBERNETES_ALLOW does not list ServiceAccount/admin.',
      'sidecars[0].securityContext.privileged must be false.',
    ]);
    expect(cluster.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('logs the warnings of the cluster', async () => {
    cluster.warning = '299 - "would violate \\"restricted\\"", 299 - "a second one"';
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('a:1'));
    await service.reached(id, rid, 'DEPLOYED');
    expect((await messages(id, rid, { level: 'WARNING' })).slice(0, 2)).toEqual([
      'The cluster warns: would violate "restricted"',
      'The cluster warns: a second one',
    ]);
  });

  it('watches: it lists once and then waits for changes', async () => {
    let looks = 0;
    cluster.status = () => ({ replicas: 1, ...(++looks > 5 && { updatedReplicas: 1, availableReplicas: 1 }) });
    const id = await service.deployment(agents);
    await service.reached(id, await service.revision(id, image('a:1')), 'DEPLOYED');
    // Later ones are those of the watch over what runs.
    const lists = cluster.requests.filter(({ url }) => /\/deployments\?/.test(url));
    expect(lists.slice(0, 2).map(({ url }) => /watch=1/.test(url))).toEqual([false, true]);
  });

  it('labels, spreads and protects what it runs, on the nodes that the operator chooses', async () => {
    const id = await service.deployment(agents);
    const rid = await service.revision(id, { ...image('r/a:1.2'), resource_spec: SPEC });
    await service.reached(id, rid, 'DEPLOYED');
    const name = `fairlead-${id}`;
    const labels = {
      'app.kubernetes.io/name': 'agent',
      'app.kubernetes.io/instance': name,
      'app.kubernetes.io/version': '1.2',
      'fairlead.dev/workspace-id': TENANT,
      'fairlead.dev/revision-id': rid,
    };
    for (const kind of ['Secret', 'Service', 'Deployment', 'HorizontalPodAutoscaler', 'PodDisruptionBudget']) {
      const [object] = [...cluster.objects.values()].filter((one) => one.kind === kind);
      expect(object).toMatchObject({ metadata: { labels } });
    }
    const matchLabels = { 'fairlead.dev/deployment-id': id, 'fairlead.dev/role': 'server' };
    const spread = { maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway', labelSelector: { matchLabels } };
    expect(cluster.find('Deployment', name)).toMatchObject({
      spec: {
        template: {
          metadata: { labels: { ...labels, 'app.kubernetes.io/component': 'server' } },
          spec: {
            nodeSelector: { disk: 'ssd' },
            topologySpreadConstraints: [
              { ...spread, topologyKey: 'kubernetes.io/hostname' },
              { ...spread, topologyKey: 'topology.kubernetes.io/zone' },
            ],
          },
        },
      },
    });
    expect(cluster.find('PodDisruptionBudget', name)).toMatchObject({
      spec: { maxUnavailable: 1, selector: { matchLabels } },
    });
  });

  it('merges the overlay of the operator into every object, and leads requests to the agent', async () => {
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('r/a:1'));
    await service.reached(id, rid, 'DEPLOYED');
    const name = `fairlead-${id}`;
    for (const kind of ['Service', 'Deployment', 'Ingress']) {
      expect(cluster.find(kind, name)).toMatchObject({ metadata: { namespace: 'agents', labels: { cost: TENANT } } });
    }
    expect(cluster.find('Deployment', name)).toMatchObject({
      spec: { template: { spec: { containers: [{ image: 'r/a:1', env: expect.arrayContaining([PROXY]) }] } } },
    });
    expect(cluster.find('Ingress', name)).toMatchObject({
      spec: { rules: [{ host: `${id}.agents.example`, http: { paths: [{ backend: { service: { name } } }] } }] },
    });
    expect(await messages(id, rid)).toContain(`Its address is https://${id}.agents.example.`);
  });

  it('leads requests to the agent by an HTTPRoute where the operator wants that', async () => {
    const route = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
spec: { hostnames: ['{deployment_id}.agents.example'], rules: [{ backendRefs: [{ name: '{name}', port: 80 }] }] }
`;
    await service.stop();
    await service.start(new KubernetesExecutor({ ...settings(), route }));
    const id = await service.deployment(agents);
    const rid = await service.revision(id, image('r/a:1'));
    await service.reached(id, rid, 'DEPLOYED');
    const name = `fairlead-${id}`;
    const path = `/apis/gateway.networking.k8s.io/v1/namespaces/agents/httproutes/${name}`;
    expect(cluster.objects.get(path)).toMatchObject({ spec: { rules: [{ backendRefs: [{ name, port: 80 }] }] } });
    expect(await messages(id, rid)).toContain(`Its address is https://${id}.agents.example.`);
  });

  it('takes away what leads requests to the agent when the operator wants another kind, or none', async () => {
    const id = await service.deployment(agents);
    const deployed = async () => {
      const rid = await service.revision(id, image('r/a:1'));
      await service.reached(id, rid, 'DEPLOYED');
      return messages(id, rid);
    };
    const start = async (route?: string) => {
      await service.stop();
      await service.start(new KubernetesExecutor({ ...settings(), route }));
    };
    const name = `fairlead-${id}`;
    const kinds = () => ['Ingress', 'HTTPRoute'].filter((kind) => cluster.find(kind, name));
    await deployed();
    expect(kinds()).toEqual(['Ingress']);
    await start('{ apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, spec: { hostnames: [a.example] } }');
    expect(await deployed()).toContain(`Ingress ${name} is deleted, because KUBERNETES_ROUTE no longer asks for it.`);
    expect(kinds()).toEqual(['HTTPRoute']);
    await start();
    cluster.instead = ({ method, url }) => {
      const isRefused = method === 'DELETE' && url.includes('/httproutes/');
      return isRefused ? [403, { message: 'httproutes is forbidden' }] : undefined;
    };
    const refused = `HTTPRoute ${name} stays, although KUBERNETES_ROUTE no longer asks for it: `;
    expect(await deployed()).toContainEqual(expect.stringContaining(refused));
    expect(kinds()).toEqual(['HTTPRoute']);
    // One of the same name that somebody else has made is not ours.
    cluster.instead = undefined;
    const path = `/apis/networking.k8s.io/v1/namespaces/agents/ingresses/${name}`;
    cluster.objects.set(path, { kind: 'Ingress', metadata: { name } });
    await deployed();
    expect(kinds()).toEqual(['Ingress']);
  });

  it('says what keeps it from working as it is configured', async () => {
    const { signal } = new AbortController();
    const check = (more: Partial<KubernetesSettings>) =>
      new KubernetesExecutor({ ...settings(), ...more }).check(signal);
    cluster.namespaces.add('elsewhere').add('theirs');
    expect(await check({})).toBeUndefined();
    cluster.namespaces.delete('theirs');
    expect(await check({})).toBe('The cluster has no namespace theirs.');
    expect(await check({ overlay: 'a: [' })).toMatch(/^KUBERNETES_OVERLAY is no YAML: /);
    expect(await check({ overlay: 'metadata: {}' })).toBe('KUBERNETES_OVERLAY must have objects with a kind.');
    expect(await check({ overlay: 'kind: Pod\nmetadata: { name: x }' })).toMatch(/^KUBERNETES_OVERLAY must not have/);
    expect(await check({ route: 'kind: Service' })).toMatch(/^KUBERNETES_ROUTE must be one object of the kind Ingress/);
    cluster.failing = 503;
    expect(await check({})).toMatch(/^The cluster does not answer/);
  });

  describe('once a revision is deployed', () => {
    const restart = async (options: Partial<RolloutsOptions>, namespaces = settings().namespaces) => {
      await service.stop();
      service.options = options;
      await service.start(new KubernetesExecutor({ ...settings(), namespaces }));
    };
    const deployed = async (config: object = agents) => {
      const id = await service.deployment(config);
      const rid = await service.revision(id, image('a:1'));
      await service.reached(id, rid, 'DEPLOYED');
      return { id, rid };
    };
    const change = (kind: string, name: string, spec: object) => {
      const [path, object] = [...cluster.objects].find(([, one]) => one.kind === kind && one.metadata.name === name)!;
      cluster.objects.set(path, { ...object, spec: { ...object.spec, ...spec } });
      return () => cluster.objects.set(path, object);
    };
    const resized = (id: string) =>
      until(
        () => last(id),
        ({ type }) => type === 'DeploymentResized',
      );
    const patch = (id: string, resource_spec: object) => {
      const data = { source_config: { resource_spec: { ...resource_spec } } };
      return service.append(id, [{ type: 'DeploymentPatched', data }]);
    };

    it('its sizes can be changed without another one', async () => {
      const { id, rid } = await deployed();
      await patch(id, { min_scale: 3 });
      await resized(id);
      expect(cluster.find('Deployment', `fairlead-${id}`)).toMatchObject({ spec: { replicas: 3 } });
      expect(await lastLine(id, rid)).toBe('The revision runs with its new sizes.');
      expect(await service.statuses(id, rid)).toHaveLength(3);
    });

    it('sizes that do not run make it UNKNOWN, and are not tried again', async () => {
      const { id } = await deployed();
      cluster.podsRefused = 'exceeded quota';
      await patch(id, { min_scale: 3 });
      expect((await resized(id)).data).toMatchObject({ reason: expect.stringMatching(/new sizes.*exceeded quota/) });
      const [said] = (await service.store.read(`host-${id}`)).slice(-2);
      expect(said!.data).toMatchObject({ status: 'UNKNOWN', reason: expect.stringMatching(/exceeded quota/) });
    });

    it('what others change is said, and again READY when it is undone', async () => {
      await restart({ watchEvery: 50 });
      const { id, rid } = await deployed();
      const name = `fairlead-${id}`;
      const undo = change('Deployment', name, { replicas: 7, minReadySeconds: 0 });
      const { data } = await told(id, 'UNKNOWN');
      const differences = [`spec.minReadySeconds of Deployment ${name}`, `spec.replicas of Deployment ${name}`];
      expect((data as { reason: string }).reason).toMatch(/What runs was changed: .*minReadySeconds/);
      const drifted = (await service.store.read(`host-${id}`)).find(({ type }) => type === 'DeploymentDrifted')!;
      expect({ ...(drifted.data as object) }).toEqual({
        deployment_id: id,
        revision_id: rid,
        differences: expect.arrayContaining(differences),
      });
      undo();
      await told(id, 'READY');
      cluster.objects.delete(`/api/v1/namespaces/agents/services/${name}`);
      expect((await told(id, 'UNKNOWN')).data).toMatchObject({
        reason: expect.stringMatching(new RegExp(`Service ${name} is gone`)),
      });
    });

    it('a Deployment that others delete is said', async () => {
      await restart({ watchEvery: 50 });
      const { id, rid } = await deployed();
      const name = `fairlead-${id}`;
      cluster.objects.delete(`/apis/apps/v1/namespaces/agents/deployments/${name}`);
      const drifted = await until(async () =>
        (await service.store.read(`host-${id}`)).find(({ type }) => type === 'DeploymentDrifted'),
      );
      expect({ ...(drifted.data as object) }).toEqual({
        deployment_id: id,
        revision_id: rid,
        differences: [`Deployment ${name} is gone`],
      });
      await until(
        () => service.hostStatuses(id),
        (statuses) => statuses.includes('UNKNOWN'),
      );
    });

    it('a Deployment that others delete is made again where the operator wants that', async () => {
      await restart({ watchEvery: 50, onDrift: 'repair' });
      const { id } = await deployed();
      const name = `fairlead-${id}`;
      cluster.objects.delete(`/apis/apps/v1/namespaces/agents/deployments/${name}`);
      await until(() => cluster.find('Deployment', name));
    });

    it('what Fairlead may not read is left alone', async () => {
      await restart({ watchEvery: 50 });
      cluster.instead = ({ method, url }) =>
        method === 'GET' && url.includes('/services/') ? [403, { kind: 'Status', message: 'no get' }] : undefined;
      const { id } = await deployed();
      const looks = () => cluster.requests.filter(({ url }) => url.includes('/services/')).length;
      const before = looks();
      await until(looks, (now) => now > before + 2);
      expect(await service.hostStatuses(id)).toEqual(['READY']);
    });

    it('what others change is undone where the operator wants that', async () => {
      await restart({ watchEvery: 50, onDrift: 'repair' });
      const { id } = await deployed();
      change('Deployment', `fairlead-${id}`, { minReadySeconds: 0 });
      await until(
        () => cluster.find('Deployment', `fairlead-${id}`)!.spec!.minReadySeconds,
        (seconds) => seconds === 10,
      );
      await until(async () =>
        (await service.store.read(`host-${id}`)).some(({ type }) => type === 'DeploymentDrifted'),
      );
      expect(await service.hostStatuses(id)).not.toContain('UNKNOWN');
    });

    it('what others change again is said again, also where it is undone', async () => {
      await restart({ watchEvery: 50, onDrift: 'repair' });
      const { id } = await deployed();
      for (const times of [1, 2]) {
        change('Deployment', `fairlead-${id}`, { minReadySeconds: 0 });
        await until(async () => {
          const types = (await service.store.read(`host-${id}`)).map(({ type }) => type);
          const drifts = types.filter((type) => type === 'DeploymentDrifted').length;
          return drifts === times && types.at(-1) === 'HostStatusReported';
        });
      }
    });

    it('it is UNKNOWN while it does not run, and says why', async () => {
      await restart({ watchEvery: 50 });
      const { id } = await deployed();
      const lastState = { terminated: { exitCode: 137, reason: 'OOMKilled' } };
      const waiting = { reason: 'CrashLoopBackOff' };
      cluster.pods = [{ name: 'p', containerStatuses: [{ name: 'agent', state: { waiting }, lastState }] }];
      const { data } = await told(id, 'UNKNOWN');
      expect((data as { reason: string }).reason).toBe(
        'The revision does not run as it should: p/agent ended with exit code 137: OOMKilled',
      );
      cluster.pods = [];
      await told(id, 'READY');
    });

    it('a crash loop is said once when it begins and once when it ends, however often it flips in between', async () => {
      const ROUNDS = 6;
      await restart({ watchEvery: 50 });
      const { id } = await deployed();
      const at = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
      /** The container has ended so often, and runs again for so many seconds or waits for that. */
      const show = (ends: number, runsFor?: number) => {
        const terminated = {
          startedAt: at(8),
          finishedAt: at(5),
          exitCode: 137,
          reason: 'OOMKilled',
          message: 'sesame-open',
        };
        const isReady = runsFor !== undefined;
        const state = isReady ? { running: { startedAt: at(runsFor) } } : { waiting: { reason: 'CrashLoopBackOff' } };
        const restartCount = isReady ? ends : ends - 1;
        const container = { name: 'agent', state, ready: isReady, restartCount, lastState: { terminated } };
        const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
        cluster.pods = [{ name: 'p', conditions, containerStatuses: [container] }];
        const available = isReady ? 1 : 0;
        cluster.status = () => ({ replicas: 1, updatedReplicas: 1, availableReplicas: available });
      };
      /** Waits until the cluster was looked at twice since. */
      const looked = async () => {
        const looks = () => cluster.requests.filter(({ url }) => url.includes(`/services/fairlead-${id}`)).length;
        const before = looks();
        await until(looks, (now) => now > before + 2);
      };
      const said = async () =>
        (await service.store.read(`host-${id}`)).filter(({ type }) => type === 'HostStatusReported');
      const before = (await said()).length;
      for (let ends = 1; ends <= ROUNDS; ends++) {
        show(ends);
        await looked();
        if (ends === 2) expect(await said()).toHaveLength(before);
        show(ends, 4);
        await looked();
      }
      const crashes = 'restarts, agent ended: OOMKilled, exit code 137';
      expect((await service.health(id)).json).toMatchObject({
        state: 'CRASH_LOOPING',
        detail: `Crash looping, ${ROUNDS} ${crashes}`,
        processes: [{ state: 'CRASH_LOOPING', reason: `Crash looping, ${ROUNDS} ${crashes}`, restarts: ROUNDS }],
      });
      // After a minute its health is better. It is told only when it has run for ten minutes: it may crash again before.
      show(ROUNDS, 61);
      await until(async () => (await service.health(id)).json.state === 'RUNNING');
      await looked();
      show(ROUNDS + 1);
      await until(async () => (await service.health(id)).json.state === 'CRASH_LOOPING');
      expect(await said()).toHaveLength(before + 1);
      show(ROUNDS + 1, 601);
      await told(id, 'READY');
      expect((await said()).slice(before).map(({ data }) => ({ ...(data as object) }))).toEqual([
        { deployment_id: id, status: 'UNKNOWN', reason: `Crash looping, 3 ${crashes}`, crash_looping: true },
        { deployment_id: id, status: 'READY' },
      ]);
      expect((await service.health(id)).json).toMatchObject({ state: 'RUNNING' });
    });

    it('a container that ended once, long ago, is no trouble, and what a program wrote at its end is not told', async () => {
      await restart({ watchEvery: 50 });
      const { id } = await deployed();
      const terminated = { exitCode: 1, message: 'TOKEN=sesame-open', finishedAt: '2026-01-01T12:00:00Z' };
      const container = { name: 'agent', ready: true, restartCount: 1, lastState: { terminated } };
      const running = { running: { startedAt: '2026-01-01T12:00:01Z' } };
      const looks = () => cluster.requests.filter(({ url }) => url.includes(`/services/fairlead-${id}`)).length;
      cluster.pods = [{ name: 'p', containerStatuses: [{ ...container, state: running }] }];
      const before = looks();
      await until(looks, (now) => now > before + 2);
      expect(await service.hostStatuses(id)).toEqual(['READY']);
      cluster.pods = [{ name: 'p', containerStatuses: [{ ...container, ready: false, state: { terminated } }] }];
      const { data } = await told(id, 'UNKNOWN');
      expect((data as { reason: string }).reason).toMatch(/p\/agent ended with exit code 1$/);
    });

    it('it is UNKNOWN until the next one is deployed', async () => {
      await restart({ watchEvery: 50 });
      const { id } = await deployed();
      change('Deployment', `fairlead-${id}`, { minReadySeconds: 0 });
      await told(id, 'UNKNOWN');
      cluster.status = () => ({ replicas: 1 });
      const next = await service.revision(id, image('a:2'));
      await service.reached(id, next, 'DEPLOYING');
      expect(await service.hostStatuses(id)).toEqual(['READY', 'UNKNOWN']);
      cluster.status = undefined;
      await service.reached(id, next, 'DEPLOYED');
      expect((await service.hostStatuses(id)).slice(0, 3)).toEqual(['READY', 'UNKNOWN', 'READY']);
    });

    it('it stays in its namespace when the setting changes', async () => {
      cluster.namespaces.add('elsewhere').add('later');
      const { id } = await deployed({});
      await restart({}, new Namespaces({ name: 'later' }, [{ name: 'elsewhere' }]));
      await service.reached(id, await service.revision(id, image('a:2')), 'DEPLOYED');
      expect([...cluster.objects.keys()].filter((path) => path.includes('/later/'))).toEqual([]);
      await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
      await told(id, 'REMOVED');
      expect(cluster.objects.size).toBe(0);
    });

    it('its deletion is done when everything is gone, and says what is not', async () => {
      const { id } = await deployed();
      const path = `/api/v1/namespaces/agents/services/fairlead-${id}`;
      const { metadata, ...service_ } = cluster.objects.get(path)!;
      cluster.objects.set(path, { ...service_, metadata: { ...metadata, finalizers: ['balancer/cleanup'] } });
      await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
      const logged = async () => {
        const { json } = await service.logs(`${id}/deploy_logs`, { level: 'ERROR' });
        return json.logs.map(({ message }: { message: string }) => message) as string[];
      };
      const left = `The cluster has not deleted Service fairlead-${id} (finalizers: balancer/cleanup).`;
      await until(logged, (messages) => messages.includes(left));
      expect(await service.hostStatuses(id)).toEqual(['READY']);
      cluster.objects.set(path, { ...service_, metadata });
      await told(id, 'REMOVED');
    });
  });

  it('deletes a deployment that names a namespace closed to its workspace', async () => {
    cluster.instead = ({ url }) =>
      url.includes('/kube-system') ? [403, { kind: 'Status', message: 'forbidden' }] : undefined;
    const id = await service.deployment({ listener_config: { cluster_namespace: 'kube-system' } });
    await service.reached(id, await service.revision(id, image('a:1')), 'DEPLOY_FAILED');
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('REMOVED'),
    );
    expect(cluster.requests.filter(({ method }) => method === 'DELETE')).toEqual([]);
  });

  it('deletes everything with the deployment', async () => {
    const id = await service.deployment(agents);
    await service.reached(id, await service.revision(id, { ...image('a:1'), resource_spec: SPEC }), 'DEPLOYED');
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('REMOVED'),
    );
    expect(cluster.objects.size).toBe(0);
  });
});
