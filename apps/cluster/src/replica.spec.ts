import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@fairlead/postgres/testing';
import { Replica } from './replica';

/** Runs until it is told to end; it is ready when it writes. */
const PROGRAM = `setTimeout(() => console.log('ready'), Number(process.argv[1])); setInterval(() => undefined, 1000)`;

let launched: ChildProcess[];
let wait: number;
let replica: Replica;
beforeEach(() => {
  [launched, wait] = [[], 0];
  replica = new Replica({
    name: 'one',
    say: () => undefined,
    launch: () => {
      const child = spawn(process.execPath, ['-e', PROGRAM, String(wait)], { stdio: ['ignore', 'pipe', 'inherit'] });
      launched.push(child);
      return child;
    },
    ready: async (signal) => void (await once(launched.at(-1)!.stdout!, 'data', { signal })),
  });
});
afterEach(() => replica.stop());

const alive = () => launched.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);

it('A process that ends is started again', async () => {
  await replica.start();
  launched[0]!.kill('SIGKILL');
  await until(() => launched.length === 2);
  expect(replica.pid).toBe(launched[1]!.pid);
  await replica.stop();
  expect(alive()).toEqual([]);
});

it('One that is told to restart while it is being started again runs once', async () => {
  await replica.start();
  wait = 60_000;
  launched[0]!.kill('SIGKILL');
  await until(() => launched.length === 2);
  wait = 0;
  await replica.restart();
  // Longer than the pause before another would be started.
  await delay(1500);
  expect(launched).toHaveLength(3);
  expect(alive()).toEqual([launched[2]]);
  await replica.stop();
  expect(alive()).toEqual([]);
});
