import { execFile } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { promisify } from 'node:util';
import { quotedAlways } from '../recipes/source-tree';

const run = promisify(execFile);

const OPEN = ['/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', '/run/lock'];
/** Seconds that looking through them may take: others may have millions of files there. */
const LONGEST_S = 30;
/** Commands that remove what System V knows, by the name of its list in `/proc`. */
const SYSTEM_V = { shm: '-m', sem: '-s', msg: '-q' } as const;

/** Returns how many bytes the files of a user have in folders that are open to all, without those in `own`. */
export async function strayBytes(uid: number, own: string): Promise<number> {
  const found = await look(uid, own, `-type f -exec nice -n 5 du -k {} + | awk '{ sum += $1 } END { print sum + 0 }'`);
  const memory = objectsOf(uid, 'shm').reduce((sum, { bytes }) => sum + bytes, 0);
  return 1024 * Number(found.trim() || 0) + memory;
}

/** Removes what a user has left in folders that are open to all, except in `own`, and in the memory of the machine. */
export async function removeStrays(uid: number, own: string): Promise<void> {
  await look(uid, own, '-delete');
  for (const [kind, option] of Object.entries(SYSTEM_V)) {
    const words = objectsOf(uid, kind as keyof typeof SYSTEM_V).flatMap(({ id }) => [option, id]);
    // As the user who owns them: root of a container may have no right to.
    if (words.length > 0) await run('ipcrm', words, { cwd: '/', uid, gid: uid }).catch(() => undefined);
  }
}

/** Returns what `find` writes about the files of a user, as far as it comes in time. */
async function look(uid: number, own: string, action: string): Promise<string> {
  const folders = [...new Set(OPEN.filter(existsSync).map((path) => realpathSync(path)))];
  // The folders of deployments may be below one of these.
  const pattern = `${(existsSync(own) ? realpathSync(own) : own).replace(/[*?[\\]/g, '\\$&')}/*`;
  const script = `exec 2> /dev/null; timeout ${LONGEST_S} find "$@" -xdev -mindepth 1 -user ${uid} ! -path ${quotedAlways(pattern)} ${action}`;
  const options = { cwd: '/', env: { PATH: '/usr/bin:/bin' }, encoding: 'utf8' } as const;
  const { stdout } = await run('/bin/sh', ['-c', script, 'sh', ...folders], options).catch(
    (error: { stdout?: string }) => error,
  );
  return stdout ?? '';
}

function objectsOf(uid: number, kind: keyof typeof SYSTEM_V): { readonly id: string; readonly bytes: number }[] {
  try {
    const [head = '', ...lines] = readFileSync(`/proc/sysvipc/${kind}`, 'utf8').trim().split('\n');
    const names = head.trim().split(/\s+/);
    const [owner, size] = [names.indexOf('cuid'), names.indexOf('size')];
    const own = lines.map((line) => line.trim().split(/\s+/)).filter((values) => values[owner] === String(uid));
    return own.map((values) => ({ id: values[1]!, bytes: Number(values[size] ?? 0) }));
  } catch {
    // Only Linux shows them there.
    return [];
  }
}
