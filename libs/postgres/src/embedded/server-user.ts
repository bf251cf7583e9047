import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The user that the server runs as: empty for the current user, because PostgreSQL refuses to run only as root. */
export interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** The owner of `directory`, or `nobody` for one that is new or owned by root, when this process runs as root. */
export function serverUser(directory: string): ServerUser {
  if (process.getuid?.() !== 0) return {};
  if (existsSync(directory)) {
    const { uid, gid } = statSync(directory);
    if (uid !== 0) return { uid, gid };
  }
  return nobody();
}

function nobody(): ServerUser {
  const line = existsSync('/etc/passwd')
    ? /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
    : null;
  return line ? { uid: Number(line[1]), gid: Number(line[2]) } : { uid: 65534, gid: 65534 };
}

/** Returns whether `user` may pass through every directory above `directory`. */
export function reachable(directory: string, user: ServerUser): boolean {
  if (user.uid === undefined) return true;
  for (let path = dirname(resolve(directory)); ; path = dirname(path)) {
    const { uid, gid, mode } = statSync(path);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (path === dirname(path)) return true;
  }
}
