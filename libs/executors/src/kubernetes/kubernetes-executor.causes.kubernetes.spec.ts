import { AllowList, Namespaces, parseAllowList } from '@fairlead/schema';
import { until } from '@fairlead/postgres/testing';
import { TestNamespace } from '../testing/test-namespace';
import { TestRollouts } from '@fairlead/rollouts/testing';
import { KubernetesExecutor } from './kubernetes-executor';

let service: TestRollouts;
let namespace: TestNamespace;
/** One whose quota lets no pods be. */
let full: TestNamespace;

const image = (name: string) => ({
  source: 'external_container',
  source_revision_config: { image_uri: `registry.example/${name}` },
});
const withSpec = (resource_spec: object) => ({ ...image('agent:1'), resource_spec: { ...resource_spec } });
const volume = (source: object) => withSpec({ volumes: [{ name: 'v', ...source }] });
const referring = (name: string) => ({
  ...image('agent:1'),
  secret_references: [{ name, secret_name: 'nothing', secret_key: 'key' }],
});

/** Faults of a revision, each with the only error in its log. */
const FAILING: readonly (readonly [what: string, wanted: object, cause: RegExp])[] = [
  [
    'its image does not exist',
    image('missing:1'),
    /agent waits: (ErrImagePull|ImagePullBackOff), .*missing:1: not found$/,
  ],
  ['its container crashes', image('crash:1'), /agent ended with exit code 1$/],
  ['its container needs too much memory', image('oom:1'), /agent ended with exit code 137: OOMKilled$/],
  ['its image runs as root', image('root:1'), /agent waits: CreateContainerConfigError, .*will run as root/],
  [
    'an init container crashes',
    withSpec({ init_containers: [{ name: 'first', image: 'registry.example/crash:1' }] }),
    /first ended with exit code 1$/,
  ],
  [
    'a sidecar crashes',
    withSpec({ sidecars: [{ name: 'beside', image: 'registry.example/crash:1' }] }),
    /beside ended with exit code 1$/,
  ],
  ['a Secret does not exist', referring('DB'), /CreateContainerConfigError, secret "nothing" not found$/],
  ['a ConfigMap does not exist', volume({ configMap: { name: 'nothing' } }), /cannot mount .*"nothing" not found$/],
  [
    'a volume claim does not exist',
    volume({ persistentVolumeClaim: { claimName: 'nothing' } }),
    /cannot be scheduled: .*"nothing" not found/,
  ],
  ['a variable has two values', referring('TOKEN'), /^The cluster refuses \(500\): .*key \[name="TOKEN"\]/],
  ['a label is not valid', withSpec({ labels: { team: 'a b' } }), /^The cluster refuses \(422\): .*"a b"/],
];
const QUOTA = 'a quota allows no pods';

/** Faults of a revision that may still get ready, each with the line of its log meanwhile. */
const WAITING: readonly (readonly [what: string, wanted: object, line: RegExp])[] = [
  ['no node has room', withSpec({ cpu: 64 }), /cannot be scheduled: Unschedulable, .*Insufficient cpu/],
  ['its port takes no connections', image('unready:1'), /Unhealthy, Startup probe failed/],
];

/** Deployment and revision of each of them: they are rolled out side by side. */
const begun = new Map<string, readonly [id: string, rid: string]>();

beforeAll(async () => {
  namespace = await TestNamespace.create();
  full = await TestNamespace.create();
  await full.create('v1/resourcequotas', { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } });
  service = await TestRollouts.create();
  const listed = 'Secret/nothing,ConfigMap/nothing,PersistentVolumeClaim/nothing';
  await service.start(
    new KubernetesExecutor({
      namespaces: new Namespaces({ name: namespace.name }, [{ name: full.name }]),
      rules: { allow: new AllowList(parseAllowList(listed)), level: 'restricted' },
      config: await namespace.config(),
      look: 100,
    }),
  );
  const begin = async (what: string, wanted: object, config: object = {}) => {
    const id = await service.deployment(config, { TOKEN: 'sesame-open' });
    begun.set(what, [id, await service.revision(id, wanted)]);
  };
  for (const [what, wanted] of [...FAILING, ...WAITING]) await begin(what, wanted);
  await begin(QUOTA, image('agent:1'), { listener_config: { cluster_namespace: full.name } });
});
afterAll(async () => {
  await service?.drop();
  await namespace?.drop();
  await full?.drop();
});

async function lines(id: string, rid: string, query: object = {}): Promise<string[]> {
  const { json } = await service.logs(`${id}/revisions/${rid}/deploy_logs`, query);
  return json.logs.map(({ message }: { message: string }) => message);
}

async function podsOf(id: string): Promise<string[]> {
  const pods = await namespace.pods();
  return pods.map(({ metadata }) => metadata!.name!).filter((name) => name.includes(id));
}

describe('in a real cluster, a revision', () => {
  it.each([...FAILING, [QUOTA, {}, /^Pods cannot be created: FailedCreate, .*exceeded quota: none/] as const])(
    'fails when %s, says it, and leaves nothing running',
    async (what, _, cause) => {
      const [id, rid] = begun.get(what)!;
      await service.reached(id, rid, 'DEPLOY_FAILED');
      expect(await lines(id, rid, { level: 'ERROR' })).toEqual([expect.stringMatching(cause)]);
      await until(
        () => podsOf(id),
        (pods) => pods.length === 0,
      );
    },
  );

  it.each(WAITING)('waits while %s, and says it', async (what, _, line) => {
    const [id, rid] = begun.get(what)!;
    await until(
      () => lines(id, rid),
      (found) => found.some((text) => line.test(text)),
    );
    expect((await service.statuses(id, rid)).at(-1)).toBe('DEPLOYING');
  });

  it('goes with its Deployment, and everything that belongs to it too', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    const resource_spec = { min_scale: 2, max_scale: 3, queue_min_scale: 1 };
    await service.reached(id, await service.revision(id, withSpec(resource_spec)), 'DEPLOYED');
    await namespace.delete(`apps/v1/deployments/fairlead-${id}`);
    const kinds = ['v1/services', 'v1/secrets', 'autoscaling/v2/horizontalpodautoscalers', 'apps/v1/deployments'];
    for (const kind of [...kinds, 'policy/v1/poddisruptionbudgets', 'v1/pods']) {
      await until(
        () => namespace.list(kind),
        (objects) => !objects.some(({ metadata }) => metadata.name.includes(id)),
      );
    }
  });
});
