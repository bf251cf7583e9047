import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from '@fairlead/postgres/testing';

const isRoot = process.getuid?.() === 0;
/** The user of a server that is not root; this process's own when it is not root. */
const OTHER = isRoot ? { uid: 1_600_000_002, gid: 1_600_000_002 } : {};
const HOOK = join(__dirname, '../../../../../tools/test/typescript.cjs');
const SERVER = join(__dirname, '../../testing/local-server.ts');
const NAME = `fairlead-written-${process.pid}`;
const PLACES = ['/tmp', '/var/tmp', '/dev/shm'];
const LIMIT = 200e6;
/** Bytes of a segment of shared memory that nobody else makes. */
const SEGMENT = 10_000_000 + process.pid;

/** It writes where it is asked to, and answers what it has written and found, and the errors. */
const PROGRAM = String.raw`
const fs = require('node:fs'), { spawnSync } = require('node:child_process');
const tried = (work) => { try { return work(); } catch (error) { return error.code; } };
const write = (path, megabytes) => tried(() => fs.writeFileSync(path, Buffer.alloc(megabytes * 1e6))) ?? 'written';
require('node:http').createServer((request, response) => {
  if (request.url === '/') return response.end();
  const { files = [], megabytes = 0, folders = [], command = 'true' } = JSON.parse(decodeURIComponent(request.url.slice(1)));
  response.end(JSON.stringify({
    written: files.map((path) => write(path, megabytes)),
    found: folders.map((path) => tried(() => fs.readdirSync(path))),
    said: spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' }).stdout,
  }));
}).listen(process.env.PORT, '127.0.0.1');`;

interface Answer {
  readonly written: string[];
  readonly found: (string[] | string)[];
  readonly said: string;
}

interface Look {
  readonly port?: number;
  readonly error?: string;
  readonly log: string[];
  readonly bytes?: number;
  readonly exposed?: string;
  readonly shared?: string;
}

/** Why the test cannot be run on this machine. */
function problem(words: readonly string[], user: object): string {
  if (process.platform !== 'linux') return 'only Linux has namespaces';
  const tried = spawnSync('unshare', [...words, '/bin/sh', '-c', 'mount -t tmpfs none /tmp'], { ...user, cwd: '/' });
  if (tried.status !== 0) return tried.error?.message ?? String(tried.stderr).trim();
  const reached = spawnSync(process.execPath, ['-e', `require('fs').readFileSync(${JSON.stringify(HOOK)})`], user);
  return reached.status === 0 ? '' : 'other users cannot read the sources';
}

/** Shared memory of System V on this machine, outside of namespaces. */
const shared = () => readFileSync('/proc/sysvipc/shm', 'utf8').split('\n');

const ROOT = isRoot ? problem(['--mount'], {}) : 'the tests do not run as root';
const WORDS = ['--user', '--map-current-user', '--keep-caps', '--mount', '--pid', '--fork'];
/** Starts a server of root that may not make mounts, as in most containers. */
const WITHOUT = ['setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin'];
const HOME = isRoot ? '/var/lib' : homedir();

