import { streamName } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { ExecutorUnreachable, StepFailed } from './executors/executor';
import { ScriptedExecutor } from './testing/scripted.executor';
import { TestRollouts } from './testing/service';

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

type Asked = 'DeploymentStopRequested' | 'DeploymentStartRequested' | 'DeploymentRestartRequested';

async function deployed(): Promise<string> {
  const id = await service.deployment();
  await service.reached(id, await service.revision(id), 'DEPLOYED');
  return id;
}

const ask = (id: string, type: Asked) => service.append(id, [{ type, data: {} }]);
const actions = () => executor.calls.filter((call) => ['stop', 'start', 'restart'].includes(call));

/** Waits until all that was asked for is done; answers what was done. */
async function done(id: string, times: number): Promise<string[]> {
  const carried = async () => {
    const events = await service.store.read(streamName('host', id));
    return events.filter(({ type }) => type === 'ControlCarriedOut').length;
  };
  await until(carried, (count) => count === times);
  return actions();
}

it('stops, starts and restarts what runs, each time once', async () => {
  await service.start(executor);
  const id = await deployed();
  await ask(id, 'DeploymentStopRequested');
  expect(await done(id, 1)).toEqual(['stop']);
  expect((await service.health(id)).json).toMatchObject({ state: 'STOPPED', detail: 'Somebody has stopped it.' });
  await service.stop();
  await service.start(executor);
  await ask(id, 'DeploymentStartRequested');
  expect(await done(id, 2)).toEqual(['stop', 'start']);
  expect((await service.health(id)).json.state).toBe('IDLE');
  await ask(id, 'DeploymentRestartRequested');
  expect(await done(id, 3)).toEqual(['stop', 'start', 'restart']);
});

it('stops again what a revision has started while the deployment was stopped', async () => {
  await service.start(executor);
  const id = await deployed();
  await ask(id, 'DeploymentStopRequested');
  await done(id, 1);
  await service.reached(id, await service.revision(id), 'DEPLOYED');
  expect(await done(id, 2)).toEqual(['stop', 'stop']);
  // Nobody has stopped it since it was started: what is deployed runs on.
  await ask(id, 'DeploymentStartRequested');
  await done(id, 3);
  await service.reached(id, await service.revision(id), 'DEPLOYED');
  await ask(id, 'DeploymentRestartRequested');
  expect(await done(id, 4)).toEqual(['stop', 'stop', 'start', 'restart']);
});

it('tries again when the executor cannot be reached', async () => {
  let times = 0;
  executor.controls = async () => {
    if (++times < 3) throw new ExecutorUnreachable('The cluster does not answer.');
  };
  await service.start(executor);
  const id = await deployed();
  await ask(id, 'DeploymentStopRequested');
  expect(await done(id, 1)).toEqual(['stop', 'stop', 'stop']);
  expect(await service.hostStatuses(id)).toEqual(expect.arrayContaining(['READY', 'UNKNOWN']));
});

it('says in the log what has failed, and what another executor would have to do', async () => {
  executor.controls = () => Promise.reject(new StepFailed('The cluster refuses (403).'));
  await service.start(executor);
  const id = await deployed();
  await ask(id, 'DeploymentRestartRequested');
  expect(await done(id, 1)).toEqual(['restart']);
  await service.stop();
  const other = new ScriptedExecutor('other');
  await service.start(other);
  await ask(id, 'DeploymentStopRequested');
  await done(id, 2);
  expect(other.calls).not.toContain('stop');
  const { json } = await service.logs(`${id}/deploy_logs`);
  expect((json.logs as { message: string }[]).map(({ message }) => message)).toEqual([
    'It did not restart: The cluster refuses (403).',
    'It cannot stop: scripted deployed it, and this server has the executor other.',
  ]);
});
