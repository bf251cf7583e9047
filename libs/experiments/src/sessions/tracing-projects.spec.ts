import type { DeploymentCreatedMessage } from '@fairlead/contracts';
import { EventContext, idOf } from '@fairlead/eventing';
import { v4 as uuid } from 'uuid';
import { experiment, startUploading, type Uploading } from '../testing/uploading';
import { TracingProjectsController } from './tracing-projects.controller';

let service: Uploading;
beforeAll(async () => {
  service = await startUploading();
});
afterAll(() => service.stop());

/** Events of a deployment of this name, as the deployments service records them. */
async function deployment(name: string, tenant = service.tenants.a) {
  const id = uuid();
  const stream = `deployment-${id}`;
  const created = { deployment_id: id, tenant_id: tenant, name };
  await service.store.append(stream, 0, [{ type: 'DeploymentCreated', data: created }], { tenant });
  return {
    stream,
    async delete(delete_tracing_project: boolean) {
      const data = { name, delete_tracing_project };
      await service.store.append(stream, 1, [{ type: 'DeploymentDeletionRequested', data }], { tenant });
    },
  };
}

async function sessionsNamed(name: string, tenant: 'a' | 'b' = 'a') {
  const { json } = await service.get(`/api/v1/sessions?name=${encodeURIComponent(name)}`, tenant);
  return json as { id: string; reference_dataset_id: string | null }[];
}

describe('the tracing project of a deployment', () => {
  it('is created with it, in its tenant', async () => {
    const name = `agent ${uuid()}`;
    await deployment(name);
    await service.settled();
    expect(await sessionsNamed(name)).toEqual([
      expect.objectContaining({ name, reference_dataset_id: null, run_count: 0 }),
    ]);
    expect(await sessionsNamed(name, 'b')).toEqual([]);
  });

  it('has another name when an experiment has its name, and says so', async () => {
    const { json } = await service.upload(experiment());
    const { name, id } = json.experiment;
    const other = `${name} (deployment)`;
    const [taken, again] = [await deployment(name), await deployment(name)];
    await service.settled();
    expect((await sessionsNamed(name)).map((session) => session.id)).toEqual([id]);
    expect(await sessionsNamed(other)).toHaveLength(1);
    expect(await sessionsNamed(`${name} (deployment ${idOf(again.stream)})`)).toHaveLength(1);
    await taken.delete(true);
    await service.settled();
    expect(await sessionsNamed(name)).toHaveLength(1);
    expect(await sessionsNamed(other)).toEqual([]);
  });

  it('has another name whose characters are whole', async () => {
    const begin = `${'x'.repeat(199)}😀`;
    const name = `${begin} and more`;
    await service.upload(experiment({ experiment_name: name }));
    await deployment(name);
    await service.settled();
    expect(await sessionsNamed(`${begin} (deployment)`)).toHaveLength(1);
  });

  it('is the tracing project that has its name already', async () => {
    const name = `mine ${uuid()}`;
    const { json } = await service.send('POST', '/api/v1/sessions', [JSON.stringify({ name })]);
    const { stream } = await deployment(name);
    await service.settled();
    expect((await sessionsNamed(name)).map(({ id }) => id)).toEqual([json.id]);
    expect(await sessionsNamed(`${name} (deployment)`)).toEqual([]);
    expect(await service.store.read(stream)).toHaveLength(1);
  });

  it('goes with the deployment when that is asked for, and its name can be used again', async () => {
    const [kept, gone] = [`kept ${uuid()}`, `gone ${uuid()}`];
    await (await deployment(kept)).delete(false);
    await (await deployment(gone)).delete(true);
    await service.settled();
    expect(await sessionsNamed(kept)).toHaveLength(1);
    expect(await sessionsNamed(gone)).toEqual([]);
    await deployment(gone);
    await service.settled();
    expect(await sessionsNamed(gone)).toHaveLength(1);
  });

  it('that an earlier deployment of the name has left goes with the one that traces into it', async () => {
    const name = `again ${uuid()}`;
    await (await deployment(name)).delete(false);
    await service.settled();
    const again = await deployment(name);
    await service.settled();
    expect(await sessionsNamed(name)).toHaveLength(1);
    await again.delete(true);
    await service.settled();
    expect(await sessionsNamed(name)).toEqual([]);
    await deployment(name);
    await service.settled();
    expect(await sessionsNamed(name)).toHaveLength(1);
  });

  it('is created once, however often it is told', async () => {
    const name = `told ${uuid()}`;
    const { stream } = await deployment(name);
    await service.settled();
    const [event] = await service.store.read(stream);
    const head = await service.store.head();
    const consumer = service.app.get(TracingProjectsController, { strict: false });
    await consumer.created(event!.data as DeploymentCreatedMessage, new EventContext([event!]));
    expect(await service.store.head()).toBe(head);
    const { rows } = await service.pool.query('select 1 from sessions where name = $1', [name]);
    expect(rows).toHaveLength(1);
  });
});
