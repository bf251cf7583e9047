import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Runs before anything is installed: Node's own modules only.

const OLDEST_NODE = [20, 19];
const TICK_MS = 5_000;

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Ends the process with one line when this Node is too old. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  fail(
    `Fairlead needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}. See https://nodejs.org.`,
  );
}

/** Installs what package-lock.json names, unless that has been done: another program may be using what is installed. */
export async function ensureInstalled() {
  const installed = join(root, 'node_modules', '.package-lock.json');
  const lock = join(root, 'package-lock.json');
  const record = join(root, '.cache', 'installed');
  const digest = createHash('sha256').update(readFileSync(lock)).digest('hex');
  const isNewer = (one, other) => existsSync(one) && statSync(one).mtimeMs >= statSync(other).mtimeMs;
  if (isNewer(installed, lock)) return;
  // Git writes the file anew, with the same text, when it changes branches.
  if (existsSync(installed) && isNewer(record, installed) && readFileSync(record, 'utf8') === digest) return;
  // Errors only: some packages name a newer Node than they need, and npm warns of each.
  await step('Installing packages (npm ci)', 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, digest);
}

/** Builds the libraries and applications, unless that has been done since the sources changed. */
export async function ensureBuilt() {
  const record = join(root, '.cache', 'built');
  const sources = fingerprint();
  const done = existsSync(record) && readFileSync(record, 'utf8') === sources;
  if (done && workspaces().every((path) => existsSync(join(path, 'dist')))) return;
  await step('Building (npm run build)', 'npm', ['run', 'build', '--silent']);
  mkdirSync(dirname(record), { recursive: true });
  writeFileSync(record, sources);
}

/** Ends the process with one line on stderr. */
function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Runs a command in the root folder, says that it still runs every few seconds, ends the process when it fails. */
async function step(title, command, args) {
  const start = Date.now();
  const seconds = () => `${Math.round((Date.now() - start) / 1000)} s`;
  console.log(`${title} …`);
  const ticker = setInterval(() => console.log(`${title} … ${seconds()}`), TICK_MS);
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, NX_DAEMON: 'false' },
  });
  const code = await new Promise((resolve) => child.once('error', () => resolve(1)).once('exit', resolve));
  clearInterval(ticker);
  if (code !== 0) fail(`${title} failed; what it wrote above says why.`);
  console.log(`${title} took ${seconds()}.`);
}

/** Changes whenever a source file is added, removed or written. */
function fingerprint() {
  const hash = createHash('sha256');
  const files = ['package-lock.json', 'tsconfig.base.json'].map((name) => join(root, name));
  for (const path of workspaces()) {
    const names = ['package.json', 'index.html', 'vite.config.mts'];
    files.push(...names.map((name) => join(path, name)).filter((file) => existsSync(file)));
    for (const name of readdirSync(join(path, 'src'), { recursive: true })) {
      if (!name.endsWith('.spec.ts')) files.push(join(path, 'src', name));
    }
  }
  for (const file of files.sort()) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** Folders of apps, libs and tools that are built. */
function workspaces() {
  return ['apps', 'libs', 'tools']
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(root, folder, name)))
    .filter((path) => existsSync(join(path, 'package.json')))
    .filter((path) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).scripts?.build !== undefined);
}
