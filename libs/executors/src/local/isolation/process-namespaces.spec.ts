import { type ChildProcess, execFileSync, spawn, spawnSync, type StdioOptions } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { until } from '@fairlead/postgres/testing';

/** The user of a server that is not root; this process's own when it is not root. */
const OTHER = 1_600_000_001;
const user = process.getuid?.() === 0 ? { uid: OTHER, gid: OTHER } : {};
const HOOK = join(__dirname, '../../../../../tools/test/typescript.cjs');
const SERVER = join(__dirname, '../../testing/local-server.ts');
/** In the arguments of all that is started. */
const MARK = `left-by-${process.pid}`;

/** Why the test cannot be run on this machine; it does not depend on how programs are confined. */
function problem(): string {
  const words = ['--user', '--map-current-user', '--keep-caps', '--mount', '--pid', '--fork'];
  const mounts = 'mount -t tmpfs none /tmp && mount -t proc proc /proc';
  const tried = spawnSync('unshare', [...words, '/bin/sh', '-c', mounts], { ...user, cwd: '/', encoding: 'utf8' });
  if (tried.status !== 0) return tried.error?.message ?? tried.stderr.trim();
  const reached = spawnSync(process.execPath, ['-e', `require('fs').readFileSync(${JSON.stringify(HOOK)})`], user);
  return reached.status === 0 ? '' : 'other users cannot read the sources';
}

/** It answers what it could read and do; where it could not, with an error. */
const HOSTILE = String.raw`
const fs = require('node:fs'), net = require('node:net'), { spawn, spawnSync } = require('node:child_process');
const tried = (work) => { try { return work(); } catch (error) { return error.code ?? error.message; } };
const shell = (command) => spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' });
const write = (path) => tried(() => fs.writeFileSync(path, 'mine')) ?? 'written';
const read = (path) => tried(() => fs.statSync(path).isDirectory() ? fs.readdirSync(path) : fs.readFileSync(path, 'utf8'));
const connect = (path) => new Promise((resolve) => {
  net.connect(path, () => resolve('connected')).on('error', (error) => resolve(error.code));
});
const { DATA_DIR, HOME, PORT, TOKEN, LD_PRELOAD } = process.env;
const status = fs.readFileSync('/proc/self/status', 'utf8');
async function attempts({ secret, paths, sockets, pid }) {
  const undo = 'umount -l /tmp; umount -l /home; mount --bind / /mnt; mount --rbind / /mnt; cat ' + secret + ' /mnt' + secret;
  const nested = ['unshare -Urm', 'unshare -Um --map-current-user --keep-caps', 'nsenter -t 1 -m', 'nsenter -t 1 -U'];
  return {
    read: paths.map(read),
    links: shell('for p in /proc/[0-9]*; do for l in root cwd; do cat $p/$l' + secret + '; done; done; cat ../../../../../../../../..' + secret).stdout,
    server: ['environ', 'mem', 'root/', 'fd'].map((name) => read('/proc/' + pid + '/' + name)),
    open: read('/proc/self/fd/40'),
    kill: tried(() => process.kill(pid, 0)),
    sockets: await Promise.all(sockets.map(connect)),
    undone: ['', ...nested].map((how) => shell(how + ' /bin/sh -c "' + undo + '"').stdout),
    namespaces: shell('unshare --user true').status !== 0,
    changed: ['mount -t tmpfs none /tmp', 'umount -l /proc', 'mount -o remount,rw,bind /usr'].filter((how) => shell(how).status === 0),
    written: ['/usr/x', '/etc/x', '/x', DATA_DIR + '/../app.json', DATA_DIR + '/../builds/x.json'].map(write),
    own: [DATA_DIR + '/x', HOME + '/x', '/tmp/x', '/dev/shm/x', 'x'].map(write),
    rights: [/CapEff:\s*(\w+)/.exec(status)[1], /NoNewPrivs:\s*(\w+)/.exec(status)[1]],
    variables: [TOKEN, LD_PRELOAD], uid: process.getuid(),
  };
}
// It ends what watches over its group, if that can be ended, and leaves a process that is not in the group.
process.once('SIGTERM', () => undefined);
process.kill(0, 'SIGTERM');
spawn('/bin/sh', ['-c', 'trap "" TERM HUP; sleep 1000000; true', process.argv[2]], { detached: true, stdio: 'ignore' });
require('node:http').createServer(async (request, response) => {
  // Readiness is looked for with requests that ask for nothing.
  if (request.url === '/') return response.end();
  response.end(JSON.stringify(await attempts(JSON.parse(decodeURIComponent(request.url.slice(1))))));
}).listen(PORT, '127.0.0.1');
`;

const why = process.platform === 'linux' ? problem() : 'only Linux has namespaces';
let folder: string;
let data: string;
let server: ChildProcess;
let lines: AsyncIterator<string>;
let begun: Record<string, unknown>;

async function answer(): Promise<Record<string, unknown>> {
  return JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
}

function deployed(id: string, command: string, secrets: object): Promise<Record<string, unknown>> {
  server.stdin!.write(`${JSON.stringify([id, join(folder, 'source.tar.gz'), command, secrets])}\n`);
  return answer();
}

