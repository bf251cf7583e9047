import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { megabytes } from './app-sizes';
import { kill } from './process-use.client';

const CONTROLLERS = ['cpu', 'memory', 'pids'] as const;
export type Controller = (typeof CONTROLLERS)[number];

export interface GroupLimits {
  readonly cores?: number;
  readonly memory?: number;
  readonly processes?: number;
}

/** A control group below which this process may make others, and the version of its interface. */
interface Place {
  readonly folder: string;
  readonly version: 1 | 2;
}

const PERIOD_US = 100_000;
/** The smallest share that Linux takes (µs of a period). */
const LEAST_US = 1000;
/** Attempts to remove a group whose processes are ending, or to empty one, and the pause between them (ms). */
const TRIES = 500;
const PAUSE_MS = 20;
/** Where this process and those that it was started with go, so that their group can have others below it. */
const SERVER = 'fairlead-server';

const MEMORY = Math.min(totalmem(), process.constrainedMemory() || Infinity);
/** Memory of all programs and builds together (bytes): the rest is for the server and its database. */
const MEMORY_OF_ALL = Math.floor(MEMORY * 0.75);
/** A build may need many times what its program does, but must leave something to the programs that run. */
export const BUILD_LIMITS: GroupLimits = {
  memory: Math.min(MEMORY_OF_ALL, Math.max(MEMORY / 2, 1024 ** 3)),
  processes: 2048,
};
export const PROGRAM_PROCESSES = 512;

/** Limits what programs use with control groups of Linux, where the server may make them. */
export class ControlGroups {
  readonly name: string;
  private readonly places = new Map<Controller, Place>();

