import type { PlannedRevision } from '@fairlead/contracts';
import { AllowList, Namespaces } from '@fairlead/schema';
import { KubernetesPlans } from './kubernetes-plans';
import { FakeCluster } from '../testing/fake-cluster';
import { STRANGER, TENANT } from '@fairlead/rollouts/testing';

let cluster: FakeCluster;
let plans: KubernetesPlans;
beforeEach(async () => {
  cluster = await FakeCluster.start();
  const namespaces = new Namespaces({ name: 'agents' }, [{ name: 'theirs', workspace: STRANGER }]);
  plans = new KubernetesPlans({
    config: cluster.config(),
    namespaces,
    rules: { allow: new AllowList(), level: 'restricted' },
  });
});
afterEach(() => cluster.stop());

const planned = (resource_spec: object = {}, config = {}): PlannedRevision => ({
  tenantId: TENANT,
  deploymentId: '0198c0de-0000-7000-8000-000000000001',
  name: 'agent',
  config,
  revision: {
    revision_id: '0198c0de-0000-7000-8000-000000000002',
    deployment_id: '0198c0de-0000-7000-8000-000000000001',
    source: 'external_container',
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    resource_spec: { ...resource_spec },
    secrets: [{ name: 'TOKEN', sealed: { subject: 's', sealed: 'sealed' } }],
    secret_references: null,
  },
});

describe('a plan of a revision in Kubernetes', () => {
  it('is what the cluster says of a dry run, which stores nothing', async () => {
    cluster.warning = '299 - "unknown field"';
    const { refusal, unreachable, warnings } = await plans.rehearse(planned({ min_scale: 1, max_scale: 3 }));
    expect([refusal, unreachable]).toEqual([undefined, undefined]);
    expect(warnings).toContain('unknown field');
    const applied = cluster.requests.filter(({ method }) => method !== 'GET');
    expect(applied.map(({ body }) => (body as { kind: string }).kind)).toEqual(
      expect.arrayContaining(['Secret', 'Deployment', 'Service', 'HorizontalPodAutoscaler']),
    );
    for (const { url } of applied) expect(url).toMatch(/&dryRun=All$/);
    expect(cluster.objects.size).toBe(0);
    expect(JSON.stringify(applied)).not.toContain('sealed');
  });

  it('says what the cluster refuses', async () => {
    const invalid = { kind: 'Status', reason: 'Invalid', message: 'spec.template.spec.containers[0].image: required' };
    cluster.instead = ({ method }) => (method === 'PATCH' ? [422, invalid] : undefined);
    expect(await plans.rehearse(planned())).toMatchObject({ refusal: `The cluster refuses (422): ${invalid.message}` });
    cluster.instead = undefined;
    cluster.namespaces.delete('agents');
    expect(await plans.rehearse(planned())).toMatchObject({ refusal: 'The cluster has no namespace agents.' });
  });

  it('is about the namespace where the deployment runs, whatever the settings say now', async () => {
    cluster.namespaces.add('ours');
    const namespaces = new Namespaces({ name: 'agents' }, [{ name: 'ours' }]);
    const rules = { allow: new AllowList(), level: 'restricted' as const };
    const settings = { config: cluster.config(), namespaces, rules };
    const placed = { ...planned({}, { listener_config: { cluster_namespace: 'kube-system' } }), place: 'ours' };
    expect(new KubernetesPlans(settings).refusal(placed)).toBeUndefined();
    await new KubernetesPlans(settings).rehearse(placed);
    const applied = cluster.requests.filter(({ method }) => method === 'PATCH');
    expect(applied).not.toEqual([]);
    for (const { url } of applied) expect(url).toContain('/namespaces/ours/');
  });

  it('says that the cluster does not answer', async () => {
    cluster.failing = 503;
    expect((await plans.rehearse(planned())).unreachable).toMatch(/^The cluster does not answer \(503/);
  });

  it('refuses without asking what is not the deployment’s', () => {
    expect(plans.refusal(planned())).toBeUndefined();
    expect(plans.refusal(planned({ volumes: [{ name: 'root' }] }))).toMatch(/^volumes\[0\] \(root\) must have exactly/);
    const theirs = { listener_config: { cluster_namespace: 'theirs' } };
    expect(plans.refusal(planned({}, theirs))).toMatch('The workspace may not use the namespace theirs');
    expect(plans.namespaceRefusal(STRANGER, 'theirs')).toBeUndefined();
    expect(plans.namespaceRefusal(TENANT, 'kube-system')).toMatch('may not use the namespace kube-system');
    expect(cluster.requests).toEqual([]);
  });
});
