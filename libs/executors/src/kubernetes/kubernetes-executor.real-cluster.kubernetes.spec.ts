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
  const config = await namespace.config();
  const namespaces = new Namespaces({ name: namespace.name });
  const rules = { allow: new AllowList([]), level: 'restricted' as const };
  await service.start(new KubernetesExecutor({ namespaces, rules, config, look: 100 }));
});
afterAll(async () => {
  await service?.drop();
  await namespace?.drop();
});

const image = (image_uri: string) => ({ source: 'external_container', source_revision_config: { image_uri } });

async function lines(id: string, rid: string): Promise<string[]> {
  const { json } = await service.logs(`${id}/revisions/${rid}/deploy_logs`);
  return json.logs.map(({ message }: { message: string }) => message);
}

/** The names of the deployment's pods that are to stay. */
async function podsOf(id: string): Promise<string[]> {
  const pods = await namespace.pods();
  const own = pods.filter(({ metadata }) => metadata!.labels!['fairlead.dev/deployment-id'] === id);
  return own.filter(({ metadata }) => !metadata!.deletionTimestamp).map(({ metadata }) => metadata!.name!);
}

describe('in a real cluster, the kubernetes executor', () => {
  it('gives the container its secrets', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    await service.reached(id, await service.revision(id, image('registry.example/agent:1')), 'DEPLOYED');
    const [pod] = await podsOf(id);
    const { spec } = await namespace.get(`v1/pods/${pod}`);
    const { valueFrom } = spec.containers[0].env.find(({ name }: { name: string }) => name === 'TOKEN');
    const { data } = await namespace.get(`v1/secrets/${valueFrom.secretKeyRef.name}`);
    expect(Buffer.from(data[valueFrom.secretKeyRef.key], 'base64').toString()).toBe('sesame-open');
  });

  it('waits until the containers are ready, and says what they wait for', async () => {
    const uri = 'registry.example/late:1';
    await namespace.behave(uri, 'missing');
    const id = await service.deployment();
    const rid = await service.revision(id, image(uri));
    await until(
      () => lines(id, rid),
      (found) => found.some((line) => /(ErrImagePull|ImagePullBackOff).*not found/.test(line)),
    );
    expect(await service.statuses(id, rid)).not.toContain('DEPLOYED');
    await namespace.behave(uri, 'ready');
    await service.reached(id, rid, 'DEPLOYED');
  });

  it('deletes a deployment whose pods come to an end', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    const spec = { min_scale: 1, max_scale: 3, queue_min_scale: 2 };
    const rid = await service.revision(id, { ...image('registry.example/agent:1'), resource_spec: spec });
    await service.reached(id, rid, 'DEPLOYED');
    expect(await podsOf(id)).toHaveLength(3);
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('REMOVED'),
    );
    await until(
      () => podsOf(id),
      (pods) => pods.length === 0,
    );
    const deployments = await namespace.list('apps/v1/deployments');
    expect(deployments.filter(({ metadata }) => metadata.name.includes(id))).toEqual([]);
  });
});
