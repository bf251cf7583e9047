import { createHash } from 'node:crypto';
import { accessSync, chownSync, constants, mkdirSync, mkdtempSync, realpathSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Below it are the folders of deployments when the server is root. */
const OF_ROOT = '/var/lib/fairlead-apps';
/** A user id like those that deployments get. */
const SOME_UID = 1_700_000_000;

/**
 * Returns where deployments have their folders. As root each has a user of its own, who must not get through the data
 * directory: then it is elsewhere.
 */
export function appsFolder(dataDir: string): string {
  if (!isRoot()) return join(dataDir, 'apps');
  return join(OF_ROOT, createHash('sha256').update(dataDir).digest('hex').slice(0, 16));
}

/**
 * Returns why deployments cannot run as processes of this machine, as a clause; undefined when they can. A server that
 * is root gives each deployment a user, who must be able to own files and to reach Node.js, which is that at `node`.
 */
export function appsProblem(parent = OF_ROOT, node = process.execPath): string | undefined {
  if (!isRoot()) return undefined;
  try {
    mkdirSync(parent, { recursive: true });
    accessSync(parent, constants.W_OK);
    const folder = mkdtempSync(join(parent, 'tried-'));
    try {
      chownSync(folder, SOME_UID, SOME_UID);
    } finally {
      rmdirSync(folder);
    }
  } catch (error) {
    return `${parent} cannot hold files of other users (${(error as NodeJS.ErrnoException).code})`;
  }
  for (let path = realpathSync(node); path !== dirname(path); path = dirname(path)) {
    if (!(statSync(path).mode & constants.S_IXOTH))
      return `other users cannot reach Node.js, because ${path} is closed to them`;
  }
  return undefined;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
