import type { KubeConfig, V1Deployment } from '@kubernetes/client-node';
import { until } from '@fairlead/postgres/testing';
import { ClusterClient } from '../kubernetes/cluster.client';
import { FakeCluster } from './fake-cluster';
import { TestNamespace } from './test-namespace';

interface Cluster {
  readonly config: KubeConfig;
  readonly namespace: string;
  readonly scale: (name: string, replicas: number) => unknown;
  readonly refusePods: () => unknown;
  readonly stop: () => Promise<unknown>;
}

async function standIn(): Promise<Cluster> {
  const cluster = await FakeCluster.start();
  return {
    config: cluster.config(),
    namespace: 'agents',
    scale: (name, replicas) => cluster.scale(name, replicas),
    refusePods: () => (cluster.podsRefused = 'pods "agent-1" is forbidden: exceeded quota: none'),
    stop: () => cluster.stop(),
  };
}

async function controlPlane(): Promise<Cluster> {
  const namespace = await TestNamespace.create();
  const quota = { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } };
  return {
    config: await namespace.config(),
    namespace: namespace.name,
    scale: (name, replicas) => namespace.patch(`apps/v1/deployments/${name}/scale`, { spec: { replicas } }),
    refusePods: () => namespace.create('v1/resourcequotas', quota),
    stop: () => namespace.drop(),
  };
}

const CLUSTERS: [string, () => Promise<Cluster>][] = [['the stand-in', standIn]];
if (process.env.FAIRLEAD_KUBERNETES) CLUSTERS.push(['a real control plane', controlPlane]);

describe.each(CLUSTERS)('%s', (_, start) => {
  let cluster: Cluster;
  let client: ClusterClient;
  beforeEach(async () => {
    cluster = await start();
    client = new ClusterClient({ config: cluster.config });
  });
  afterEach(() => cluster.stop());

  const container = { name: 'agent', image: 'registry.example/agent:1' };

  const call = { signal: new AbortController().signal };

  function apply(spec: object, containers: object[] = [container]): Promise<V1Deployment> {
    const labels = { app: 'agent' };
    const object = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'agent', namespace: cluster.namespace },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } }, ...spec },
    };
    return client.apply(object, call);
  }

  it('has one replica when nobody says how many, also when somebody did before', async () => {
    expect((await apply({})).spec?.replicas).toBe(1);
    expect((await apply({ replicas: 4 })).spec?.replicas).toBe(4);
    expect((await apply({})).spec?.replicas).toBe(1);
  });

  it('keeps the number that an autoscaler has set', async () => {
    await apply({});
    await cluster.scale('agent', 3);
    expect((await apply({})).spec?.replicas).toBe(3);
    expect((await apply({ replicas: 2 })).spec?.replicas).toBe(2);
    expect((await apply({})).spec?.replicas).toBe(1);
  });

  it('answers 500 without a reason to an object that names something twice', async () => {
    const refused = apply({}, [{ ...container, env: [{ name: 'A' }, { name: 'B' }, { name: 'A' }] }]);
    // Were there a reason, the client would come again.
    await expect(refused).rejects.toThrow(
      /^The cluster refuses \(500\): failed to create typed patch object .*\.env: duplicate entries for key \[name="A"\]/,
    );
  });

  it('says why no pods are created', async () => {
    await cluster.refusePods();
    const object = await apply({});
    const { status } = await until(
      () => client.read<V1Deployment>(object, call),
      (found) => found?.status?.conditions?.some(({ type }) => type === 'ReplicaFailure') === true,
    );
    expect(status!.conditions).toContainEqual(
      expect.objectContaining({
        type: 'ReplicaFailure',
        status: 'True',
        reason: 'FailedCreate',
        message: expect.stringMatching(/^pods ".*" is forbidden: exceeded quota: none/),
      }),
    );
  });
});
