import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A server process as its `postmaster.pid` describes it. */
export interface Postmaster {
  readonly pid: number;
  readonly port: number;
}

/**
 * The server that runs on `cluster` (a PostgreSQL data directory), if one does. A pid file whose server is gone is
 * removed: another program may have its pid by now, and PostgreSQL would refuse to start.
 */
export function findPostmaster(cluster: string): Postmaster | undefined {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (pid > 0 && isAlive(pid) && servesCluster(pid, cluster)) return { pid, port: Number(lines[3] ?? 0) };
  rmSync(file, { force: true });
  return undefined;
}

/** Returns whether a process runs; false also for one that ended and was not collected by its parent. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return !existsSync('/proc/self/stat');
  }
}

/** Stops a server: fast shutdown, then immediate shutdown, then SIGKILL. Resolves when its process has ended. */
export async function stopPostmaster(pid: number): Promise<void> {
  for (const [signal, patience] of [
    ['SIGINT', 20_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!isAlive(pid)) return;
    process.kill(pid, signal);
    const deadline = Date.now() + patience;
    while (isAlive(pid) && Date.now() < deadline) await delay(10);
  }
}

/** Returns whether a process is the server of a cluster, by its working directory. */
function servesCluster(pid: number, cluster: string): boolean {
  try {
    if (existsSync('/proc/self/cwd')) return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
    return execFileSync('ps', ['-o', 'comm=', '-p', String(pid)], { encoding: 'utf8' }).includes('postgres');
  } catch {
    return false;
  }
}
