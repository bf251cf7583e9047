import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { isRunning } from '../testing/home';

const ROOT = join(__dirname, '../../../..');
/** In the place of the service: says where it runs, and goes when it is told to. */
const SERVICE = `
process.on('SIGTERM', () => {
  console.log('stopped in order');
  process.exit(0);
});
setInterval(() => undefined, 1000);
console.log('ready', process.pid);
`;

let checkout: string;

function write(path: string, text: string): void {
  const file = join(checkout, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A checkout that is installed, and whose build does nothing. */
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'fairlead-start-'));
  cpSync(join(ROOT, 'tools/start'), join(checkout, 'tools/start'), { recursive: true });
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  write('package.json', JSON.stringify({ ...manifest, scripts: { ...manifest.scripts, build: 'true' } }));
  for (const path of ['package-lock.json', 'tsconfig.base.json', 'libs/none/package.json']) write(path, '{}');
  for (const path of ['package.json', 'tsconfig.json', 'src/main.ts']) write(`apps/standalone/${path}`, '{}');
  write('apps/standalone/dist/main.js', SERVICE);
  write('node_modules/.package-lock.json', '{}');
});
afterEach(() => rmSync(checkout, { recursive: true, force: true }));

it('npm start hands SIGTERM to the service, which stops in order', async () => {
  const npm = spawn('npm', ['start'], { cwd: checkout, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  npm.stdout.on('data', (data: Buffer) => (output += data.toString()));
  await until(() => /^ready \d+$/m.test(output));
  const service = Number(/^ready (\d+)$/m.exec(output)![1]);
  const ended = once(npm, 'close');
  let leftBehind = false;
  npm.once('exit', () => {
    leftBehind = isRunning(service);
    if (leftBehind) process.kill(service, 'SIGKILL');
  });
  npm.kill('SIGTERM');
  await ended;
  expect({ leftBehind, output }).toEqual({ leftBehind: false, output: expect.stringContaining('stopped in order\n') });
});

/** Starts the service with a program in the place of npm, and stops it; returns what npm was asked to install. */
async function installations(): Promise<string[]> {
  const installed = join(checkout, 'node_modules/.package-lock.json');
  const npm = ['#!/bin/sh', `echo "$@" >> '${checkout}/asked'`, `test "$1" != ci || echo {} > '${installed}'`, ''];
  write('bin/npm', npm.join('\n'));
  chmodSync(join(checkout, 'bin/npm'), 0o755);
  const PATH = `${join(checkout, 'bin')}:${process.env.PATH}`;
  const start = spawn(process.execPath, [join(checkout, 'tools/start/start.mjs')], {
    env: { ...process.env, PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  start.stdout.on('data', (data: Buffer) => (output += data.toString()));
  await until(() => /^ready \d+$/m.test(output));
  const ended = once(start, 'close');
  start.kill('SIGTERM');
  await ended;
  return readFileSync(join(checkout, 'asked'), 'utf8').match(/^ci .*$/gm) ?? [];
}

it('npm start installs without the warnings of npm, and again only when other packages are named', async () => {
  rmSync(join(checkout, 'node_modules/.package-lock.json'));
  const first = [expect.stringMatching(/ --loglevel=error$/)];
  expect(await installations()).toEqual(first);
  const later = new Date(Date.now() + 60_000);
  utimesSync(join(checkout, 'package-lock.json'), later, later);
  expect(await installations()).toEqual(first);
  write('package-lock.json', '{"packages":{}}');
  utimesSync(join(checkout, 'package-lock.json'), later, later);
  expect(await installations()).toEqual([...first, ...first]);
});
