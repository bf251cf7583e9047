import { EventEmitter } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import type { StartedRevision } from './isolation/app-folders.store';
import { AppForwarding } from './forwarding/app-forwarding.service';
import { LocalApps } from './local-apps';
import { awakeWithin } from './local-limits';

const SERVER = `
require('node:http').createServer((_, response) => response.end(process.env.LANGCHAIN_REVISION_ID))
  .listen(process.env.PORT, '127.0.0.1');`;

let folder: string;
let apps: LocalApps;
let told: string[];
const sizes = new Map<string, Record<string, unknown>>();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-sleep-'));
  chmodSync(folder, 0o711);
  told = [];
});
afterEach(async () => {
  await apps.end();
  rmSync(folder, { recursive: true, force: true });
});

function begin(limits: ConstructorParameters<typeof LocalApps>[1]): void {
  apps = new LocalApps(join(folder, 'apps'), limits);
  apps.begin(
    async ([revision]) => revision && { revision, secrets: new Map(), sizes: sizes.get(revision.deploymentId) },
    async () => undefined,
    (id, status) => void told.push(`${id} ${status}`),
  );
}

async function deploy(id: string, min_scale?: number, langgraph = false): Promise<void> {
  writeFileSync(join(await apps.folders.of(id).emptyBuild('a'), 'server.js'), SERVER);
  const recipe = { folder: '.', start: 'exec node server.js', langgraph };
  sizes.set(id, { min_scale });
  const revision: StartedRevision = {
    ...{ deploymentId: id, tenantId: 'tenant', name: id, revisionId: `of ${id}`, build: 'a', recipe },
  };
  await apps.activate({ revision, secrets: new Map(), sizes: sizes.get(id) }, new AbortController().signal);
}

async function ask(id: string): Promise<string> {
  const { port, end } = await apps.runners.enter(id);
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  end();
  return answer.text();
}

const awake = () => ['one', 'two', 'three'].filter((id) => apps.runners.inspect(id).length > 0);

it('the program that nobody has used for the longest time sleeps for another one, and wakes with the next request', async () => {
  begin({ awake: 2 });
  for (const id of ['one', 'two', 'three']) await deploy(id);
  expect(awake()).toEqual(['two', 'three']);
  expect(await ask('two')).toBe('of two');
  expect(await ask('one')).toBe('of one');
  expect(awake()).toEqual(['one', 'two']);
  expect(told).toEqual(['one READY', 'two READY', 'one UNUSED', 'three READY', 'three UNUSED', 'one READY']);
});

it('a program with a min_scale never sleeps, and is started with the server', async () => {
  begin({ awake: 3, sleepAfter: 100 });
  await deploy('one', 1);
  await deploy('two');
  await until(
    async () => awake(),
    (now) => !now.includes('two'),
  );
  expect(awake()).toEqual(['one']);
  for (const id of ['two', 'three']) await deploy(id);
  expect(apps.kept.isAlwaysOn('one')).toBe(true);
  await apps.end();
  begin({ awake: 3 });
  expect(awake()).toEqual([]);
  apps.startAlwaysOn();
  await until(
    async () => awake(),
    (now) => now.length > 0,
  );
  expect(awake()).toEqual(['one']);
  // A later change of its sizes holds from the next start of a process on.
  sizes.set('one', { min_scale: 0 });
  await apps.restart('one', new AbortController().signal);
  expect(apps.kept.isAlwaysOn('one')).toBe(false);
  for (const id of ['two', 'three']) expect(await ask(id)).toBe(`of ${id}`);
});

it('a program that was stopped is not started with the server', async () => {
  begin({ awake: 3 });
  await deploy('one', 1);
  await apps.stop('one');
  await apps.end();
  begin({ awake: 3 });
  apps.startAlwaysOn();
  await expect(apps.runners.enter('one')).rejects.toThrow('It was stopped.');
});

