import { until } from '@fairlead/postgres/testing';
import { CommandExecutor, ExecutorUnreachable, type ProcessHealth, RecordExecutor } from '@fairlead/executors';
import { endless, ScriptedExecutor } from '../testing/scripted-executor';
import { TestRollouts } from '../testing/service';

let service: TestRollouts;
let executor: ScriptedExecutor;
beforeAll(async () => {
  service = await TestRollouts.create();
});
beforeEach(() => {
  executor = new ScriptedExecutor();
});
afterEach(() => service.stop());
afterAll(() => service.drop());

const server: ProcessHealth = {
  name: 'server',
  state: 'RUNNING',
  reason: null,
  revision_id: null,
  restarts: 1,
  started_at: '2026-01-01T12:00:00.000Z',
  memory_bytes: 350_000_000,
  cpu_cores: 0.2,
  last_error: 'exit code 1',
};

async function deployed(): Promise<[id: string, revision: string]> {
  const id = await service.deployment();
  const revision = await service.revision(id);
  await service.reached(id, revision, 'DEPLOYED');
  return [id, revision];
}

it('says plainly that nothing is run where revisions are only recorded', async () => {
  await service.start(new RecordExecutor());
  const [id, revision] = await deployed();
  expect(await service.health(id)).toEqual({
    status: 200,
    json: {
      deployment_id: id,
      state: 'RECORDED',
      detail: 'Recorded, nothing is run.',
      processes: [],
      standing: { text: 'Live, v1', tone: 'ok' },
      executor: 'record',
      next_executor: 'record',
      active_revision_id: revision,
      latest_revision: { id: revision, status: 'DEPLOYED', reason: null, preview: null },
    },
  });
});

it('tells the processes that the executor finds', async () => {
  await service.start(executor);
  const [id] = await deployed();
  expect((await service.health(id)).json).toMatchObject({ state: 'IDLE', processes: [] });
  executor.inspects = async () => [server];
  const { json } = await service.health(id);
  expect(json).toMatchObject({ state: 'RUNNING', executor: 'scripted', processes: [server] });
});

it('tells at most a hundred processes', async () => {
  executor.inspects = async () => Array.from({ length: 150 }, () => server);
  await service.start(executor);
  const [id] = await deployed();
  expect((await service.health(id)).json.processes).toHaveLength(100);
});

it('tells why the latest revision has failed, and that the one before runs on', async () => {
  executor.inspects = async () => [server];
  await service.start(executor);
  const [id, first] = await deployed();
  executor.builds = () => Promise.reject(new Error('no such base image'));
  const second = await service.revision(id);
  await service.reached(id, second, 'BUILD_FAILED');
  expect((await service.health(id)).json).toMatchObject({
    state: 'RUNNING',
    standing: { text: 'Live, v1; v2: build failed', tone: 'bad' },
    active_revision_id: first,
    latest_revision: { id: second, status: 'BUILD_FAILED', reason: 'no such base image' },
  });
});

it('tells of a deployment of which nothing was deployed why that is', async () => {
  executor.builds = () => Promise.reject(new Error('no such base image'));
  await service.start(executor);
  const id = await service.deployment();
  const none = {
    state: 'NOT_DEPLOYED',
    executor: null,
    next_executor: 'scripted',
    active_revision_id: null,
    processes: [],
  };
  expect((await service.health(id)).json).toMatchObject({ ...none, latest_revision: null });
  const revision = await service.revision(id);
  await service.reached(id, revision, 'BUILD_FAILED');
  const { json } = await service.health(id);
  const standing = { text: 'First build failed', tone: 'bad' };
  expect(json).toMatchObject({ ...none, standing, latest_revision: { reason: 'no such base image' } });
});

it('tells what a revision waits for', async () => {
  executor.builds = endless;
  await service.start(executor);
  const id = await service.deployment();
  const first = await service.revision(id);
  await service.reached(id, first, 'BUILDING');
  const second = await service.revision(id);
  const { latest_revision } = (await service.health(id)).json;
  const reason = `It waits until revision ${first} has ended.`;
  expect(latest_revision).toEqual({ id: second, status: 'QUEUED', reason, preview: null });
  await service.interrupt(id, second);
  expect((await service.health(id)).json.latest_revision.reason).toBe('It was interrupted.');
});

it('tells why nothing begins while the executor cannot be reached', async () => {
  executor.prepares = () => Promise.reject(new ExecutorUnreachable('The cluster does not answer.'));
  await service.start(executor);
  const id = await service.deployment();
  await service.revision(id);
  const reason = async () => (await service.health(id)).json.latest_revision.reason as string | null;
  expect(await until(reason, (said) => said !== null)).toBe('The cluster does not answer.');
});

it('does not know what runs while the executor cannot tell', async () => {
  executor.inspects = () => Promise.reject(new ExecutorUnreachable('The cluster does not answer.'));
  await service.start(executor);
  const [id] = await deployed();
  const { json } = await service.health(id);
  expect(json).toMatchObject({ state: 'UNKNOWN', detail: 'The cluster does not answer.', executor: 'scripted' });
});

it('knows nothing of what commands have started', async () => {
  await service.start(new CommandExecutor({ deploy: 'true' }));
  const [id] = await deployed();
  const { state, detail } = (await service.health(id)).json;
  expect([state, detail]).toEqual(['UNKNOWN', 'The executor command does not know what its commands have started.']);
});

it('starts nothing when the server has another executor, and says which one deployed it', async () => {
  await service.start(executor);
  const [id, revision] = await deployed();
  await service.stop();
  const other = new ScriptedExecutor('other');
  await service.start(other);
  const { json } = await service.health(id);
  expect(json).toMatchObject({
    state: 'UNKNOWN',
    detail: 'The executor scripted deployed it, and this server has the executor other.',
    executor: 'scripted',
    active_revision_id: revision,
  });
  // What is deployed afterwards is deployed by the new one; the one before was left alone.
  const [, next] = await deployed();
  const callsFor = (one: string) => other.calls.filter((call) => call.includes(one));
  expect(callsFor(next)).toEqual([`build ${next}`, `deploy ${next}`]);
  expect(callsFor(revision)).toEqual([]);
});

it('tells nobody else', async () => {
  await service.start(executor);
  const id = await service.deployment();
  const missing = { status: 404, json: { detail: `Deployment ID ${id} not found.` } };
  expect(await service.health(id, 'stranger')).toEqual(missing);
  expect((await service.health('no-id')).status).toBe(422);
});
