import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A control group below which this process may make others, and the version of its interface. */
interface Place {
  readonly folder: string;
  readonly version: 1 | 2;
}

const PERIOD_US = 100_000;
/** The smallest share that Linux takes (µs of a period). */
const LEAST_US = 1000;
/** Attempts to remove a group whose processes are ending, and the pause between them (ms). */
const TRIES = 500;
const PAUSE_MS = 20;

/** Limits the processor time of programs with control groups of Linux, where the server may make them. */
export class CpuLimits {
  /** Name of the group that holds those of programs. */
  readonly name: string;
  private place: Place | undefined;

  /**
   * `root`: folder of the deployments' folders; each installation of the machine has groups of its own. `read` answers
   * the text of a file below `/proc/self`.
   */
  constructor(
    root: string,
    private readonly read = (file: string) => readFileSync(`/proc/self/${file}`, 'utf8'),
  ) {
    this.name = `fairlead-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  }

  /** Ends what earlier processes of the server have left in its groups. Answers whether limits hold from now on. */
  begin(): boolean {
    try {
      const found = placeOf(this.read('mountinfo'), this.read('cgroup'));
      if (!found) return false;
      const { version } = found;
      const folder = join(found.folder, this.name);
      mkdirSync(folder, { recursive: true });
      if (version === 2) for (const one of [found.folder, folder]) write(one, 'cgroup.subtree_control', '+cpu');
      const [file, text] =
        version === 2
          ? (['cpu.max', `max ${PERIOD_US}`] as const)
          : (['cpu.cfs_period_us', String(PERIOD_US)] as const);
      // The file is there when the group has the controller, and can be written when limits can be set.
      writeFileSync(join(folder, file), text, { flag: 'r+' });
      this.place = { folder, version };
      this.clear();
    } catch {
      // The system has no control groups, or does not let this process make any.
    }
    return this.place !== undefined;
  }

  /** Lets a process, and all that it starts, use so many cores; answers what ends them and removes the limit. */
  limit(pid: number, cores: number | undefined): () => Promise<void> {
    const { place } = this;
    if (!place || cores === undefined) return async () => undefined;
    const folder = join(place.folder, String(pid));
    const quota = Math.max(LEAST_US, Math.round(cores * PERIOD_US));
    try {
      mkdirSync(folder);
      if (place.version === 2) write(folder, 'cpu.max', `${quota} ${PERIOD_US}`);
      else {
        write(folder, 'cpu.cfs_period_us', String(PERIOD_US));
        write(folder, 'cpu.cfs_quota_us', String(quota));
      }
      write(folder, 'cgroup.procs', String(pid));
    } catch {
      // It has ended already, or somebody has removed the groups: it runs without a limit.
    }
    return () => removeGroup(folder);
  }

  end(): void {
    if (!this.place) return;
    this.clear();
    remove(this.place.folder);
    this.place = undefined;
  }

  private clear(): void {
    const { folder } = this.place!;
    const groups = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    for (const { name } of groups) {
      killAll(join(folder, name));
      remove(join(folder, name));
    }
  }
}

/**
 * Where the groups of programs are made; undefined where there are no control groups. With version 1 it is below the
 * group of this process, so that its limits hold for them. With version 2 it is beside that group, because a group that
 * has processes cannot have groups with limits below it.
 */
export function placeOf(mounts: string, groups: string): Place | undefined {
  const mounted = mounts.split('\n').flatMap((line) => {
    const [fields = '', kind = ''] = line.split(' - ');
    const [, , , root = '', at = ''] = fields.split(' ');
    const [type, , options = ''] = kind.split(' ');
    const isFirst = type === 'cgroup' && options.split(',').includes('cpu');
    return isFirst || type === 'cgroup2' ? [{ root, at, version: isFirst ? (1 as const) : (2 as const) }] : [];
  });
  const mount = mounted.find(({ version }) => version === 1) ?? mounted[0];
  const own = groups
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
    .find((match) => (mount?.version === 1 ? match?.[1]?.split(',').includes('cpu') : match?.[1] === ''))?.[2];
  if (!mount || own === undefined) return undefined;
  const { root, at, version } = mount;
  const path = relative(root, own);
  if (path.startsWith('..')) return undefined;
  return { folder: join(at, version === 1 || path === '' ? path : dirname(path)), version };
}

function write(folder: string, file: string, text: string): void {
  writeFileSync(join(folder, file), text);
}

async function removeGroup(folder: string): Promise<void> {
  for (let left = TRIES; left > 0; left--) {
    killAll(folder);
    if (remove(folder)) return;
    await delay(PAUSE_MS);
  }
}

function killAll(folder: string): void {
  try {
    const pids = readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);
    for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
  } catch {
    // The group or one of the processes is gone: the next look tells.
  }
}

/** Removes an empty group; answers whether it is gone. */
function remove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
