import { streamName } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import { ExecutorUnreachable, type ProcessHealth, StepFailed } from '@fairlead/executors';
import { ScriptedExecutor } from '../testing/scripted-executor';
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

const RUNNING: ProcessHealth = {
  ...{ name: 'server', state: 'RUNNING', reason: null, revision_id: null, restarts: 0, started_at: null },
  ...{ memory_bytes: null, cpu_cores: null, last_error: null },
};

type Asked = 'DeploymentStopRequested' | 'DeploymentStartRequested' | 'DeploymentRestartRequested';

async function deployed(): Promise<string> {
  const id = await service.deployment();
  await service.reached(id, await service.revision(id), 'DEPLOYED');
  return id;
}

const ask = (id: string, type: Asked) => service.append(id, [{ type, data: {} }]);
const actions = () => executor.calls.filter((call) => ['stop', 'start', 'restart'].includes(call));

/** Results of the actions that have ended: the reason of each failure, or undefined. */
async function ended(id: string): Promise<(string | undefined)[]> {
  const events = await service.store.read(streamName('host', id));
  const about = events.filter(({ type }) => type === 'ControlCarriedOut' || type === 'ControlFailed');
  return about.map(({ data }) => (data as { reason?: string }).reason);
}

/** Waits until all that was asked for has ended; answers what the executor was called for. */
async function done(id: string, times: number): Promise<string[]> {
  await until(
    () => ended(id),
    ({ length }) => length === times,
  );
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

it('says what has failed, and what another executor would have to do', async () => {
  executor.controls = () => Promise.reject(new StepFailed('The cluster refuses (403).'));
  executor.inspects = () => Promise.resolve([RUNNING]);
  await service.start(executor);
  const id = await deployed();
  await ask(id, 'DeploymentRestartRequested');
  expect(await done(id, 1)).toEqual(['restart']);
  const notRestarted = 'It did not restart: The cluster refuses (403).';
  const detail = `1 process is running. ${notRestarted}`;
  expect((await service.health(id)).json).toMatchObject({ state: 'RUNNING', detail });
  await service.stop();
  const other = new ScriptedExecutor('other');
  await service.start(other);
  await ask(id, 'DeploymentStopRequested');
  await done(id, 2);
  expect(other.calls).not.toContain('stop');
  const notStopped = 'It cannot stop: scripted deployed it, and this server has the executor other.';
  expect(await ended(id)).toEqual([notRestarted, notStopped]);
  const { json } = await service.logs(`${id}/deploy_logs`);
  expect((json.logs as { message: string }[]).map(({ message }) => message)).toEqual([notRestarted, notStopped]);
});

it('is UNKNOWN while it did not stop, and can be stopped once more', async () => {
  executor.controls = () => Promise.reject(new StepFailed('The cluster refuses (403).'));
  executor.inspects = () => Promise.resolve([RUNNING]);
  await service.start(executor);
  const id = await deployed();
  await ask(id, 'DeploymentStopRequested');
  const reason = 'It did not stop: The cluster refuses (403).';
  await until(
    () => ended(id),
    (all) => all.includes(reason),
  );
  expect((await service.health(id)).json).toMatchObject({
    state: 'RUNNING',
    detail: `1 process is running. ${reason}`,
  });
  expect((await service.hostStatuses(id)).at(-1)).toBe('UNKNOWN');
  // That it can be reached does not say that it has stopped.
  await ask(id, 'DeploymentRestartRequested');
  await done(id, 2);
  expect((await service.hostStatuses(id)).at(-1)).toBe('UNKNOWN');
  executor.controls = () => Promise.resolve();
  executor.inspects = () => Promise.resolve([]);
  await ask(id, 'DeploymentStopRequested');
  await done(id, 3);
  expect((await service.health(id)).json).toMatchObject({ state: 'STOPPED', detail: 'Somebody has stopped it.' });
  expect((await service.hostStatuses(id)).at(-1)).toBe('READY');
});

it('that was stopped is READY again when its executor can be reached again', async () => {
  const upkeep = {
    place: () => 'here',
    restore: () => Promise.resolve(),
    halt: () => Promise.resolve(),
    observe: () => Promise.resolve({ drift: [] }),
  };
  await service.start(Object.assign(executor, { upkeep }));
  const id = await deployed();
  await ask(id, 'DeploymentStopRequested');
  await done(id, 1);
  executor.builds = () => Promise.reject(new ExecutorUnreachable('The cluster does not answer.'));
  const unbuilt = await service.revision(id);
  const last = (expected: string) =>
    until(
      async () => (await service.hostStatuses(id)).at(-1),
      (status) => status === expected,
    );
  await last('UNKNOWN');
  // The revision ends while the executor is being prepared for it.
  let prepared = false;
  executor.prepares = async () => {
    if (prepared) return;
    prepared = true;
    const noted = async () => {
      const { rows } = await service.database.pool.query<{ noted: string }>('select noted from rollout_duties');
      return Number(rows[0]?.noted);
    };
    const before = await noted();
    await service.interrupt(id, unbuilt);
    await until(noted, (now) => now > before);
  };
  await last('READY');
  expect(actions()).toEqual(['stop']);
});

it('that is only looked at reads the stream of its host once for each look', async () => {
  const reads = jest.spyOn(service.store, 'parts');
  const before: number[] = [];
  let id = '';
  const upkeep = {
    place: () => 'here',
    restore: () => Promise.resolve(),
    halt: () => Promise.resolve(),
    observe: async () => {
      before.push(reads.mock.calls.filter(([stream]) => stream === `host-${id}`).length);
      return { drift: [] };
    },
  };
  service.options = { watchEvery: 20 };
  await service.start(Object.assign(executor, { upkeep }));
  id = await deployed();
  await until(
    async () => before.length,
    (looks) => looks >= 15,
  );
  reads.mockRestore();
  service.options = {};
  // The first looks follow a rollout, which has reads of its own.
  const each = before.slice(-4).map((count, index) => count - before.at(index - 5)!);
  expect(each).toEqual([1, 1, 1, 1]);
});