it('programs that never sleep leave places for those that do', async () => {
  begin({ awake: 2 });
  for (const id of ['one', 'two']) await deploy(id, 1);
  expect(['one', 'two'].map((id) => apps.kept.isAlwaysOn(id))).toEqual([true, false]);
  await deploy('three');
  expect(awake()).toEqual(['one', 'three']);
});

it('a cron is refused where it would sleep', async () => {
  begin({ awake: 4 });
  await deploy('one', 0, true);
  await deploy('two', 1, true);
  await deploy('three');
  jest.spyOn(apps.runners, 'enter').mockRejectedValue(new Error('passed on'));
  const post = (id: string, path: string) => {
    const request = { method: 'POST', url: `/apps/${id}${path}` };
    const passed = new AppForwarding(apps).pass(
      request as never,
      { raw: new EventEmitter() } as never,
      { id, tenantId: 'tenant' },
      'api',
    );
    return passed.catch(({ message }: Error) => message);
  };
  for (const path of ['/runs/crons', '/threads/a/runs/crons', '/runs/crons?x=1']) {
    expect(await post('one', path)).toMatch(/^A cron would not run while the deployment sleeps\. Set min_scale to 1 /);
    expect(await post('two', path)).toBe('passed on');
    expect(await post('three', path)).toBe('passed on');
  }
  for (const path of ['/runs/crons/search', '/runs', '/runs/cronsy']) expect(await post('one', path)).toBe('passed on');
});

it('a program that works on a request does not sleep: others wait, and are told after a time', async () => {
  begin({ awake: 1, hold: 500 });
  await deploy('one');
  const { port, end } = await apps.runners.enter('one');
  await expect(apps.runners.enter('two')).rejects.toThrow('All of the 1 processes that may run work on requests.');
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('of one');
  end();
  expect(awake()).toEqual(['one']);
});

it('a program does not sleep while a WebSocket is open', async () => {
  begin({ awake: 1, hold: 500 });
  await deploy('one');
  const { outlive } = await apps.runners.enter('one');
  const ended = outlive(() => undefined);
  await expect(apps.runners.enter('two')).rejects.toThrow('All of the 1 processes that may run work on requests.');
  expect(awake()).toEqual(['one']);
  ended();
});

it('a program for which there was no room when it was to be started is started the next time', async () => {
  begin({ awake: 1, hold: 500 });
  await deploy('one');
  await apps.stop('one');
  await deploy('two');
  const { end } = await apps.runners.enter('two');
  const start = () => apps.start('one', new AbortController().signal);
  await expect(start()).rejects.toThrow('All of the 1 processes that may run work on requests.');
  end();
  await apps.stop('two');
  await start();
  expect(await ask('one')).toBe('of one');
});

it('a program that waits for room has it as soon as a request has ended', async () => {
  begin({ awake: 1, hold: 60_000 });
  await deploy('two');
  await deploy('one');
  const { end } = await apps.runners.enter('one');
  const waiting = ask('two');
  expect(awake()).toEqual(['one']);
  end();
  expect(await waiting).toBe('of two');
  expect(awake()).toEqual(['two']);
});

it('a program sleeps when nobody has used it for a while, and many requests wake one', async () => {
  begin({ sleepAfter: 200 });
  await deploy('one');
  const { end } = await apps.runners.enter('one');
  const asleep = () =>
    until(
      () => told.at(-1)!,
      (last) => last === 'one UNUSED',
    );
  end();
  await asleep();
  expect(awake()).toEqual([]);
  const starts = () => told.filter((said) => said === 'one READY').length;
  const before = starts();
  expect(await Promise.all([1, 2, 3].map(() => ask('one')))).toEqual(Array(3).fill('of one'));
  await asleep();
  expect(starts()).toBe(before + 1);
});

it('as many programs run as the memory allows, at least two', () => {
  expect(awakeWithin(1024 ** 3)).toBe(2);
  expect(awakeWithin(4 * 1024 ** 3)).toBeLessThanOrEqual(5);
});
