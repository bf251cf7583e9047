import type { PlannedRevision, Rehearsal, RolloutPlans } from '@fairlead/contracts';
import { TENANT } from '@fairlead/edge/testing';
import { streamName } from '@fairlead/eventing';
import { TestService } from '../testing/service';

/** An executor that refuses the namespace `theirs` and images called `odd`, and says what a test wants of the rest. */
class ScriptedPlans implements RolloutPlans {
  says: Omit<Rehearsal, 'warnings'> & Partial<Rehearsal> = {};
  readonly rehearsed: PlannedRevision[] = [];

  refusal({ revision, place }: PlannedRevision): string | undefined {
    const where = place === undefined ? '' : ` in ${place}`;
    return /odd/.test(revision.source_revision_config.image_uri!) ? `image_uri is odd${where}.` : undefined;
  }

  namespaceRefusal(tenantId: string, namespace: string): string | undefined {
    return namespace === 'theirs' ? `${tenantId} may not use theirs.` : undefined;
  }

  async rehearse(planned: PlannedRevision): Promise<Rehearsal> {
    this.rehearsed.push(planned);
    return { warnings: [], ...this.says };
  }
}

const plans = new ScriptedPlans();
let service: TestService;
beforeAll(async () => (service = await TestService.start('any', { plans })));
afterAll(() => service.stop());
beforeEach(() => {
  plans.says = {};
  plans.rehearsed.length = 0;
});

const send: TestService['send'] = (...request) => service.send(...request);
const body = (name: string, image_uri = 'registry.example/agent:1') => ({
  name,
  source: 'external_container',
  source_config: { resource_spec: { min_scale: 2 } },
  source_revision_config: { image_uri },
  secrets: [{ name: 'TOKEN', value: 'sesame-open' }],
});
const odd = { source_revision_config: { image_uri: 'registry.example/odd:1' } };

describe('what the executor says of a change', () => {
  it('refuses it before anything is stored', async () => {
    const refused = { status: 400, json: { detail: 'image_uri is odd.' } };
    expect(await send('POST', '/v2/deployments', { body: { ...body('odd'), ...odd } })).toMatchObject(refused);
    const { json } = await send('POST', '/v2/deployments', { body: body('even') });
    expect(await send('PATCH', `/v2/deployments/${json.id}`, { body: odd })).toMatchObject(refused);
    const secrets = [{ name: 'TOKEN', value: 'another' }];
    expect(await send('PATCH', `/v2/deployments/${json.id}`, { body: { ...odd, secrets } })).toMatchObject(refused);
    expect((await send('GET', `/v2/deployments/${json.id}/history`)).json.total).toBeGreaterThan(0);
    expect((await send('GET', `/v2/deployments/${json.id}/revisions`)).json.resources).toHaveLength(1);
    expect((await send('GET', '/v2/deployments?name=odd')).json.resources).toEqual([]);
    expect(plans.rehearsed).toEqual([]);
  });

  it.each(['true', 'plan'])('is asked for by dry_run=%s, and its warnings are answered', async (dry_run) => {
    plans.says = { warnings: ['would violate "restricted"', 'a second one – with a dash'] };
    const created = await send('POST', `/v2/deployments?dry_run=${dry_run}`, { body: body(`asked-${dry_run}`) });
    expect(created.headers.warning).toEqual(
      '299 - "would violate \\"restricted\\"", 299 - "a second one ? with a dash"',
    );
    const { json } = await send('POST', '/v2/deployments', { body: body(`kept-${dry_run}`) });
    const at = `/v2/deployments/${json.id}`;
    await send('PATCH', `${at}?dry_run=${dry_run}`, { body: { source_config: { resource_spec: { min_scale: 3 } } } });
    await send('PATCH', `${at}?dry_run=${dry_run}`, { body: { source_config: { custom_url: 'https://a.example' } } });
    await send('POST', `${at}/revisions/${json.latest_revision_id}/redeploy?dry_run=${dry_run}`);
    expect(plans.rehearsed.map(({ revision }) => revision.resource_spec)).toEqual([
      { min_scale: 2 },
      { min_scale: 3 },
      { min_scale: 2 },
    ]);
    expect(plans.rehearsed[0]).toMatchObject({
      tenantId: TENANT,
      revision: { source_revision_config: { image_uri: 'registry.example/agent:1' }, secrets: [{ name: 'TOKEN' }] },
    });
  });

  it('is about the place where the deployment runs', async () => {
    const { json } = await send('POST', '/v2/deployments', { body: body('placed') });
    const placed = { type: 'DeploymentPlaced', data: { deployment_id: json.id, place: 'agents' } };
    await service.store.append(streamName('host', json.id), 'any', [placed], { tenant: TENANT });
    const at = `/v2/deployments/${json.id}`;
    await send('PATCH', `${at}?dry_run=true`, { body: { source_config: { resource_spec: { min_scale: 3 } } } });
    await send('POST', `${at}/revisions/${json.latest_revision_id}/redeploy?dry_run=true`);
    expect(plans.rehearsed.map(({ place }) => place)).toEqual(['agents', 'agents']);
    const refused = { status: 400, json: { detail: 'image_uri is odd in agents.' } };
    expect(await send('PATCH', at, { body: odd })).toMatchObject(refused);
  });

  it('answers a dry run with what would be refused, or that nothing can be said', async () => {
    plans.says = { refusal: 'The cluster refuses (422): no.' };
    expect(await send('POST', '/v2/deployments?dry_run=true', { body: body('tried') })).toMatchObject({
      status: 400,
      json: { detail: 'The cluster refuses (422): no.' },
    });
    plans.says = { unreachable: 'The cluster does not answer.' };
    expect(await send('POST', '/v2/deployments?dry_run=plan', { body: body('tried') })).toMatchObject({
      status: 503,
      json: { detail: 'The cluster does not answer.' },
    });
    expect((await send('POST', '/v2/deployments', { body: body('tried') })).status).toBe(201);
  });

  it('refuses listeners with namespaces that their workspace may not use', async () => {
    const listener = (cluster_namespaces: string[]) => ({
      compute_type: 'k8s',
      compute_id: cluster_namespaces.join(),
      compute_config: { cluster_namespaces },
    });
    const refused = { status: 400, json: { detail: `${TENANT} may not use theirs.` } };
    expect(await send('POST', '/v2/listeners', { body: listener(['ours', 'theirs']) })).toMatchObject(refused);
    const { json } = await send('POST', '/v2/listeners', { body: listener(['ours']) });
    const { compute_config } = listener(['theirs']);
    expect(await send('PATCH', `/v2/listeners/${json.id}`, { body: { compute_config } })).toMatchObject(refused);
  });
});
