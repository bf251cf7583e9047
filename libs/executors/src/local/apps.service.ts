import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type AppUse, type HostedApps, spelledAddress } from '@fairlead/contracts';
import { withTimeLimit } from '@fairlead/schema';
import { type AppFolder, AppFolders, BUILDS_KEPT, type KeptApp, type StartedRevision } from './app-folders.store';
import type { ProcessHealth } from '../port/process-health.schema';
import type { ProgramLine } from '../port/line-level';
import { AllLogs, AppLogs, type LogLimits } from './app-logs.store';
import { AppProcess } from './app.process';
import { within } from '../command/child.process';
import type { CommandPlace } from '../port/executor';
import { AppVisitors } from './app-visitors';
import {
  BUILD_LIMITS,
  type ControlGroup,
  ControlGroups,
  type Controller,
  PROGRAM_PROCESSES,
} from './control-groups.process';
import { Containers } from './containers.service';
import { type DiskLimits, DiskWatch } from './disk-use.watch';
import { AppPorts } from './app-ports.process';
import { AppCommand, RunningCommands } from './running/app-command.process';
import { AppRunner, AppUnavailable, type RunLimits, type TakenBack, type TellStatus } from './running/app.runner';
import type { Entered, Runnable } from './running/serving.process';

/** A key for sending runs, of one process. */
interface TracingKey {
  readonly key: string;
  revoke(): void;
}

/**
 * Tracing of the programs of a deployment: the address of the service, their project, and keys for sending runs there.
 */
export type Tracing = (
  revision: StartedRevision,
) => Promise<{ readonly address: string; readonly project: string; issue(): TracingKey } | undefined>;

/** A revision to run, with the values of its secrets and its sizes. */
interface Chosen {
  readonly revision: StartedRevision;
  readonly secrets: ReadonlyMap<string, string>;
  readonly sizes?: Sizes;
  /** Takes what a rollout says of it while it starts. */
  readonly say?: (text: string) => void;
}

/** Sizes of a deployment, as `resource_spec` names them. */
type Sizes = Readonly<Record<string, unknown>> | null;

/** Which of these revisions is to run, or `wanted` with its secrets; undefined when none is. */
export type ChooseRevision = (
  revisions: readonly StartedRevision[],
  wanted?: StartedRevision,
) => Promise<Chosen | undefined>;

/** Separation of the programs from the server and from others. */
interface Isolation {
  /** True when their ports are closed to others. */
  readonly closed: boolean;
  /** Resources that the kernel limits for them. */
  readonly limited: ReadonlySet<Controller>;
  /** Why they can read what the server reads; undefined when they cannot. */
  readonly exposed?: string;
  /** Why they write to `/tmp` of the machine; undefined when they do not, or have the user of the server. */
  readonly shared?: string;
}

/** Takes what the programs of deployments say of themselves. */
export type Tell = (id: string, ...told: Parameters<TellStatus>) => void;

/** Takes that a revision has taken its place back. */
type TookBack = (taken: TakenBack) => void;

interface LocalLimits extends RunLimits {
  /** Processes of programs that run at a time. */
  readonly awake: number;
  /** Milliseconds without a request after which a program is ended until the next one. */
  readonly sleepAfter: number;
  /** Bytes of an unpacked archive. */
  readonly source: number;
  /** Bytes of a deployment's folder. */
  readonly disk: number;
  readonly diskWatch?: Omit<DiskLimits, 'most'>;
  readonly logs: LogLimits;
  /** Where clients reach the server; undefined: where they say. */
  readonly publicUrl?: string;
}

/** Memory of the machine for each process that runs (bytes): twice what the LangGraph server takes when it does nothing. */
const MEMORY_OF_ONE = 768 * 1024 ** 2;
/** Programs whose logs may all have their full size. */
const LOGS_KEPT = 64;
/** The share of the places that programs may have which never sleep. */
const SHARE = 0.75;
/** Interval at which a program is looked for that can sleep, so that another one has room (ms). */
const ROOM_MS = 50;
const LONGEST_PAUSE = 60_000;
/** Interval between measurements of the free disk space (ms). */
const DISK_MS = 2000;

/** States of a program; it has the best one of its processes. */
const STATES = ['RUNNING', 'UNRESPONSIVE', 'STARTING', 'CRASH_LOOPING', 'FAILED'];

