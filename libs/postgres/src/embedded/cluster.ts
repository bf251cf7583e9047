import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, lchownSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { syncDirectory, writeDurably } from './durable-file';
import { makeDirectory } from './make-directory';
import { DatabaseProblem } from '../database/problem';
import { start, succeeded } from './program';
import type { ServerUser } from './server-user';

/** Form of a password. After a power cut, a file can be full of NUL characters. */
const PASSWORD = /^[!-~]+$/;

/**
 * Creates `directory` with `cluster/` (PostgreSQL's data directory) and `password` in it, unless it is there. It
 * appears under its name only when it is complete and on the disk, so a crash in the middle leaves nothing half made. One
 * that is there is the user's afterwards, and one whose password is lost gets a new one.
 */
export async function createCluster(
  directory: string,
  binaries: string,
  user: ServerUser,
  durable: boolean,
): Promise<void> {
  if (isCluster(directory)) {
    giveBack(directory, user);
    if (!PASSWORD.test(readPassword(directory))) await resetPassword(directory, binaries, user);
    return;
  }
  const unfinished = `${directory}.unfinished-${randomBytes(6).toString('hex')}`;
  try {
    makeDirectory(unfinished);
    writeDurably(join(unfinished, 'password'), newPassword());
    for (const path of [unfinished, join(unfinished, 'password')]) give(path, user);
    await initialise(unfinished, binaries, user, durable);
    if (durable) syncDirectory(unfinished);
    renameSync(unfinished, directory);
    if (durable) syncDirectory(dirname(directory));
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

/** Removes the unfinished directories that killed starts left beside `directory`. */
export function removeUnfinished(directory: string): void {
  const prefix = `${basename(directory)}.unfinished-`;
  for (const name of readdirSync(dirname(directory))) {
    if (name.startsWith(prefix)) rmSync(join(dirname(directory), name), { recursive: true, force: true });
  }
}

/** Returns the password of the superuser of a cluster; an empty text when its file is missing or empty. */
export function readPassword(directory: string): string {
  const file = passwordFile(directory);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
}

export function forgetPassword(directory: string): void {
  rmSync(passwordFile(directory), { force: true });
}

/** Sets a new password of the superuser. No server may run on the cluster: PostgreSQL is started without one. */
async function resetPassword(directory: string, binaries: string, user: ServerUser): Promise<void> {
  const password = newPassword();
  const single = start({
    file: join(binaries, 'bin', 'postgres'),
    arguments: (path) => ['--single', '-D', `${path}/cluster`, 'postgres'],
    user,
    directory,
    output: 'pipe',
    input: `alter role postgres password '${password}'\n`,
  });
  const said = await succeeded(single).catch((error: Error) => `ERROR: ${error.message}`);
  if (/\b(ERROR|FATAL|PANIC):/.test(said)) {
    const reason = said.trim().split('\n').at(-1);
    throw new DatabaseProblem(`${passwordFile(directory)} holds no password, and a new one cannot be set (${reason}).`);
  }
  writeDurably(passwordFile(directory), password);
  give(passwordFile(directory), user);
}

function newPassword(): string {
  return randomBytes(24).toString('hex');
}

function passwordFile(directory: string): string {
  return join(directory, 'password');
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

/** Changes the owner of files that root has copied, for example from a backup, so that the server can open them. */
function giveBack(directory: string, { uid, gid }: ServerUser): void {
  if (uid === undefined || gid === undefined) return;
  const parts = [directory, passwordFile(directory), join(directory, 'cluster', 'PG_VERSION')];
  if (parts.every((path) => !existsSync(path) || lstatSync(path).uid === uid)) return;
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(directory, name), uid, gid);
  }
  lchownSync(directory, uid, gid);
}

function give(path: string, { uid, gid }: ServerUser): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}
