import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeDirectory } from './make-directory';
import { DatabaseProblem } from './problem';
import { start, succeeded } from './program';
import type { ServerUser } from './server-user';

/**
 * Creates `directory` with `cluster/` (PostgreSQL's data directory) and `password` in it, unless it is there. It
 * appears under its name only when it is complete, so a crash in the middle leaves nothing half made. One that is there
 * is the user's afterwards.
 */
export async function createCluster(
  directory: string,
  binaries: string,
  user: ServerUser,
  durable: boolean,
): Promise<void> {
  if (isCluster(directory)) return giveBack(directory, user);
  const unfinished = `${directory}.unfinished-${randomBytes(6).toString('hex')}`;
  try {
    makeDirectory(unfinished);
    writeFileSync(join(unfinished, 'password'), randomBytes(24).toString('hex'), { mode: 0o600 });
    for (const path of [unfinished, join(unfinished, 'password')]) give(path, user);
    await initialise(unfinished, binaries, user, durable);
    renameSync(unfinished, directory);
  } catch (error) {
    if (existsSync(unfinished)) rmSync(unfinished, { recursive: true, force: true });
    // Another process that started at the same time may have been first.
    if (isCluster(directory)) return;
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseProblem(`The data directory ${directory} cannot be made (${reason}): set FAIRLEAD_DATA_DIR.`, {
      cause: error,
    });
  }
}

/** Removes what starts that were killed half way left beside `directory`. */
export function removeUnfinished(directory: string): void {
  const prefix = `${basename(directory)}.unfinished-`;
  for (const name of readdirSync(dirname(directory))) {
    if (name.startsWith(prefix)) rmSync(join(dirname(directory), name), { recursive: true, force: true });
  }
}

/** The superuser's password of a cluster. */
export function readPassword(directory: string): string {
  return readFileSync(join(directory, 'password'), 'utf8').trim();
}

function isCluster(directory: string): boolean {
  return existsSync(join(directory, 'cluster', 'PG_VERSION'));
}

async function initialise(directory: string, binaries: string, user: ServerUser, durable: boolean): Promise<void> {
  const initdb = start({
    file: join(binaries, 'bin', 'initdb'),
    arguments: (path) => [
      `--pgdata=${path}/cluster`,
      `--pwfile=${path}/password`,
      '--username=postgres',
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      ...(durable ? [] : ['--no-sync']),
    ],
    user,
    directory,
    output: 'pipe',
  });
  await succeeded(initdb);
}

/** Files that root has copied, as from a backup, belong to root: the server could not open them. */
function giveBack(directory: string, { uid, gid }: ServerUser): void {
  if (uid === undefined || gid === undefined) return;
  const parts = [directory, join(directory, 'password'), join(directory, 'cluster', 'PG_VERSION')];
  if (parts.every((path) => !existsSync(path) || lstatSync(path).uid === uid)) return;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, name), uid, gid);
  }
  lchownSync(directory, uid, gid);
}

function give(path: string, { uid, gid }: ServerUser): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}