const DEFAULTS: LocalLimits = {
  awake: awakeWithin(totalmem()),
  sleepAfter: 1_800_000,
  ready: 120_000,
  hold: 60_000,
  restart: { first: 500, most: 60_000 },
  trial: 30_000,
  looks: { every: 10_000, closed: 3, silent: 6, busy: 60, wait: 5000 },
  source: 1024 ** 3,
  disk: 4 * 1024 ** 3,
  logs: { bytes: 1024 ** 2, rate: 500 },
};

/** The deployments whose programs run on this machine. */
export class LocalApps implements HostedApps {
  readonly limits: LocalLimits;
  private readonly folders: AppFolders;
  private readonly ports: AppPorts;
  private readonly groups: ControlGroups;
  /** Disk use of the folders of deployments. */
  readonly disk: DiskWatch;
  private readonly kept = new Map<string, KeptApp>();
  private readonly runners = new Map<string, AppRunner>();
  /** Commands that run beside programs. */
  private readonly running = new RunningCommands();
  private choose: ChooseRevision = async () => undefined;
  private tracing: Tracing = async () => undefined;
  private tell: Tell = () => undefined;
  private tookBack: TookBack = () => undefined;
  /** Ends when the one before has room. */
  private turn: Promise<unknown> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private diskTimer: NodeJS.Timeout | undefined;
  private ended = false;

  /** The browsers that may see their pages. */
  readonly visitors = new AppVisitors();
  /** Lines that programs wrote since the server was started. */
  readonly logged: AllLogs;

  /** `root`: folder of the deployments' folders. `hasPages`: browsers see them at hosts of their own. */
  constructor(
    root: string,
    limits: Partial<LocalLimits> = {},
    readonly hasPages = false,
    readonly containers = new Containers(root),
  ) {
    this.limits = { ...DEFAULTS, ...limits };
    this.logged = new AllLogs(this.limits.logs.bytes * LOGS_KEPT);
    this.folders = new AppFolders(root);
    this.ports = new AppPorts(root);
    this.groups = new ControlGroups(root);
    this.disk = new DiskWatch(root, { ...this.limits.diskWatch, most: this.limits.disk });
  }

  /**
   * Finds what earlier processes of the server have started: it starts again when somebody asks for it. `tell` is called
   * when a program has become ready, does not come back, or sleeps, and `tookBack` when one has taken its place back.
   */
  begin(choose: ChooseRevision, tracing: Tracing, tell: Tell, tookBack: TookBack = () => undefined): Isolation {
    this.choose = choose;
    this.tracing = tracing;
    this.tell = tell;
    this.tookBack = tookBack;
    this.ended = false;
    for (const [id, kept] of this.folders.begin()) this.kept.set(id, kept);
    for (const [id, { address }] of this.kept) if (address === undefined) this.claim(id);
    const images = [...this.kept.values()].flatMap(({ revisions }) => revisions.flatMap(({ image }) => image ?? []));
    images.forEach((image) => this.containers.know(image));
    // Looking for the engine removes the containers that a killed server has left.
    if (images.length > 0) this.containers.engine().catch(() => undefined);
    const pause = Math.min(LONGEST_PAUSE, this.limits.sleepAfter / 4);
    this.timer = setInterval(() => this.sendToSleep(), pause).unref();
    this.diskTimer = setTimeout(() => void this.watchDisk(), DISK_MS).unref();
    return { closed: this.ports.begin(), limited: this.groups.begin(), ...this.folders.confine() };
  }

  /** Starts what never sleeps. */
  startAlwaysOn(): void {
    for (const [id, { awake, stopped }] of this.kept) if (awake && !stopped) void this.wake(id);
  }

  /** Limits a command of a build, and all that it starts. */
  limitBuild(pid: number): ControlGroup {
    return this.groups.limit(pid, BUILD_LIMITS);
  }

  folder(id: string): AppFolder {
    return this.folders.of(id);
  }

  /** Environment of the commands of a revision; `more` takes precedence over the secrets. */
  environment({ revision, secrets }: Chosen, more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { deploymentId, revisionId, image, build, recipe } = revision;
    return {
      ...Object.fromEntries(secrets),
      LANGCHAIN_REVISION_ID: revisionId,
      ...more,
      ...(image === undefined && this.folder(deploymentId).environmentOf(build, recipe)),
    };
  }

