import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import type { StartedRevision } from './app-folders.store';
import { awakeWithin, LocalApps } from './apps.service';

const SERVER = `
require('node:http').createServer((_, response) => response.end(process.env.LANGCHAIN_REVISION_ID))
  .listen(process.env.PORT, '127.0.0.1');`;

let folder: string;
let apps: LocalApps;
let told: string[];

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
    async ([revision]) => revision && { revision, secrets: new Map() },
    async () => undefined,
    (id, status) => void told.push(`${id} ${status}`),
  );
}

async function deploy(id: string): Promise<void> {
  writeFileSync(join(await apps.folder(id).emptyBuild('a'), 'server.js'), SERVER);
  const recipe = { folder: '.', start: 'exec node server.js', langgraph: false };
  const revision: StartedRevision = {
    ...{ deploymentId: id, tenantId: 'tenant', name: id, revisionId: `of ${id}`, build: 'a', recipe },
  };
  await apps.activate({ revision, secrets: new Map() }, new AbortController().signal);
}

async function ask(id: string): Promise<string> {
  const { port, end } = await apps.enter(id);
  const answer = await fetch(`http://127.0.0.1:${port}/`);
  end();
  return answer.text();
}

const awake = () => ['one', 'two', 'three'].filter((id) => apps.inspect(id).length > 0);

it('the program that nobody has used for the longest time sleeps for another one, and wakes with the next request', async () => {
  begin({ awake: 2 });
  for (const id of ['one', 'two', 'three']) await deploy(id);
  expect(awake()).toEqual(['two', 'three']);
  expect(await ask('two')).toBe('of two');
  expect(await ask('one')).toBe('of one');
  expect(awake()).toEqual(['one', 'two']);
  expect(told).toEqual(['one READY', 'two READY', 'one UNUSED', 'three READY', 'three UNUSED', 'one READY']);
});

it('a program that works on a request does not sleep: others wait, and are told after a time', async () => {
  begin({ awake: 1, hold: 500 });
  await deploy('one');
  const { port, end } = await apps.enter('one');
  await expect(apps.enter('two')).rejects.toThrow('All of the 1 processes that may run work on requests.');
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('of one');
  end();
  expect(awake()).toEqual(['one']);
});

it('a program does not sleep while a WebSocket is open', async () => {
  begin({ awake: 1, hold: 500 });
  await deploy('one');
  const { outlive } = await apps.enter('one');
  const ended = outlive(() => undefined);
  await expect(apps.enter('two')).rejects.toThrow('All of the 1 processes that may run work on requests.');
  expect(awake()).toEqual(['one']);
  ended();
});

it('a program for which there was no room when it was to be started is started the next time', async () => {
  begin({ awake: 1, hold: 500 });
  await deploy('one');
  await apps.stop('one');
  await deploy('two');
  const { end } = await apps.enter('two');
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
  const { end } = await apps.enter('one');
  const waiting = ask('two');
  expect(awake()).toEqual(['one']);
  end();
  expect(await waiting).toBe('of two');
  expect(awake()).toEqual(['two']);
});

it('a program sleeps when nobody has used it for a while, and many requests wake one', async () => {
  begin({ sleepAfter: 200 });
  await deploy('one');
  const { end } = await apps.enter('one');
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
