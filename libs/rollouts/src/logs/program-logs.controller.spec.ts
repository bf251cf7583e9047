import { type LineLevel, RecordExecutor } from '@fairlead/executors';
import { ScriptedExecutor } from '../testing/scripted-executor';
import { TestRollouts } from '../testing/service';

let service: TestRollouts;
let executor: ScriptedExecutor;
let id: string;
beforeAll(async () => {
  service = await TestRollouts.create();
});
beforeEach(async () => {
  executor = new ScriptedExecutor();
  await service.start(executor);
  id = await service.deployment();
});
afterEach(() => service.stop());
afterAll(() => service.drop());

/** The program writes a line. */
function write(level: LineLevel, message: string): void {
  executor.written = [...executor.written, { id: 10 + executor.written.length, at: Date.now(), level, message }];
}

async function read(search = '', key = 'key') {
  const answer = await service.ask('GET', `/v2/deployments/${id}/app_logs${search}`, { headers: { 'x-api-key': key } });
  return { status: answer.statusCode, json: JSON.parse(answer.payload) };
}

it('answers what the program wrote, as it is asked for', async () => {
  write('INFO', 'starts');
  write('ERROR', 'no answer');
  write('WARNING', 'slow answer');
  expect((await read('?level=warn&query=ANSWER&order=desc&limit=1')).json).toEqual({
    logs: [{ id: '12', timestamp: expect.stringMatching(/Z$/), level: 'WARNING', message: 'slow answer' }],
    next_offset: '12',
  });
  expect((await read('?offset=12&wait=0')).json).toEqual({ logs: [], next_offset: null });
});

it('refuses parameters that it does not know, and tells strangers nothing', async () => {
  expect(await read('?grep=x')).toMatchObject({ status: 422, json: { detail: [{ loc: ['query', 'grep'] }] } });
  expect(await read('?level=loud')).toMatchObject({ status: 422 });
  const missing = { status: 404, json: { detail: `Deployment ID ${id} not found.` } };
  expect(await read('?wait=60', 'stranger')).toEqual(missing);
});

it('waits for a line that passes', async () => {
  write('INFO', 'starts');
  const answer = read('?offset=10&wait=60&level=ERROR');
  write('INFO', 'works');
  write('ERROR', 'gave up');
  expect((await answer).json.logs).toMatchObject([{ id: '12', message: 'gave up' }]);
});

it('answers no line when none comes, and where the executor runs no programs', async () => {
  const none = { status: 200, json: { logs: [], next_offset: null } };
  expect(await read('?wait=1')).toEqual(none);
  await service.stop();
  await service.start(new RecordExecutor());
  expect(await read()).toEqual(none);
});

it('lets fifty requests of a workspace wait', async () => {
  const waiting = Array.from({ length: 51 }, () => read('?wait=60'));
  expect(await Promise.race(waiting)).toMatchObject({ status: 429, json: { detail: expect.stringContaining('wait') } });
  write('INFO', 'starts');
  const answers = await Promise.all(waiting);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
  const answer = read('?offset=10&wait=60');
  write('INFO', 'works');
  expect(await answer).toMatchObject({ status: 200, json: { logs: [{ message: 'works' }] } });
});
