import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const CACHE = join(__dirname, '../../../../.cache');
const INSTALL = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=2'];
const INSTALL_MS = 10 * 60_000;
/** Errors of npm when nobody answers. */
const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/;

/**
 * The folder in which the packages of `name`, a folder beside this file with a manifest and a lock file, are installed
 * apart from the workspace: once per checkout and lock file. Undefined when the registry is out of reach.
 */
export function cachedInstall(name: string, ...options: readonly string[]): string | undefined {
  const specification = join(__dirname, name);
  const lock = readFileSync(join(specification, 'package-lock.json'));
  const directory = join(CACHE, `${name}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`);
  if (existsSync(directory)) return directory;
  const fresh = `${directory}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(specification, file), join(fresh, file));
  const { status, stderr } = spawnSync('npm', [...INSTALL, ...options], {
    cwd: fresh,
    encoding: 'utf8',
    timeout: INSTALL_MS,
  });
  if (status === 0) moveTo(directory, fresh);
  rmSync(fresh, { recursive: true, force: true });
  if (status === 0) return directory;
  if (UNREACHABLE.test(stderr)) return undefined;
  throw new Error(`The packages of ${name} could not be installed: ${stderr}`);
}

/** Another test run may have been faster: then its copy stays. */
function moveTo(directory: string, fresh: string): void {
  try {
    renameSync(fresh, directory);
  } catch (error) {
    if (!existsSync(directory)) throw error;
  }
}
