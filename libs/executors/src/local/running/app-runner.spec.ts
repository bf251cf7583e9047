import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { until } from '@fairlead/postgres/testing';
import type { StartedRevision } from '../isolation/app-folders.store';
import { AppLogs } from './app-logs';
import { AppRunner } from './app-runner';
import { LocalApps } from '../local-apps';
import type { Runnable } from './serving';

/** A server that shows by a file that it runs. It answers its name after `pause` ms, and ends half a second late. */
const server = (name: string, pause: number) => `
const fs = require('node:fs'), file = process.env.DATA_DIR + '/${name}.' + process.pid;
const others = fs.readdirSync(process.env.DATA_DIR).filter((one) => one.startsWith('${name}.'));
if (others.length > 0) fs.writeFileSync(process.env.DATA_DIR + '/twice', '');
fs.writeFileSync(file, '');
process.on('SIGTERM', () => setTimeout(() => { fs.rmSync(file); process.exit(0); }, 500));
setTimeout(() => require('node:http').createServer((request, response) => {
  if (request.url === '/crash') { fs.rmSync(file); process.exit(3); }
  response.end('${name}');
}).listen(process.env.PORT, '127.0.0.1'), ${pause});`;

let folder: string;
let apps: LocalApps;
let active: StartedRevision;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-runner-'));
  chmodSync(folder, 0o711);
  apps = new LocalApps(join(folder, 'apps'), { restart: { first: 10, most: 1000 }, trial: 0 });
  apps.begin(
    async () => ({ revision: active, secrets: new Map() }),
    async () => undefined,
    () => undefined,
  );
});
afterEach(async () => {
  await apps.end();
  rmSync(folder, { recursive: true, force: true });
});

async function revision(name: string, pause: number, langgraph = false): Promise<StartedRevision> {
  writeFileSync(join(await apps.folders.of('one').emptyBuild(name), 'server.js'), server(name, pause));
  const recipe = { folder: '.', start: 'exec node server.js', langgraph };
  return { deploymentId: 'one', tenantId: 'tenant', name: 'agent', revisionId: name, build: name, recipe };
}

async function activate(wanted: StartedRevision): Promise<void> {
  await apps.activate({ revision: wanted, secrets: new Map() }, new AbortController().signal);
}

async function ask(path: string): Promise<string | undefined> {
  const { port, end } = await apps.runners.enter('one');
  const answer = await fetch(`http://127.0.0.1:${port}${path}`).then(
    (response) => response.text(),
    () => undefined,
  );
  end();
  return answer;
}

const seen = () => readdirSync(join(apps.folders.of('one').path, 'data'));

it.each([2000, 0])('a program that ends while its successor starts does not come back beside it', async (pause) => {
  active = await revision('old', pause);
  await activate(active);
  const replaced = activate(await revision('new', 1500));
  await until(
    async () => seen(),
    (files) => files.some((file) => file.startsWith('new.')),
  );
  await ask('/crash');
  await replaced;
  // The one before would be ready by now.
  await new Promise((resolve) => setTimeout(resolve, 4000));
  expect(await ask('/')).toBe('new');
  expect(seen().filter((file) => file.startsWith('old.'))).toEqual([]);
});

it('a program is known as the one to start from the moment when it serves, also while the one before has requests', async () => {
  active = await revision('old', 0);
  await activate(active);
  const { end } = await apps.runners.enter('one');
  const replaced = activate(await revision('new', 0));
  await until(async () => (await ask('/')) === 'new');
  expect(apps.kept.revisions('one').map(({ revisionId }) => revisionId)).toEqual(['new', 'old']);
  end();
  await replaced;
});

it('what is being started has ended before the program is started again', async () => {
  active = await revision('only', 1000, true);
  await activate(active);
  await ask('/crash');
  await until(
    async () => seen(),
    (files) => files.length === 1,
  );
  await apps.restart('one', new AbortController().signal);
  expect(await ask('/')).toBe('only');
  expect(existsSync(join(apps.folders.of('one').path, 'data', 'twice'))).toBe(false);
});

it('a restart that is aborted before its turn leaves what runs as it is', async () => {
  active = await revision('only', 0, true);
  await activate(active);
  const before = seen();
  await expect(apps.restart('one', AbortSignal.abort())).rejects.toThrow('aborted');
  expect(seen()).toEqual(before);
  expect(await ask('/')).toBe('only');
});