  /** Starts a revision in the place of the one that runs. @throws StepFailed, and the one before runs on */
  async activate(chosen: Chosen, signal: AbortSignal): Promise<void> {
    const { revision } = chosen;
    const { deploymentId: id } = revision;
    if (!revision.image) await this.disk.requireSpace();
    const program = await this.runnable(chosen);
    const before = this.kept.get(id)?.revisions ?? [];
    await this.during(id, signal, (runner) => runner.replace(program, signal, before[0]));
    const others = before.filter(({ revisionId }) => revisionId !== revision.revisionId);
    const revisions = [revision, ...others].slice(0, BUILDS_KEPT);
    const awake = program.isAlwaysOn ? program.scale : 0;
    this.keep(id, { ...this.kept.get(id), stopped: false, awake, revisions });
    this.claim(id);
    await this.folder(id).prune([...new Set(revisions.map(({ build }) => build))]);
    await this.removeImages(before);
  }

  /** The deployment of the workspace that an address names, by its id or by the address that it has. */
  find(tenantId: string, named: string): string | undefined {
    const own = [...this.kept].filter(([, { revisions }]) => revisions[0]!.tenantId === tenantId);
    const byId = own.find(([id]) => id === named);
    return (byId ?? own.find(([, { address }]) => address === named))?.[0];
  }

  /** The only deployment that has an address in any workspace. */
  named(address: string): { readonly id: string; readonly tenantId: string } | undefined {
    const all = [...this.kept].filter(([, kept]) => kept.address === address);
    return all.length === 1 ? { id: all[0]![0], tenantId: all[0]![1].revisions[0]!.tenantId } : undefined;
  }

  /** The path of a deployment, by its address unless another one has that. */
  pathOf(tenantId: string, id: string): string | undefined {
    const kept = this.kept.get(id);
    if (kept?.revisions[0]!.tenantId !== tenantId) return undefined;
    return `/apps/${kept.address ?? id}`;
  }

  /**
   * Gives a deployment the address that its name spells, unless another one has it. A name that is the address itself
   * takes it from one that only spells it. Nobody else loses an address while it is there, and nobody gets one but here:
   * when a deployment is deployed, or found as an earlier version has kept it.
   */
  private claim(id: string): void {
    const kept = this.kept.get(id)!;
    const { name, tenantId } = kept.revisions[0]!;
    const address = spelledAddress(name);
    if (address === '' || kept.address === address) return;
    const holder = this.find(tenantId, address);
    const of = holder === undefined ? undefined : this.kept.get(holder)!;
    const isFree = of === undefined || (name === address && of.revisions[0]!.name !== address && holder !== address);
    if (of && isFree) this.keep(holder!, { ...of, address: null });
    if (isFree) this.keep(id, { ...kept, address });
    else if (kept.address !== null) this.keep(id, { ...kept, address: null });
  }

