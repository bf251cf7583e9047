import { setTimeout as delay } from 'node:timers/promises';
import type { AppUse } from '@fairlead/contracts';
import { withTimeLimit } from '@fairlead/schema';
import type { ProcessHealth } from '../port/process-health.schema';
import type { ProgramLine } from '../port/line-level';
import type { StartedRevision } from './isolation/app-folders.store';
import { AllLogs, AppLogs } from './running/app-logs';
import { type AppPreviews, deploymentOf, previewName } from './app-previews';
import type { KeptApps } from './kept-apps';
import type { LocalLimits } from './local-limits';
import { AppRunner, AppUnavailable, type TakenBack } from './running/app-runner';
import type { TellStatus } from './running/runner-state';
import type { Entered, Runnable } from './running/serving';

export type Tell = (id: string, ...told: Parameters<TellStatus>) => void;

/** Decisions about the deployments whose programs run, and receivers of their reports. */
interface Deployments {
  readonly next: (id: string, wanted?: StartedRevision) => Promise<Runnable | undefined>;
  readonly tell: Tell;
  readonly tookBack: (taken: TakenBack) => void;
}

/** Programs whose logs may all have their full size. */
const LOGS_KEPT = 64;
/** Interval at which a program is looked for that can sleep, so that another one has room (ms). */
const ROOM_MS = 50;

/** States of a program; it has the best one of its processes. */
const STATES = ['RUNNING', 'UNRESPONSIVE', 'STARTING', 'CRASH_LOOPING', 'FAILED'];

/**
 * The runners of all deployments, by id, and of their held revisions, by `previewName`: they share the places for
 * processes, and those that nobody uses make room.
 */
export class AppRunners {
  readonly logged: AllLogs;
  private readonly all = new Map<string, AppRunner>();
  /** Ends when the one before has room. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly limits: LocalLimits,
    private readonly kept: KeptApps,
    private readonly previews: AppPreviews,
    private readonly deployments: Deployments,
  ) {
    this.logged = new AllLogs(limits.logs.bytes * LOGS_KEPT);
  }

  of(id: string): AppRunner {
    const known = this.all.get(id);
    if (known) return known;
    const { next, tell, tookBack } = this.deployments;
    const machine = {
      next: (revision?: StartedRevision) => next(id, revision),
      room: (one: AppRunner, places: number) => this.makeRoom(one, places),
      tell: (...told: Parameters<TellStatus>) => tell(id, ...told),
      tookBack,
    };
    const logs = new AppLogs(this.limits.logs, this.logged, () => runner.isAwake);
    const runner: AppRunner = new AppRunner(this.limits, logs, machine, this.kept.get(id)?.stopped);
    this.all.set(id, runner);
    return runner;
  }

  /** The deployments of which something runs, each of them as often as it has programs that do. */
  awake(): [id: string, runner: AppRunner][] {
    const isThere = (name: string) => this.kept.get(name) ?? this.previews.named(name);
    const awake = [...this.all].filter(([name, runner]) => runner.isAwake && isThere(name));
    return awake.map(([name, runner]) => [deploymentOf(name), runner]);
  }

  /** Ends the program of a deployment, and `others` of it, and forgets its lines. */
  async remove(id: string, others: Promise<unknown>): Promise<void> {
    const runner = this.all.get(id);
    await Promise.all([runner?.stop(), others]);
    runner?.logs.forget();
    this.all.delete(id);
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.all.values()].map((runner) => runner.stop()));
  }

  forgetAll(): void {
    for (const { logs } of this.all.values()) logs.forget();
    this.all.clear();
  }

  /**
   * A request to the program of a deployment, which is started when it does not run, but not to its processes at the
   * ports of `tried`. @throws AppUnavailable
   */
  async enter(id: string, tried?: ReadonlySet<number>): Promise<Entered> {
    const runner = this.of(id);
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

  /** Does something with a program that uses it, once there is room for it. */
  async during(id: string, signal: AbortSignal, work: (runner: AppRunner) => Promise<void>): Promise<void> {
    const runner = this.of(id);
    const leave = runner.use();
    try {
      await withTimeLimit(this.limits.hold, [signal], (late) => this.admit(runner, late));
      await work(runner);
    } finally {
      leave();
    }
  }

  lines(id: string): readonly ProgramLine[] {
    return this.all.get(id)?.logs.lines() ?? [];
  }

  inspect(id: string): readonly ProcessHealth[] {
    return this.kept.get(id) ? this.of(id).health() : (this.all.get(id)?.health() ?? []);
  }

  uses(): Omit<AppUse, 'disk_bytes'>[] {
    const previewed = new Map(this.previews.revisions.map((revision) => [revision.deploymentId, revision]));
    return [...new Set([...this.kept.ids, ...previewed.keys()])].map((deployment_id) => {
      const runner = this.of(deployment_id);
      const processes = runner.health();
      const state = STATES.find((one) => processes.some((process) => process.state === one)) ?? 'IDLE';
      // What a held revision uses is used by its deployment.
      const preview = previewed.get(deployment_id);
      const beside = preview ? (this.all.get(previewName(deployment_id, preview.revisionId))?.health() ?? []) : [];
      const sum = (member: 'memory_bytes' | 'cpu_cores') =>
        sumOf([...processes, ...beside].map((process) => process[member]));
      const [memory_bytes, cpu_cores] = [sum('memory_bytes'), sum('cpu_cores')];
      const { tenantId: tenant_id } = this.kept.revisions(deployment_id)[0] ?? preview!;
      return { deployment_id, tenant_id, state, memory_bytes, cpu_cores, restarts: runner.restarts };
    });
  }

  sendToSleep(): void {
    const until = Date.now() - this.limits.sleepAfter;
    for (const runner of this.all.values()) if ((runner.idleSince ?? Infinity) <= until) void runner.sleep();
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
    const placesOf = (some: readonly AppRunner[]) => some.reduce((sum, one) => sum + one.places, 0);
    for (;;) {
      const all = [...this.all.values()];
      const free = this.limits.awake - placesOf(all);
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
      if (free + placesOf(idle) < places) return false;
      await idle.sort((a, b) => a.idleSince! - b.idleSince!)[0]!.sleep();
    }
  }
}

function sumOf(values: readonly (number | null)[]): number | null {
  return values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
}