describe.each([
  { who: 'that is root', user: {}, at: HOME, why: ROOT },
  { who: 'that is not root', user: OTHER, at: HOME, why: problem(WORDS, OTHER) },
  { who: 'that is root, with its data below /tmp', user: {}, at: '/tmp', why: ROOT },
  { who: 'that is not root, with its data below /var/tmp', user: OTHER, at: '/var/tmp', why: problem(WORDS, OTHER) },
  { who: 'that is root and may not make mounts', user: {}, at: '/tmp', why: ROOT, how: WITHOUT },
])('A program of a server $who', ({ user, at: base, why, how = [] }) => {
  const walled = why === '' && how.length === 0 ? it : it.skip;
  const open = why === '' && how.length > 0 ? it : it.skip;
  // What is mounted at /tmp would hide the data there: a small file system in memory takes its place.
  const places = PLACES.filter((place) => place !== base);
  let folder: string;
  let server: ChildProcess;
  let lines: AsyncIterator<string>;
  let begun: Look;

  async function ask(line: string): Promise<Look> {
    server.stdin!.write(`${line}\n`);
    return JSON.parse((await lines.next()).value as string) as Look;
  }

  async function deployed(id: string): Promise<(asked: object) => Promise<Answer>> {
    const { port, error, log } = await ask(JSON.stringify([id, join(folder, 'source.tar.gz'), 'true', {}]));
    expect({ error, log }).toEqual({ error: undefined, log });
    return async (asked) => {
      const response = await fetch(`http://127.0.0.1:${port}/${encodeURIComponent(JSON.stringify(asked))}`);
      return (await response.json()) as Answer;
    };
  }

  beforeAll(async () => {
    if (why !== '') return;
    folder = mkdtempSync(join(base, 'fairlead-mounts-'));
    chmodSync(folder, 0o755);
    for (const name of ['data', 'home', 'source', 'open']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'source', 'Procfile'), 'web: exec node server.js\n');
    writeFileSync(join(folder, 'source', 'server.js'), PROGRAM);
    execFileSync('tar', ['-czf', join(folder, 'source.tar.gz'), '-C', join(folder, 'source'), '.']);
    if ('uid' in user) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
    chmodSync(join(folder, 'open'), 0o777);
    const words = [
      ...how,
      process.execPath,
      '-r',
      HOOK,
      SERVER,
      join(folder, 'data'),
      join(folder, 'home', 'sock'),
      String(LIMIT),
    ];
    const env = { PATH: process.env.PATH, HOME: join(folder, 'home') };
    server = spawn(words[0]!, words.slice(1), { env, cwd: '/', stdio: ['pipe', 'pipe', 'inherit'], ...user });
    lines = createInterface({ input: server.stdout! })[Symbol.asyncIterator]();
    begun = JSON.parse((await lines.next()).value as string) as Look;
  });
  afterAll(async () => {
    if (why !== '') return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await ended;
    // What has ended with the server may be writing.
    rmSync(folder, { recursive: true, force: true, maxRetries: 100 });
    for (const place of PLACES) rmSync(join(place, NAME), { force: true });
  });

  walled('writes for a short time into its own folder, which counts it, and nowhere else', async () => {
    expect([begun.exposed, begun.shared]).toEqual([undefined, undefined]);
    const one = await deployed('one');
    const other = await deployed('other');
    const files = PLACES.map((place, at) => join(place, `${NAME}-${at}`));
    expect(await one({ files, megabytes: 40 })).toMatchObject({ written: ['written', 'written', 'written'] });
    expect(files.filter((file) => existsSync(file))).toEqual([]);
    expect((await other({ folders: PLACES })).found.flat().filter((name) => name.startsWith(NAME))).toEqual([]);
    expect((await one({ folders: PLACES })).found.flat()).toEqual(expect.arrayContaining([`${NAME}-0`, `${NAME}-2`]));
    const own = ['tmp', 'shm'].flatMap((name) => readdirSync(join(folder, 'data', 'apps', 'one', name)));
    const counted = places.map((place) => `${NAME}-${PLACES.indexOf(place)}`);
    expect(own.filter((name) => name.startsWith(NAME)).sort()).toEqual(counted);
    await until(
      () => ask('look one'),
      ({ bytes = 0 }) => bytes > 40e6 * places.length,
    );
    // Folders of the machine that are open to all, and those of the server.
    const others = ['/run/lock', '/dev/mqueue', '/var/crash', '/', '/dev', '/etc', folder, join(folder, 'open')];
    const outside = others.map((place) => join(place, NAME));
    await one({ files: outside, megabytes: 1 });
    expect(outside.filter((file) => existsSync(file))).toEqual([]);
  });

  walled('has shared memory and semaphores of its own, which end with it', async () => {
    const one = await deployed('one');
    const other = await deployed('other');
    const { said } = await one({
      command: `ipcmk -M ${SEGMENT}; ipcmk -S 1; ipcmk -Q; cat /proc/sysvipc/*; ulimit -c`,
    });
    expect(said).toContain(` ${SEGMENT} `);
    expect(said.trim().split('\n').at(-1)).toBe('0');
    expect((await other({ command: 'cat /proc/sysvipc/*' })).said).not.toContain(` ${SEGMENT} `);
    expect(shared().filter((line) => line.includes(` ${SEGMENT} `))).toEqual([]);
    // A user namespace does not give the right to limit it.
    const large = await one({ command: 'ipcmk -M 1000000000' });
    const semaphores = await one({ command: 'for n in $(seq 40); do ipcmk -S 1000; done' });
    if ('uid' in user || !isRoot) return;
    expect(large.said).toBe('');
    expect(semaphores.said.match(/id: \d+/g)?.length).toBeLessThan(33);
  });

  walled('ends with the reason when all of that is too much, and nothing is left when it is removed', async () => {
    const one = await deployed('full');
    const files = [...places, join(folder, 'data', 'apps', 'full', 'home')].map((place) => join(place, `${NAME}-full`));
    // It may be ended before it has answered.
    await one({ files, megabytes: 110 }).catch(() => undefined);
    const { log } = await until(
      () => ask('look full'),
      (seen) => seen.log.some((line) => line.includes('more than its limit of')),
    );
    expect(log).toContainEqual(
      expect.stringMatching(
        /^The program has [2-4]\d\d MB of files, more than its limit of 200 MB: remove files of it, /,
      ),
    );
    for (const id of ['full', 'one', 'other']) await ask(`remove ${id}`);
    expect(readdirSync(join(folder, 'data', 'apps')).filter((name) => !/^(\.|users$)/.test(name))).toEqual([]);
    const left = PLACES.flatMap((place) => readdirSync(place)).filter((name) => name.startsWith(NAME));
    expect(left).toEqual([]);
  });

  open('is counted by its user, and what that has left is removed with it', async () => {
    expect(begun.shared).toMatch(/^unshare|Operation not permitted/);
    const one = await deployed('one');
    const files = PLACES.map((place, at) => join(place, `${NAME}-${at}`));
    expect(await one({ files, megabytes: 40 })).toMatchObject({ written: ['written', 'written', 'written'] });
    expect((await one({ command: `ipcmk -M ${SEGMENT}; ipcmk -S 1; ipcmk -Q` })).said.match(/id: \d+/g)).toHaveLength(
      3,
    );
    await until(
      () => ask('look one'),
      ({ bytes = 0 }) => bytes > 120e6,
    );
    await ask('remove one');
    expect(files.filter((file) => existsSync(file))).toEqual([]);
    expect(shared().filter((line) => line.includes(` ${SEGMENT} `))).toEqual([]);
    expect(existsSync(join(folder, 'source.tar.gz'))).toBe(true);
  });
});
