import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import type { StartedRevision } from './app-folders.store';
import { LocalApps } from '../local-apps';

/** Writes a file of 40 MB into its own folder, and two that are for a short time, when it is asked to. */
const SERVER = `
const fs = require('node:fs');
require('node:http').createServer((request, response) => {
  if (request.url === '/fill') for (const folder of ['.', process.env.TMPDIR, '/dev/shm']) fs.writeFileSync(folder + '/file', Buffer.alloc(40e6));
  response.end('done');
}).listen(process.env.PORT, '127.0.0.1');`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-disk-'));
  chmodSync(folder, 0o711);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const active: StartedRevision = {
  ...{ deploymentId: 'one', tenantId: 'tenant', name: 'agent', revisionId: 'first', build: 'first' },
  recipe: { folder: '.', start: 'exec node server.js', langgraph: false },
};

function hosted(limits: ConstructorParameters<typeof LocalApps>[1]): LocalApps {
  const apps = new LocalApps(join(folder, 'apps'), { restart: { first: 10, most: 1000 }, ...limits });
  apps.begin(
    async () => ({ revision: active, secrets: new Map() }),
    async () => undefined,
    () => undefined,
  );
  return apps;
}

const activate = (apps: LocalApps) =>
  apps.activate({ revision: active, secrets: new Map() }, new AbortController().signal);

it('a program that writes too much ends, says why, and starts again when there is room', async () => {
  const apps = hosted({ disk: 60e6, diskWatch: { reserve: 0, latest: 100 } });
  try {
    const build = await apps.folders.of('one').emptyBuild('first');
    writeFileSync(join(build, 'server.js'), SERVER);
    await activate(apps);
    const { port, end } = await apps.runners.enter('one');
    // It may be ended before it has answered.
    await fetch(`http://127.0.0.1:${port}/fill`).catch(() => undefined);
    end();
    // What is for a short time goes first, which makes room.
    await until(
      async () => apps.runners.inspect('one')[0],
      (health) => health?.state === 'RUNNING' && health.restarts >= 1,
    );
    expect(apps.runners.lines('one').map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^The program has \d+ MB of files, more than its limit of 60 MB: remove files of it, /),
    );
    for (const name of ['tmp', 'shm']) expect(readdirSync(join(apps.folders.of('one').path, name))).toEqual([]);
    const kept = join(build, 'kept');
    writeFileSync(kept, Buffer.alloc(40e6));
    const reason = /The program does not start again, because it has 8\d MB of files, more than its limit of 60 MB/;
    await until(
      async () => apps.runners.inspect('one')[0],
      (health) => health?.state === 'CRASH_LOOPING' && reason.test(health.reason!),
    );
    await expect(apps.runners.enter('one')).rejects.toThrow(reason);
    expect(apps.uses()[0]!.disk_bytes).toBeGreaterThan(60e6);
    rmSync(kept);
    await until(
      async () => apps.runners.inspect('one')[0]?.state,
      (state) => state === 'RUNNING',
    );
  } finally {
    await apps.end();
  }
});

it('nothing starts while less of the disk is free than the server keeps for itself', async () => {
  const apps = hosted({ diskWatch: { reserve: Number.MAX_SAFE_INTEGER } });
  try {
    const said =
      /^The disk of this machine is full: \d+ MB are free, and \d+ MB of it are for the server: remove files\.$/;
    await expect(activate(apps)).rejects.toThrow(said);
  } finally {
    await apps.end();
  }
});

it('caches are emptied when they take too much, and other files of the home folder stay', async () => {
  const apps = hosted({});
  try {
    const one = apps.folders.of('one');
    const home = join(one.path, 'home');
    for (const name of ['.npm', '.cache/pip']) mkdirSync(join(home, name), { recursive: true });
    writeFileSync(join(home, '.npm/content'), Buffer.alloc(2e6));
    writeFileSync(join(home, 'settings'), Buffer.alloc(2e6));
    if (process.getuid?.() === 0) for (const name of ['.npm', '.cache']) chmodSync(join(home, name), 0o777);
    expect(await one.clearCaches(10e6)).toBeUndefined();
    expect(existsSync(join(home, '.npm/content'))).toBe(true);
    expect(await one.clearCaches(1e6)).toBeGreaterThan(1e6);
    expect(existsSync(join(home, '.npm/content'))).toBe(false);
    expect(existsSync(join(home, 'settings'))).toBe(true);
  } finally {
    await apps.end();
  }
});
