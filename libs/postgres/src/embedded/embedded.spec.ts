import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';
import { until } from '../testing';
import { connect } from '../database/database';
import { startEmbedded, type EmbeddedPostgres } from './embedded';
import { isAlive } from './postmaster';
import { DatabaseProblem } from '../database/problem';

const HOOK = join(__dirname, '../../../../tools/test/typescript.cjs');
const OWNER = join(__dirname, '../testing/own-server.ts');
const asRoot = process.getuid?.() === 0 ? it : it.skip;

describe('The embedded PostgreSQL', () => {
  let home: string;
  let dataDir: string;
  let lines: string[];
  let servers: EmbeddedPostgres[];
  let owners: ChildProcess[];

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'fairlead-embedded-'));
    chmodSync(home, 0o755);
    dataDir = join(home, 'postgres');
    lines = [];
    servers = [];
    owners = [];
  });
  afterEach(async () => {
    for (const owner of owners) owner.kill('SIGKILL');
    for (const server of servers) await server.stop();
    rmSync(home, { recursive: true, force: true });
  });

  async function start(directory = dataDir): Promise<EmbeddedPostgres> {
    const server = await startEmbedded({ dataDir: directory, log: (line) => lines.push(line) });
    servers.push(server);
    return server;
  }

  async function startElsewhere(): Promise<{ process: ChildProcess; url: string; pid: number }> {
    const owner = spawn(process.execPath, ['-r', HOOK, OWNER, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    owners.push(owner);
    const [line] = (await once(createInterface(owner.stdout), 'line')) as [string];
    return { process: owner, ...(JSON.parse(line) as { url: string; pid: number }) };
  }

  async function query<T extends object>(url: string, statement: string): Promise<T[]> {
    const client = await connect(url);
    try {
      return (await client.query<T>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  async function kill(pid: number): Promise<void> {
    process.kill(pid, 'SIGKILL');
    await until(() => !isAlive(pid));
  }

  it('starts cold, listens on 127.0.0.1 only and keeps its files to itself', async () => {
    const { url } = await start();
    expect(new URL(url).hostname).toBe('127.0.0.1');
    const settings = await query<{ name: string; setting: string }>(
      url,
      `select name, setting from pg_settings where name in
       ('listen_addresses', 'unix_socket_directories', 'fsync', 'synchronous_commit', 'jit', 'server_encoding') order by name`,
    );
    expect(settings.map((row) => `${row.name}=${row.setting}`)).toEqual([
      'fsync=on',
      'jit=off',
      'listen_addresses=127.0.0.1',
      'server_encoding=UTF8',
      'synchronous_commit=on',
      'unix_socket_directories=',
    ]);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, 'password')).mode & 0o777).toBe(0o600);
  });

  it('lets nobody in without the password', async () => {
    const { url } = await start();
    const wrong = new Client({ connectionString: url.replace(/:[^:@/]+@/, ':wrong@') });
    await expect(wrong.connect()).rejects.toThrow(/password authentication failed/);
  });

  it('starts again on what it had, and its process is gone in between', async () => {
    const first = await start();
    await query(first.url, 'create table t (id int); insert into t values (1)');
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    const second = await start();
    expect(await query(second.url, 'select id from t')).toEqual([{ id: 1 }]);
  });

  it.each([
    ['is empty', ''],
    ['is missing', undefined],
    ['holds nothing but NUL characters', '\0'.repeat(48)],
    ['was written in part', '0123456789abcdef'],
  ])('starts on what it had with a new password when the file of the password %s', async (_, left) => {
    const first = await start();
    await query(first.url, 'create table kept as select 1 as value');
    await first.stop();
    const file = join(dataDir, 'password');
    const owner = statSync(file).uid;
    if (left === undefined) rmSync(file);
    else writeFileSync(file, left);
    const second = await start();
    expect(await query(second.url, 'select value from kept')).toEqual([{ value: 1 }]);
    expect([statSync(file).mode & 0o777, statSync(file).uid]).toEqual([0o600, owner]);
    await second.stop();
    // The new password is kept.
    const third = await start();
    expect(third.url.split('@')[0]).toBe(second.url.split('@')[0]);
    expect(third.url.split('@')[0]).not.toBe(first.url.split('@')[0]);
    expect(await query(third.url, 'select value from kept')).toEqual([{ value: 1 }]);
  });

  it('gets a new password when the file is lost while a killed process left the server running', async () => {
    const earlier = await startElsewhere();
    await query(earlier.url, 'create table kept as select 1 as value');
    await kill(earlier.process.pid ?? 0);
    writeFileSync(join(dataDir, 'password'), 'part');
    expect(await query((await start()).url, 'select value from kept')).toEqual([{ value: 1 }]);
  });

  asRoot('starts on a copy that root has made, as a backup is put back', async () => {
    const first = await start();
    await query(first.url, 'create table kept as select 1 as value');
    await first.stop();
    const copy = join(home, 'copy');
    cpSync(dataDir, copy, { recursive: true });
    expect(statSync(join(copy, 'cluster')).uid).toBe(0);
    expect(await query((await start(copy)).url, 'select value from kept')).toEqual([{ value: 1 }]);
  });

  it('takes over the server of a process that was killed', async () => {
    const earlier = await startElsewhere();
    await query(earlier.url, 'create table t (id int); insert into t values (1)');
    await kill(earlier.process.pid ?? 0);
    const server = await start();
    expect(server.pid).toBe(earlier.pid);
    expect(await query(server.url, 'select id from t')).toEqual([{ id: 1 }]);
    expect(lines).toEqual([expect.stringMatching(/taken over/)]);
  });

  it('recovers when the process and the server were both killed', async () => {
    const earlier = await startElsewhere();
    await query(earlier.url, 'create table t (id int); insert into t values (1)');
    await kill(earlier.process.pid ?? 0);
    await kill(earlier.pid);
    const server = await start();
    expect(await query(server.url, 'select id from t')).toEqual([{ id: 1 }]);
  });

  it('stops a server left behind that does not answer', async () => {
    const earlier = await startElsewhere();
    await query(earlier.url, 'create table t (id int); insert into t values (1)');
    await kill(earlier.process.pid ?? 0);
    process.kill(earlier.pid, 'SIGSTOP');
    const starting = start();
    await until(() => lines.some((line) => line.includes('does not answer')));
    process.kill(earlier.pid, 'SIGCONT');
    const server = await starting;
    expect(server.pid).not.toBe(earlier.pid);
    expect(await query(server.url, 'select id from t')).toEqual([{ id: 1 }]);
  });

  it('starts the server again at the same address when it is killed', async () => {
    const server = await start();
    await query(server.url, 'create table t (id int); insert into t values (1)');
    const { pid } = server;
    await kill(pid);
    await until(() => server.pid !== pid);
    expect(await query(server.url, 'select id from t')).toEqual([{ id: 1 }]);
  });

  it('runs twice side by side', async () => {
    const [one, two] = await Promise.all([start(), start(join(home, 'other'))]);
    expect(one.url).not.toBe(two.url);
    for (const { url } of [one, two]) expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('refuses a data directory that another live process uses, in one line', async () => {
    const owner = await startElsewhere();
    const refusal = await start().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(DatabaseProblem);
    expect(String(refusal)).toMatch(new RegExp(`${dataDir} is in use by fairlead process ${owner.process.pid}`));
    expect(await query(owner.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await kill(owner.process.pid ?? 0);
    await start();
  });

  it('lets one of two that start at the same moment win', async () => {
    const outcomes = await Promise.allSettled([start(), start()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('ignores the pid file of a server whose pid another program has now', async () => {
    const first = await start();
    const file = join(dataDir, 'cluster', 'postmaster.pid');
    const [, ...rest] = readFileSync(file, 'utf8').split('\n');
    await kill(first.pid);
    await first.stop();
    writeFileSync(file, [process.ppid, ...rest].join('\n'));
    await start();
    expect(isAlive(process.ppid)).toBe(true);
  });

  asRoot('runs as nobody when started by root, also below a private home', async () => {
    const inside = join(home, 'private', 'data');
    mkdirSync(join(home, 'private'), { mode: 0o700 });
    const { pid } = await start(inside);
    expect(statSync(inside).uid).toBe(65534);
    expect(statSync(inside).mode & 0o777).toBe(0o700);
    if (existsSync('/proc/self/status')) {
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\s+65534\s+65534/m);
    }
  });
});