  /**
   * `root`: folder of the deployments' folders; each installation of the machine has groups of its own. `read` answers
   * the text of a file below `/proc/self`. `isService`: systemd has started this process. What a person starts by ssh or
   * cron may be in the group of that service too, but without the variable.
   */
  constructor(
    root: string,
    private readonly read = (file: string) => readFileSync(`/proc/self/${file}`, 'utf8'),
    private readonly isService = process.env.INVOCATION_ID !== undefined,
  ) {
    this.name = `fairlead-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
  }

  /** Ends what earlier processes of the server have left in its groups. Answers what can be limited from now on. */
  begin(): ReadonlySet<Controller> {
    try {
      const [mounts, groups] = [this.read('mountinfo'), this.read('cgroup')];
      const ofFirst = CONTROLLERS.map((controller) => groupOf(mounts, groups, controller));
      const second = ofFirst.includes(undefined) ? newGroups(groupOf(mounts, groups), this.isService) : undefined;
      for (const [at, controller] of CONTROLLERS.entries()) {
        const first = ofFirst[at];
        const place = first === undefined ? second : { folder: first, version: 1 as const };
        if (place && this.prepare(controller, place)) {
          this.places.set(controller, { ...place, folder: join(place.folder, this.name) });
        }
      }
      for (const folder of this.clear()) void removeAll([folder]);
      const memory = this.places.get('memory');
      if (memory) writeLimit(memory.folder, 'memory', memory.version, { memory: MEMORY_OF_ALL });
    } catch {
      // The system has no control groups.
    }
    return new Set(this.places.keys());
  }

  limit(pid: number, limits: GroupLimits): ControlGroup {
    const name = randomUUID();
    const made = new Set<string>();
    const held = new Map<Controller, string>();
    for (const [controller, { folder: parent, version }] of this.places) {
      const folder = join(parent, name);
      try {
        mkdirSync(folder, { recursive: true });
        made.add(folder);
        writeLimit(folder, controller, version, limits);
        writeFileSync(join(folder, 'cgroup.procs'), String(pid));
        held.set(controller, folder);
      } catch {
        // It has ended already, or somebody has removed the groups: it runs without this limit.
      }
    }
    return new ControlGroup(made, held, limits);
  }

  async end(): Promise<void> {
    const own = new Set([...this.places.values()].map(({ folder }) => folder));
    await removeAll(this.clear());
    for (const folder of own) remove(folder);
    this.places.clear();
  }

  /** Makes the group that holds those of programs; answers whether it limits what the controller is for. */
  private prepare(controller: Controller, { folder, version }: Place): boolean {
    const own = join(folder, this.name);
    try {
      mkdirSync(own, { recursive: true });
      if (version === 2) {
        for (const one of [folder, own]) writeFileSync(join(one, 'cgroup.subtree_control'), `+${controller}`);
      }
      // The file is there when the group has the controller, and can be written when limits can be set.
      writeLimit(own, controller, version, {});
      return true;
    } catch {
      return false;
    }
  }

  private clear(): string[] {
    const own = new Set([...this.places.values()].map(({ folder }) => folder));
    const found = [...own].flatMap((folder) =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => join(folder, name)),
    );
    for (const folder of found) killAll(folder);
    return found;
  }
}

export class ControlGroup {
  constructor(
    private readonly folders: ReadonlySet<string> = new Set(),
    private readonly held: ReadonlyMap<Controller, string> = new Map(),
    private readonly limits: GroupLimits = {},
  ) {}

  /** True when the kernel sees to it that its processes use no more memory than they may. */
  get holdsMemory(): boolean {
    return this.held.has('memory');
  }

  /** Bytes of memory that its processes use, without files that the kernel keeps for later; undefined if not counted. */
  memory(): number | undefined {
    const used = this.number('memory', /^(\d+)$/m, 'memory.current', 'memory.usage_in_bytes');
    if (used === undefined) return undefined;
    const files = this.number('memory', /^(?:total_)?inactive_file (\d+)$/m, 'memory.stat') ?? 0;
    return Math.max(0, used - files);
  }

  /** Why the kernel has killed one of its processes, in words for a sentence; undefined when it has not. */
  killed(): string | undefined {
    const kills = this.number('memory', /^oom_kill (\d+)$/m, 'memory.events', 'memory.oom_control') ?? 0;
    if (kills === 0) return undefined;
    const { memory = Infinity } = this.limits;
    // Version 1 does not count it, but knows what they used at most.
    const most = this.number('memory', /^(\d+)$/m, 'memory.max_usage_in_bytes') ?? 0;
    const isOwn = most > 0.95 * memory || (this.number('memory', /^oom (\d+)$/m, 'memory.events') ?? 0) > 0;
    if (!isOwn) return 'was ended because memory ran out';
    return `used more memory than its limit of ${megabytes(memory)} MB`;
  }

  /** That it could not start another process, as a sentence; undefined when it could. */
  refused(): string | undefined {
    const times = this.number('pids', /^max (\d+)$/m, 'pids.events') ?? 0;
    return times === 0 ? undefined : `It has reached its limit of ${this.limits.processes} processes and threads.`;
  }

  /** Its end in words for a sentence: `how`, with the limit that was the cause, if any. */
  explain(how: string): string {
    const processes = `${how}, after it had reached its limit of ${this.limits.processes} processes and threads`;
    return this.killed() ?? (this.refused() === undefined ? how : processes);
  }

  end(): Promise<void> {
    return removeAll([...this.folders]);
  }

  private number(controller: Controller, pattern: RegExp, ...files: readonly string[]): number | undefined {
    const folder = this.held.get(controller);
    const file = folder && files.map((name) => join(folder, name)).find((path) => existsSync(path));
    const found = file && pattern.exec(text(file))?.[1];
    return found ? Number(found) : undefined;
  }
}

/**
 * The folder of this process's group in the hierarchy of a controller (version 1), or in the one of version 2. Undefined
 * where there is none.
 */
export function groupOf(mounts: string, groups: string, controller?: Controller): string | undefined {
  const isWanted = (names = '') => controller !== undefined && names.split(',').includes(controller);
  for (const line of mounts.split('\n')) {
    const [fields = '', kind = ''] = line.split(' - ');
    const [, , , root = '', at = ''] = fields.split(' ');
    const [type, , options] = kind.split(' ');
    if (controller === undefined ? type !== 'cgroup2' : type !== 'cgroup' || !isWanted(options)) continue;
    const own = groups
      .split('\n')
      .map((one) => /^\d+:([^:]*):(.*)$/.exec(one))
      .find((match) => (controller === undefined ? match?.[1] === '' : isWanted(match?.[1])))?.[2];
    const path = own === undefined ? '..' : relative(root, own);
    if (!path.startsWith('..')) return join(at, path);
  }
  return undefined;
}

/**
 * Where groups of version 2 are made; undefined where that is not possible. A group that has processes cannot have groups
 * with limits below it. The group of a service or container is for its processes alone: all of them move to a group
 * below it, so that its limits hold for programs too. Any other group may hold what else somebody has started, and those
 * of programs are beside it.
 */
function newGroups(own: string | undefined, isService: boolean): Place | undefined {
  if (own === undefined) return undefined;
  const version = 2;
  const given = text(join(own, 'cgroup.controllers')).trim().split(' ');
  if (!CONTROLLERS.some((controller) => given.includes(controller))) return undefined;
  // The root of all groups, unlike that of a container, has no type, and may have processes.
  if (!existsSync(join(own, 'cgroup.type'))) return { folder: own, version };
  if (basename(own) === SERVER) return { folder: dirname(own), version };
  const isRoot = !existsSync(join(dirname(own), 'cgroup.procs'));
  if ((isRoot || (isService && own.endsWith('.service'))) && isEmptied(own)) return { folder: own, version };
  return isRoot ? undefined : { folder: dirname(own), version };
}

/** Moves the processes of a group to one below it; answers whether none is left. */
function isEmptied(group: string): boolean {
  try {
    mkdirSync(join(group, SERVER), { recursive: true });
    for (let left = TRIES; left > 0; left--) {
      const pids = processesOf(group);
      if (pids.length === 0) return true;
      for (const pid of pids) write(join(group, SERVER), 'cgroup.procs', pid);
    }
  } catch {
    // This process may not.
  }
  return false;
}

/** Writes a limit, or that there is none. @throws where the group has no such limit */
function writeLimit(folder: string, controller: Controller, version: 1 | 2, limits: GroupLimits): void {
  const { cores, memory, processes } = limits;
  const set = (file: string, text: string) => writeFileSync(join(folder, file), text, { flag: 'r+' });
  if (controller === 'pids') return set('pids.max', String(processes ?? 'max'));
  if (controller === 'cpu') {
    const quota = cores === undefined ? undefined : Math.max(LEAST_US, Math.round(cores * PERIOD_US));
    if (version === 2) return set('cpu.max', `${quota ?? 'max'} ${PERIOD_US}`);
    set('cpu.cfs_period_us', String(PERIOD_US));
    return set('cpu.cfs_quota_us', String(quota ?? -1));
  }
  // A group that a killed server has left may have it, and Linux refuses a limit above it.
  if (version === 1) write(folder, 'memory.memsw.limit_in_bytes', '-1');
  set(version === 2 ? 'memory.max' : 'memory.limit_in_bytes', String(memory ?? (version === 2 ? 'max' : -1)));
  if (memory === undefined) return;
  // Without these it would go on in the swap space, as far as the system has any, and as slowly.
  if (version === 2) write(folder, 'memory.swap.max', '0');
  else write(folder, 'memory.memsw.limit_in_bytes', String(memory));
}

function write(folder: string, file: string, text: string): boolean {
  try {
    writeFileSync(join(folder, file), text, { flag: 'r+' });
    return true;
  } catch {
    // The file is not there, or the process is gone.
    return false;
  }
}

function text(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function processesOf(group: string): string[] {
  return text(join(group, 'cgroup.procs')).split('\n').filter(Boolean);
}

/** Kills the processes of a group; they cannot start others meanwhile where their number can be limited. */
function killAll(group: string): void {
  write(group, 'pids.max', '0');
  for (const pid of processesOf(group).map(Number)) {
    // A process that this one cannot see, such as one outside of its container, is listed as 0, which is all of its own.
    if (pid !== 0) kill(pid);
  }
}

async function removeAll(groups: readonly string[]): Promise<void> {
  for (let left = TRIES; left > 0; left--) {
    for (const group of groups) killAll(group);
    if (groups.filter((group) => !remove(group)).length === 0) return;
    await delay(PAUSE_MS);
  }
}

function remove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
