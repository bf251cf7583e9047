import { Followers, streamName } from '@fairlead/eventing';
import { OTHER_TENANT, TENANT } from '@fairlead/edge/testing';
import { IdleWatch } from './idle-watch.worker';
import { uuidOf } from '../testing/samples';
import { TestService } from '../testing/service';

let service: TestService;
let count = 0;
beforeAll(async () => (service = await TestService.start('any', { unusedAfter: 3_600_000 })));
afterAll(() => service.stop());

const at = (id: string) => `/v2/deployments/${id}`;
const later = () => new Date(Date.now() + 60_000);
const look = (time: Date) => service.app.get(IdleWatch).look(time);
const newDeployment = () => {
  const name = `idle-${++count}`;
  return service.ready({ name, source: 'internal_source', source_config: {}, source_revision_config: {}, secrets: [] });
};

async function becomes(id: string, status: string): Promise<void> {
  await service.eventually(
    () => service.send('GET', at(id)),
    ({ json }) => json.status === status,
  );
}

/** Runs are sent to a session of this name. */
async function trace(session: string, name: unknown, tenant: string): Promise<void> {
  const stream = streamName('experiment', session);
  await service.store.append(stream, 'any', [{ type: 'SessionCreated', data: { name } }], { tenant });
  await service.store.append(stream, 'any', [{ type: 'RunsReceived', data: { runs: [] } }], { tenant });
  await service.app.get(Followers).passed(await service.store.head(), undefined, 60_000);
}

describe('rule 9: UNUSED', () => {
  it('is what nobody has changed or used for the time, until somebody changes it', async () => {
    const { id } = await newDeployment();
    await look(new Date(0));
    expect((await service.send('GET', at(id))).json.status).toBe('READY');
    await look(later());
    await becomes(id, 'UNUSED');
    const { json } = await service.send('GET', '/v2/deployments?status=UNUSED');
    expect(json.resources.map((one: { id: string }) => one.id)).toContain(id);
    const history = await service.send('GET', `${at(id)}/history?limit=100`);
    expect(history.json.resources[0]).toMatchObject({
      type: 'DeploymentStatusReported',
      actor: 'system:deployments',
    });
    const patched = await service.send('PATCH', at(id), {
      body: { source_config: { custom_url: 'https://a.example' } },
    });
    expect(patched.json.status).toBe('READY');
  });

  it('ends when runs are sent to the tracing project, of this tenant', async () => {
    const { id, name } = await newDeployment();
    const since = new Date();
    await look(later());
    await becomes(id, 'UNUSED');
    await trace(uuidOf(501), name, OTHER_TENANT);
    await look(later());
    expect((await service.send('GET', at(id))).json.status).toBe('UNUSED');
    await trace(uuidOf(502), name, TENANT);
    await service.eventually(
      async () => {
        await look(since);
        return service.send('GET', at(id));
      },
      ({ json }) => json.status === 'READY',
    );
  });
});