  /**
   * A request to the program of a deployment, which is started when it does not run, but not to its processes at the
   * ports of `tried`. @throws AppUnavailable
   */
  async enter(id: string, tried?: ReadonlySet<number>): Promise<Entered> {
    const runner = this.runner(id);
    const leave = runner.use();
    try {
      const { port, end, outlive } = await withTimeLimit(this.limits.hold, [], async (late) => {
        if (!runner.isStopped) await this.admit(runner, late);
        return runner.enter(late, tried);
      });
      return {
        port,
        end: () => (end(), leave()),
        outlive: (close) => {
          const ended = outlive(close);
          return () => (ended(), leave());
        },
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** The last lines that a program wrote since the server was started, the oldest first. */
  lines(id: string): readonly ProgramLine[] {
    return this.runners.get(id)?.logs.lines() ?? [];
  }

  /** The processes of a deployment, as they are now; none while it sleeps or is stopped. */
  inspect(id: string): readonly ProcessHealth[] {
    return this.kept.has(id) ? this.runner(id).health() : (this.runners.get(id)?.health() ?? []);
  }

  uses(): AppUse[] {
    return [...this.kept.keys()].map((deployment_id) => {
      const runner = this.runner(deployment_id);
      const processes = runner.health();
      const state = STATES.find((one) => processes.some((process) => process.state === one)) ?? 'IDLE';
      const sum = (member: 'memory_bytes' | 'cpu_cores') => sumOf(processes.map((process) => process[member]));
      const [memory_bytes, cpu_cores] = [sum('memory_bytes'), sum('cpu_cores')];
      const disk_bytes = this.disk.bytes(deployment_id) ?? null;
      return { deployment_id, state, memory_bytes, cpu_cores, disk_bytes, restarts: runner.restarts };
    });
  }

  /** Where commands of a deployment run; undefined while none of its revisions can. */
  async commands(id: string): Promise<CommandPlace | undefined> {
    const chosen = this.ended ? undefined : await this.choose(this.kept.get(id)?.revisions ?? []);
    // It may have been removed meanwhile.
    if (!chosen || this.ended || !this.kept.has(id)) return undefined;
    return new AppCommand(await this.runnable(chosen), this.disk, this.running);
  }

  /** Starts what was stopped. @throws StepFailed when it does not become ready */
  async start(id: string, signal: AbortSignal): Promise<void> {
    // What is kept says that it was started also when there was no room for it: that is tried again.
    if (this.kept.has(id) && this.runner(id).isStopped) await this.restart(id, signal);
  }

  /** Ends a program and starts it again; requests wait. @throws StepFailed when it does not become ready */
  async restart(id: string, signal: AbortSignal): Promise<void> {
    const kept = this.kept.get(id);
    if (!kept) return;
    this.keep(id, { ...kept, stopped: false });
    await this.during(id, signal, (runner) => runner.restart(signal));
  }

  /** Ends a program until it is started or deployed, also after a restart of the server. Requests are refused. */
  async stop(id: string): Promise<void> {
    const kept = this.kept.get(id);
    if (!kept) return;
    this.keep(id, { ...kept, stopped: true });
    await this.runner(id).stop();
  }

  /** Ends everything of a deployment and forgets its files. */
  async remove(id: string): Promise<void> {
    const before = this.kept.get(id)?.revisions ?? [];
    this.kept.delete(id);
    const runner = this.runners.get(id);
    await Promise.all([runner?.stop(), this.running.end(id, 'The deployment is being deleted.')]);
    runner?.logs.forget();
    this.runners.delete(id);
    await this.folders.remove(id);
    this.disk.forget(id);
    await this.removeImages(before);
  }

  /** Ends everything that runs; it is started again after the next `begin`. */
  async end(): Promise<void> {
    // What is looked at would be made again.
    if (this.ended) return;
    this.ended = true;
    clearInterval(this.timer);
    clearTimeout(this.diskTimer);
    const stopped = [...this.runners.values()].map((runner) => runner.stop());
    await Promise.all([...stopped, this.running.end(undefined, 'The server stops.')]);
    for (const id of this.kept.keys()) this.folder(id).killAll();
    for (const { logs } of this.runners.values()) logs.forget();
    this.runners.clear();
    await this.containers.end();
    this.folders.end();
    this.ports.end();
    await this.groups.end();
  }

  private runner(id: string): AppRunner {
    const known = this.runners.get(id);
    if (known) return known;
    const machine = {
      next: (revision?: StartedRevision) => this.chosen(id, revision),
      room: (one: AppRunner, places: number) => this.makeRoom(one, places),
      tell: (...told: Parameters<TellStatus>) => this.tell(id, ...told),
      tookBack: (taken: TakenBack) => {
        const kept = this.kept.get(id);
        const others = kept?.revisions.filter(({ revisionId }) => revisionId !== taken.to.revisionId) ?? [];
        if (kept) this.keep(id, { ...kept, revisions: [taken.to, ...others].slice(0, BUILDS_KEPT) });
        this.tookBack(taken);
      },
    };
    const logs = new AppLogs(this.limits.logs, this.logged, () => runner.isAwake);
    const runner: AppRunner = new AppRunner(this.limits, logs, machine, this.kept.get(id)?.stopped);
    this.runners.set(id, runner);
    return runner;
  }

  /** Does something with a program that uses it, once there is room for it. */
  private async during(id: string, signal: AbortSignal, work: (runner: AppRunner) => Promise<void>): Promise<void> {
    const runner = this.runner(id);
    const leave = runner.use();
    try {
      await withTimeLimit(this.limits.hold, [signal], (late) => this.admit(runner, late));
      await work(runner);
    } finally {
      leave();
    }
  }

  /** Waits until there is room for one process of a program. @throws AppUnavailable when `signal` aborts before */
  private async admit(runner: AppRunner, signal: AbortSignal): Promise<void> {
    if (runner.isAwake) return;
    const admitted = this.turn.then(async () => {
      while (!runner.isAwake) {
        const { awake: most } = this.limits;
        if (signal.aborted) throw new AppUnavailable(`All of the ${most} processes that may run work on requests.`);
        if (!(await this.makeRoom(runner, 1))) await delay(ROOM_MS);
      }
    });
    this.turn = admitted.catch(() => undefined);
    await admitted;
  }

  /**
   * Gives a program places for more processes, for which those sleep that nobody has used for the longest time. Answers
   * false when that does not make enough room.
   */
  private async makeRoom(runner: AppRunner, places: number): Promise<boolean> {
    for (;;) {
      const all = [...this.runners.values()];
      const free = this.limits.awake - sumOf(all.map((one) => one.places))!;
      if (free >= places) {
        runner.places += places;
        return true;
      }
      const spare = all.find((one) => one.hasSpare);
      if (spare) {
        await spare.giveSpare();
        continue;
      }
      const idle = all.filter((one) => one !== runner && one.idleSince !== undefined);
      if (free + (sumOf(idle.map((one) => one.places)) ?? 0) < places) return false;
      await idle.sort((a, b) => a.idleSince! - b.idleSince!)[0]!.sleep();
    }
  }

  /** Removes the images of revisions that no deployment has kept. */
  async removeImages(before: readonly Pick<StartedRevision, 'build' | 'image'>[]): Promise<void> {
    const used = new Set([...this.kept.values()].flatMap(({ revisions }) => revisions.map(({ build }) => build)));
    for (const { build, image } of before) if (image && !used.has(build)) await this.containers.removeImage(image);
  }

  private sendToSleep(): void {
    const until = Date.now() - this.limits.sleepAfter;
    for (const runner of this.runners.values()) {
      if ((runner.idleSince ?? Infinity) <= until) void runner.sleep();
    }
  }

  /** True when a deployment runs also while nobody uses it. */
  isAlwaysOn(id: string): boolean {
    return (this.kept.get(id)?.awake ?? 0) > 0;
  }

  /** True when a deployment is, or may be, a LangGraph server. */
  mayHaveCrons(id: string): boolean {
    const newest = this.kept.get(id)?.revisions[0];
    return newest !== undefined && (newest.recipe.langgraph || newest.image !== undefined);
  }

  /**
   * True when a program with these sizes can run all the time. Three quarters of the places are for such programs, and
   * three quarters of these for those of one workspace, so that the others have places too.
   */
  mayStayAwake({ deploymentId, tenantId }: StartedRevision, sizes: Sizes | undefined): boolean {
    const others = [...this.kept].filter(([id]) => id !== deploymentId);
    const awake = (some: typeof others) => sumOf(some.map(([, { awake = 0 }]) => awake)) ?? 0;
    const all = Math.max(1, Math.floor(this.limits.awake * SHARE));
    const ofTenant = Math.max(1, Math.floor(all * SHARE));
    const own = others.filter(([, { revisions }]) => revisions[0]?.tenantId === tenantId);
    const scale = leastOf(sizes);
    return awake(others) + scale <= all && awake(own) + scale <= ofTenant;
  }

  /** Starts a program that never sleeps, as for a request. */
  private async wake(id: string): Promise<void> {
    try {
      (await this.enter(id)).end();
    } catch {
      // It is tried again by itself, and its health says why it does not run.
    }
  }

  private async watchDisk(): Promise<void> {
    try {
      const awake = [...this.runners].filter(([id, runner]) => runner.isAwake && this.kept.has(id));
      const folders = new Map(awake.map(([id]) => [id, this.folder(id)]));
      for (const { id, why } of await this.disk.look(folders)) void this.runners.get(id)?.expel(why);
    } catch {
      // A folder was removed meanwhile: the next look tells.
    }
    if (!this.ended) this.diskTimer = setTimeout(() => void this.watchDisk(), DISK_MS).unref();
  }

  private async chosen(id: string, wanted?: StartedRevision): Promise<Runnable | undefined> {
    const chosen = this.ended ? undefined : await this.choose(this.kept.get(id)?.revisions ?? [], wanted);
    if (!chosen) return undefined;
    if (!chosen.revision.image) await this.disk.requireRoom(id, this.folder(id));
    const program = await this.runnable(chosen);
    const [kept, awake] = [this.kept.get(id), program.isAlwaysOn ? program.scale : 0];
    if (kept && (kept.awake ?? 0) !== awake) this.keep(id, { ...kept, awake });
    return program;
  }

  private async runnable(chosen: Chosen): Promise<Runnable> {
    const { revision, secrets, sizes, say } = chosen;
    const { deploymentId, revisionId, image, build, recipe } = revision;
    const folder = this.folder(deploymentId);
    const traced = image && !(await this.containers.canTrace(image)) ? undefined : await this.tracing(revision);
    const launch = () => {
      const issued = traced?.issue();
      const env = this.environment(chosen, {
        ...(traced && {
          LANGSMITH_TRACING: 'true',
          LANGSMITH_ENDPOINT: traced.address,
          LANGSMITH_PROJECT: traced.project,
        }),
        ...(issued && { LANGSMITH_API_KEY: issued.key }),
      });
      const hidden = [...secrets.values(), ...(issued ? [issued.key] : [])];
      return { env, secrets: hidden, ended: () => issued?.revoke() };
    };
    const guard = (port: number) => this.ports.close(port, folder.user?.uid);
    const [memory, cores] = [memoryOf(sizes), coresOf(sizes)];
    const scale = recipe.langgraph ? 1 : Math.min(leastOf(sizes), this.limits.awake);
    const isAlwaysOn = wantsToStayAwake(sizes) && this.mayStayAwake(revision, sizes);
    const common = { revision, folder, scale, isAlwaysOn, guard, launch, say };
    if (image) {
      const { disk } = this.limits;
      const wanted = {
        deploymentId,
        revisionId,
        image,
        memory,
        cores,
        disk,
        ...(traced && { server: traced.address }),
      };
      const close = (subnet: string) => this.ports.closeNetwork(subnet);
      return {
        ...common,
        run: (env, port, told) => this.containers.start({ ...wanted, env, port, close }, told),
        runCommand: (env, command, told) => this.containers.start({ ...wanted, env, command, close }, told),
      };
    }
    const cwd = join(folder.build(build), recipe.folder);
    const limit = (pid: number) => this.groups.limit(pid, { cores, memory, processes: PROGRAM_PROCESSES });
    return {
      ...common,
      run: async (env, port, told) => {
        const words = within(cwd, ['/bin/sh', '-c', recipe.start]);
        const started = folder.start(words, { ...env, PORT: String(port) });
        return new AppProcess({ ...started, port, memory, limit }, told);
      },
      runCommand: async (env, words, told) =>
        new AppProcess({ ...folder.start(within(cwd, words), env), memory, limit }, told),
    };
  }

  private keep(id: string, kept: KeptApp): void {
    this.kept.set(id, kept);
    this.folder(id).keep(kept);
  }
}

/** Number of processes that a machine with this much memory (bytes) runs at a time. */
export function awakeWithin(memory: number): number {
  const own = process.constrainedMemory();
  return Math.max(2, Math.floor(Math.min(memory, own > 0 ? own : memory) / MEMORY_OF_ONE));
}

/** The sum of what is known; null when nothing is. */
function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
}

/** True when these sizes ask for a program that never sleeps. */
export function wantsToStayAwake(sizes: Sizes | undefined): boolean {
  return Number(sizes?.min_scale ?? 0) >= 1;
}

/** Number of processes that a program needs, at least one. */
export function leastOf(sizes: Sizes | undefined): number {
  return Math.max(1, Number(sizes?.min_scale ?? 1));
}

/** Bytes of memory that a process of a program may use; undefined when its sizes do not say. */
function memoryOf(sizes: Sizes | undefined): number | undefined {
  const megabytes = sizes?.memory_limit_mb ?? sizes?.memory_mb;
  return typeof megabytes === 'number' ? megabytes * 1e6 : undefined;
}

/** Processor cores that a process of a program may use; undefined when its sizes do not say. */
function coresOf(sizes: Sizes | undefined): number | undefined {
  const cores = sizes?.cpu_limit;
  return typeof cores === 'number' && cores > 0 ? cores : undefined;
}
