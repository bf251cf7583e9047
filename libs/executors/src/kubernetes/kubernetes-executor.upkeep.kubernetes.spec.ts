import { AllowList, Namespaces } from '@fairlead/schema';
import { until } from '@fairlead/postgres/testing';
import { TestNamespace } from '../testing/test-namespace';
import { TestRollouts } from '@fairlead/rollouts/testing';
import { KubernetesExecutor } from './kubernetes-executor';

let service: TestRollouts;
let namespace: TestNamespace;
beforeAll(async () => {
  namespace = await TestNamespace.create();
  service = await TestRollouts.create();
  service.options = { watchEvery: 500 };
  const config = await namespace.config();
  await service.start(
    new KubernetesExecutor({
      namespaces: new Namespaces({ name: namespace.name }),
      rules: { allow: new AllowList(), level: 'restricted' },
      config,
      look: 100,
    }),
  );
});
afterAll(async () => {
  await service?.drop();
  await namespace?.drop();
});

const image = (name: string) => ({
  source: 'external_container',
  source_revision_config: { image_uri: `registry.example/${name}` },
});
const lastLine = async (id: string, rid: string): Promise<string> => {
  const { json } = await service.logs(`${id}/revisions/${rid}/deploy_logs`);
  return json.logs.at(-1)?.message ?? '';
};
const deployed = async (resource_spec: object | null = null) => {
  const id = await service.deployment({}, { TOKEN: 'sesame-open' });
  const rid = await service.revision(id, { ...image('agent:1'), resource_spec: resource_spec && { ...resource_spec } });
  await service.reached(id, rid, 'DEPLOYED');
  return { id, rid };
};
const deploymentOf = (id: string) => namespace.get(`apps/v1/deployments/fairlead-${id}`);
const events = async (id: string) =>
  (await service.store.read(`host-${id}`)).map(({ type, data }) => ({ type, ...(data as { status?: string }) }));

