import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { within } from '../../command/child-process';
import { AppProcess } from './app-process';
import { freePort } from '../running/readiness.client';

const user = { uid: 1_600_000_000, gid: 1_600_000_000 };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-process-'));
  chmodSync(folder, 0o711);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function run(cwd: string, command: string, memory?: number): Promise<string> {
  let said = '';
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  const words = within(cwd, ['/bin/sh', '-c', command]);
  const isRoot = process.getuid?.() === 0;
  const program = { words, env, port: 0, memory, ...(isRoot && { user }) };
  const { ended } = new AppProcess(program, (_, text) => (said += text));
  const how = await ended;
  return `${said.trim()} ${how}`;
}

it('a program runs in its folder', async () => {
  mkdirSync(join(folder, 'open'), { mode: 0o755 });
  writeFileSync(join(folder, 'open', 'file'), 'its own', { mode: 0o644 });
  expect(await run(join(folder, 'open'), 'cat file')).toBe('its own ended with exit code 0');
});

it('a link to a folder that is closed to its user does not lead a program there', async () => {
  if (process.getuid?.() !== 0) return;
  mkdirSync(join(folder, 'closed', 'inner'), { recursive: true });
  chmodSync(join(folder, 'closed'), 0o700);
  writeFileSync(join(folder, 'closed', 'inner', 'file'), 'not its own', { mode: 0o644 });
  symlinkSync(join(folder, 'closed', 'inner'), join(folder, 'agent'));
  const said = await run(join(folder, 'agent'), 'cat file');
  expect(said).not.toContain('not its own');
  expect(said).toMatch(/ended with exit code [1-9]/);
});

it('a program that uses more memory than it may is ended, whichever of its processes that is', async () => {
  if (process.platform !== 'linux') return;
  const grow = 'const held = Buffer.alloc(300e6, 1); setInterval(() => held[0], 1000)';
  const said = await run(folder, `node -e '${grow}'; exit 7`, 200e6);
  expect(said).toMatch(/^ used [23]\d\d MB of memory, more than its limit of 200 MB$/);
});

/** Writes a file at its end, unless it is told to end a second time meanwhile. */
const SERVER = `
process.once('SIGTERM', () => setTimeout(() => {
  require('node:fs').writeFileSync('state', '');
  process.exit();
}, 300));
require('node:http').createServer((_, response) => response.end()).listen(process.env.PORT, '127.0.0.1');`;
/** Starts the server, and tells it to end when it is told to, as many tools do. */
const STARTER = `
const server = require('node:child_process').spawn(process.execPath, ['server.js'], { stdio: 'inherit' });
process.on('SIGTERM', () => server.kill('SIGTERM'));
server.on('exit', () => process.exit());`;

it('a server that another program has started is told to end once, and writes its files', async () => {
  const cwd = join(folder, 'started');
  mkdirSync(cwd);
  chmodSync(cwd, 0o777);
  writeFileSync(join(cwd, 'server.js'), SERVER);
  writeFileSync(join(cwd, 'starter.js'), STARTER);
  const port = await freePort();
  const isRoot = process.getuid?.() === 0;
  const env = { PATH: process.env.PATH!, PORT: String(port) };
  const words = within(cwd, ['node', 'starter.js']);
  const program = new AppProcess({ words, env, port, ...(isRoot && { user }) }, () => undefined);
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  await until(answers);
  await program.stop();
  expect(existsSync(join(cwd, 'state'))).toBe(true);
});