describe('a program that does not become ready', () => {
  let hasty: LocalApps;
  let said: string[];

  beforeEach(() => (said = []));
  afterEach(() => hasty.end());

  async function start(text: string, ready: number): Promise<void> {
    hasty = new LocalApps(join(folder, 'hasty'), { ready });
    hasty.begin(
      async () => undefined,
      async () => undefined,
      () => undefined,
    );
    writeFileSync(join(await hasty.folders.of('one').emptyBuild('mute'), 'server.js'), text);
    const recipe = { folder: '.', start: 'exec node server.js', langgraph: false };
    const mute = { deploymentId: 'one', tenantId: 'tenant', name: 'agent', revisionId: 'mute', build: 'mute', recipe };
    const chosen = { revision: mute, secrets: new Map<string, string>(), say: (text: string) => void said.push(text) };
    await hasty.activate(chosen, new AbortController().signal);
  }

  it('is given up in time, though garbage is collected while it is waited for', async () => {
    setFlagsFromString('--expose-gc');
    const collecting = setInterval(runInNewContext('gc') as () => void, 200);
    try {
      await expect(start('setInterval(() => {}, 1000);', 2000)).rejects.toThrow(
        'The program was not ready within 2 s. It listens at no port. It must listen at the port that the environment variable PORT names, at 127.0.0.1 or 0.0.0.0. It wrote nothing.',
      );
    } finally {
      clearInterval(collecting);
    }
  });

  const listening = (where: string) =>
    `require('node:http').createServer().listen({ ${where} }, function () { console.log('at', this.address().port); });`;

  const child = JSON.stringify(['-e', listening(`port: 0, host: '127.0.0.1'`)]);
  const BY_CHILD = `require('node:child_process').spawn(process.execPath, ${child}, { stdio: 'inherit' })`;

  it.each([
    [
      'at a port of its own',
      listening(`port: 0, host: '127.0.0.1'`),
      /It listens at port (\d+) instead of \d+\. .*PORT/,
    ],
    ['at a port of its own, by a child', BY_CHILD, /listens at port (\d+) inst/],
    ['for IPv6 only', listening(`port: process.env.PORT, host: '::1'`), /at port (\d+) of the IPv6 address ::1 only\./],
    [
      'for all of IPv6 only',
      listening(`port: process.env.PORT, host: '::', ipv6Only: true`),
      /at port (\d+) of IPv6 only\. It must listen at 127/,
    ],
  ])('is told where it listens instead: %s', async (_, text, reason) => {
    let failure = await start(text, 4000).catch(({ message }: Error) => message);
    // On a slow machine it listens later.
    if (/It listens at no port/.test(String(failure))) {
      await hasty.end();
      failure = await start(text, 60_000).catch(({ message }: Error) => message);
    }
    expect(failure).toMatch(reason);
    expect(reason.exec(failure as string)?.[1]).toBe(/Its last lines: at (\d+)/.exec(failure as string)?.[1]);
  });

  it('says after ten seconds what is waited for', async () => {
    const failure = await start(listening(`port: 0, host: '127.0.0.1'`), 12_000).catch(({ message }: Error) => message);
    expect(said).toEqual([
      expect.stringMatching(
        /^It is waited until the program listens at port \d+ \(the value of PORT\)\. It listens at port \d+ in/,
      ),
    ]);
    expect(failure).toMatch(/^The program was not ready within 12 s\./);
  });

  it('that ends tells the cause first, also when much follows it', async () => {
    const text = `process.on('exit', () => console.error(' x'.repeat(999) + '\\n' + ' y'.repeat(999))); require('a-module');`;
    await expect(start(text, 60_000)).rejects.toThrow(
      /before it was ready\. Its last lines: Error: Cannot find module 'a-mod/,
    );
  });
});

it('a program that is put to sleep while it is looked up what to start is asleep', async () => {
  let lookups = 0;
  let found: (program: Runnable) => void = () => undefined;
  const next = () => {
    lookups++;
    return new Promise<Runnable>((resolve) => (found = resolve));
  };
  const machine = { next, room: async () => true, tell: () => undefined, tookBack: () => undefined };
  const runner = new AppRunner(apps.limits, new AppLogs(apps.limits.logs), machine);
  const late = new AbortController();
  const refused = expect(runner.enter(late.signal)).rejects.toThrow('It did not become ready.');
  await until(
    () => lookups,
    (count) => count > 0,
  );
  late.abort();
  await refused;
  const asleep = runner.sleep();
  found({} as Runnable);
  await asleep;
  expect(runner.isAwake).toBe(false);
});