describe('in a real cluster, upkeep', () => {
  it('replaces a revision without an image, and one that crashes, by the one before', async () => {
    const { id, rid } = await deployed();
    for (const [name, cause] of [
      ['missing:1', /ErrImagePull/],
      ['crash:1', /ended with exit code 1/],
    ] as const) {
      const broken = await service.revision(id, image(name));
      await service.reached(id, broken, 'DEPLOY_FAILED');
      const last = await until(
        () => lastLine(id, broken),
        (line) => line.endsWith('runs again.'),
      );
      expect(last).toBe(`Revision ${rid} runs again.`);
      const { json } = await service.logs(`${id}/revisions/${broken}/deploy_logs`, { level: 'ERROR' });
      expect(json.logs.map(({ message }: { message: string }) => message)).toEqual([expect.stringMatching(cause)]);
      const { spec } = await deploymentOf(id);
      expect(spec.template.spec.containers[0].image).toBe('registry.example/agent:1');
    }
  });

  it('deploys a newer revision in the place of one that does not get ready', async () => {
    const { id } = await deployed();
    const stuck = await service.revision(id, image('unready:1'));
    await service.reached(id, stuck, 'DEPLOYING');
    await until(
      () => deploymentOf(id),
      ({ spec }) => spec.template.spec.containers[0].image === 'registry.example/unready:1',
    );
    const newer = await service.replace(id, stuck, image('agent:2'));
    await service.reached(id, newer, 'DEPLOYED');
    expect((await service.statuses(id, stuck)).at(-1)).toBe('INTERRUPTED');
    const { json } = await service.logs(`${id}/revisions/${stuck}/deploy_logs`, { level: 'WARNING' });
    expect(json.logs.map(({ message }: { message: string }) => message)).toContainEqual(
      expect.stringContaining(`the newer revision ${newer} took its place`),
    );
    const { spec } = await deploymentOf(id);
    expect(spec.template.spec.containers[0].image).toBe('registry.example/agent:2');
  });

  it('lets nothing run after a first revision that fails', async () => {
    const id = await service.deployment();
    const rid = await service.revision(id, { ...image('missing:1'), resource_spec: { min_scale: 2, max_scale: 3 } });
    await service.reached(id, rid, 'DEPLOY_FAILED');
    await until(
      () => lastLine(id, rid),
      (line) => line.startsWith('Nothing runs'),
    );
    expect((await deploymentOf(id)).spec.replicas).toBe(0);
  });

  it('sees no drift in what it has applied, and sees what others change', async () => {
    const spec = { min_scale: 2, max_scale: 4, cpu: 0.5, memory_mb: 512, queue_min_scale: 1, labels: { team: 'a' } };
    const { id, rid } = await deployed(spec);
    const name = `fairlead-${id}`;
    const looked = Date.now() + 2000;
    await until(() => Date.now() > looked);
    expect((await events(id)).map(({ type, status }) => status ?? type)).toEqual(['READY', 'DeploymentPlaced']);
    await namespace.patch(`apps/v1/deployments/${name}`, { spec: { minReadySeconds: 1 } });
    // A cluster that is slow to answer makes it UNKNOWN as well.
    const isDrift = ({ type }: { type: string }) => type === 'DeploymentDrifted';
    const found = await until(
      () => events(id),
      (all) => all.some(isDrift) && all.at(-1)!.status === 'UNKNOWN',
    );
    expect(found.filter(isDrift)).toEqual([
      {
        type: 'DeploymentDrifted',
        ...{ deployment_id: id, revision_id: rid, differences: [`spec.minReadySeconds of Deployment ${name}`] },
      },
    ]);
    await namespace.patch(`apps/v1/deployments/${name}`, { spec: { minReadySeconds: 10 } });
    await until(
      () => events(id),
      (all) => all.at(-1)!.status === 'READY',
    );
    await namespace.delete(`v1/services/${name}`);
    await until(
      () => events(id),
      (all) => all.at(-1)!.status === 'UNKNOWN',
    );
  });

  it('tells a crash loop once, also when its program has run for a minute, after which its health is good', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    await service.reached(id, await service.revision(id, image('looping:1')), 'DEPLOYED');
    const reported = async () => (await events(id)).filter(({ type }) => type === 'HostStatusReported');
    const before = (await reported()).length;
    const state = async () => (await service.health(id)).json.state as string;
    await namespace.behave('registry.example/looping:1', 'oom');
    const [begin] = await until(
      async () => (await reported()).slice(before),
      (all) => all.length > 0,
    );
    const reason = expect.stringMatching(/^Crash looping, \d+ restarts, agent ended: OOMKilled, exit code 137$/);
    expect(begin).toMatchObject({ status: 'UNKNOWN', crash_looping: true, reason });
    expect(await state()).toBe('CRASH_LOOPING');
    await namespace.behave('registry.example/looping:1', 'ready');
    await until(state, (now) => now === 'RUNNING', 120_000);
    expect((await reported()).slice(before).map(({ status }) => status)).toEqual(['UNKNOWN']);
  });

  it('hands the number of replicas over to an autoscaler, without a revision', async () => {
    const { id } = await deployed({ min_scale: 4 });
    const resource_spec = { min_scale: 2, max_scale: 6 };
    await service.append(id, [{ type: 'DeploymentPatched', data: { source_config: { ...{ resource_spec } } } }]);
    await until(
      () => events(id),
      (all) => all.at(-1)!.type === 'DeploymentResized',
    );
    expect((await deploymentOf(id)).spec.replicas).toBe(4);
    const { spec } = await namespace.get(`autoscaling/v2/horizontalpodautoscalers/fairlead-${id}`);
    expect(spec).toMatchObject({ minReplicas: 2, maxReplicas: 6 });
  });

  it('ends a deletion when everything is gone, the Secrets of all revisions too', async () => {
    const { id } = await deployed();
    await service.reached(id, await service.revision(id, image('agent:2')), 'DEPLOYED');
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('REMOVED'),
    );
    for (const path of ['v1/pods', 'v1/secrets', 'v1/services', 'apps/v1/deployments', 'apps/v1/replicasets']) {
      const names = (await namespace.list(path)).map(({ metadata }) => metadata.name as string);
      expect(names.filter((one) => one.includes(id))).toEqual([]);
    }
  });
});