async function start(): Promise<void> {
  const words = ['-r', HOOK, SERVER, data, join(folder, 'home', 'agent.sock')];
  const env = { PATH: process.env.PATH, HOME: join(folder, 'home'), TOKEN: 'of the server' };
  // It has a folder open that it did not open itself.
  const open = openSync(data, 'r');
  const stdio: StdioOptions = ['pipe', 'pipe', 'inherit', ...Array<'ignore'>(37).fill('ignore'), open];
  server = spawn(process.execPath, words, { env, cwd: join(folder, 'tree'), stdio, ...user });
  closeSync(open);
  lines = createInterface({ input: server.stdout! })[Symbol.asyncIterator]();
  begun = await answer();
}

/** The words of a process; none when it has ended. */
function wordsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** The processes of the programs, as the whole machine sees them. */
function left(): string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && wordsOf(name).includes(MARK));
}

describe(`A program of a server that is not root${why && ` (skipped: ${why})`}`, () => {
  const test = why === '' ? it : it.skip;
  beforeAll(async () => {
    if (why !== '') return;
    folder = mkdtempSync(join(tmpdir(), 'fairlead-namespaces-'));
    data = join(folder, 'data');
    chmodSync(folder, 0o755);
    // A data folder is often a link to a larger disk.
    mkdirSync(join(folder, 'large disk'));
    symlinkSync(join(folder, 'large disk'), data);
    for (const name of ['data/apps', 'data/apps/other', 'home', 'tree', 'source']) mkdirSync(join(folder, name));
    for (const name of ['data/secret', 'home/secret', 'tree/.env', 'data/apps/other/secret']) {
      writeFileSync(join(folder, name), 'SECRET');
    }
    writeFileSync(join(folder, 'source', 'Procfile'), `web: exec node server.js ${MARK}\n`);
    writeFileSync(join(folder, 'source', 'server.js'), HOSTILE);
    execFileSync('tar', ['-czf', join(folder, 'source.tar.gz'), '-C', join(folder, 'source'), '.']);
    if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, folder]);
    await start();
  });
  afterAll(async () => {
    if (why !== '') return;
    server.kill('SIGKILL');
    await until(() => left().length === 0);
    rmSync(folder, { recursive: true, force: true });
  });

  test('reads nothing of the server and of its user, and nothing of it is left when it is stopped', async () => {
    expect(begun.exposed).toBeUndefined();
    const secret = join(data, 'secret');
    const home = join(folder, 'home');
    const other = join(data, 'apps', 'other');
    const secrets = { TOKEN: `it's "quoted" $HOME\n\\`, LD_PRELOAD: '/nowhere.so' };
    const commands = `cat ${secret} ${home}/secret; ls ${home}; echo built > built`;
    const { port, log, error } = await deployed('hostile', commands, secrets);
    expect(error).toBeUndefined();
    expect((log as string[]).join('\n')).not.toContain('SECRET');
    const at = left().find((pid) => wordsOf(pid).startsWith('unshare\0'));
    const outer = readFileSync(`/proc/${at}/environ`, 'utf8').split('\0');
    expect(outer.filter((variable) => variable.includes('LD_PRELOAD='))).toEqual(['_FAIRLEAD_LD_PRELOAD=/nowhere.so']);
    const paths = [secret, data, home, join(folder, 'tree', '.env'), other, '/root', '/run', '/var/run'];
    const socket = join(home, 'agent.sock');
    expect(existsSync(socket)).toBe(true);
    const asked = { secret, paths, sockets: [socket, '/var/run/docker.sock', '/run/docker.sock'], pid: server.pid };
    const said = await fetch(`http://127.0.0.1:${String(port)}/${encodeURIComponent(JSON.stringify(asked))}`);
    expect(await said.json()).toEqual({
      read: ['ENOENT', ['apps'], 'ENOENT', 'ENOENT', 'ENOENT', 'ENOENT', 'ENOENT', 'ENOENT'],
      links: '',
      server: ['ENOENT', 'ENOENT', 'ENOENT', 'ENOENT'],
      open: 'ENOENT',
      kill: 'ESRCH',
      sockets: ['ENOENT', 'ENOENT', 'ENOENT'],
      undone: ['', '', '', '', ''],
      namespaces: true,
      changed: [],
      written: ['EROFS', 'EROFS', 'EROFS', 'EROFS', 'EROFS'],
      own: ['written', 'written', 'written', 'written', 'written'],
      rights: ['0000000000000000', '1'],
      variables: [secrets.TOKEN, secrets.LD_PRELOAD],
      uid: user.uid ?? process.getuid!(),
    });
    expect(readFileSync(join(data, 'apps', 'hostile', 'data', 'x'), 'utf8')).toBe('mine');
    server.stdin!.write('stop hostile\n');
    await answer();
    expect(left()).toEqual([]);
  });

  test('ends with the server, also when that is killed', async () => {
    const { error } = await deployed('orphan', 'true', {});
    expect(error).toBeUndefined();
    expect(left().length).toBeGreaterThan(1);
    server.kill('SIGKILL');
    await until(() => left().length === 0);
  });
});
