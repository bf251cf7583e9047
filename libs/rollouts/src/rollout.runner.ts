import { ThrottledWarning, Workspaces } from '@fairlead/eventing';
import {
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { nextTask, type Task } from './agenda';
import { Duties, type Duty } from './duty.table';
import { ExecutorUnreachable } from './executors/executor';
import { RolloutAttempts } from './rollout.attempt';
import { RolloutReports } from './rollout.reports';
import { RolloutsOptions } from './rollouts.options';
import type { Deployed } from './executors/target';

/** How often is looked for work that another process left behind. */
const LOOK_MS = 1000;

/** Takes up what is to be done, one task at a time per deployment, several deployments at a time. */
@Injectable()
export class RolloutRunner implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Rollouts');
  private readonly warning = new ThrottledWarning((text) => this.logger.error(text));
  private readonly stopping = new AbortController();
  private readonly working = new Map<string, { look: () => void; ended: Promise<void> }>();
  private wake: () => void = () => undefined;
  private ended: Promise<void> = Promise.resolve();

  constructor(
    private readonly duties: Duties,
    private readonly reports: RolloutReports,
    private readonly attempts: RolloutAttempts,
    private readonly workspaces: Workspaces,
    private readonly options: RolloutsOptions,
  ) {}

  onModuleInit(): void {
    this.duties.onNote((deploymentId) => {
      this.working.get(deploymentId)?.look();
      this.wake();
    });
  }

  onApplicationBootstrap(): void {
    this.ended = this.run();
  }

  /** What is under way is broken off and begins again with the next start. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    this.wake();
    await this.ended;
    await Promise.all([...this.working.values()].map(({ ended }) => ended));
    await this.duties.release().catch(() => undefined);
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => (this.wake = resolve));
      await this.lookAtStopped();
      const free = this.options.concurrency - this.working.size;
      const found = free > 0 ? await this.claim(free) : [];
      for (const duty of found) this.take(duty);
      if (found.length > 0 && found.length === free) continue;
      let timer: NodeJS.Timeout | undefined;
      const soon = new Promise<void>((resolve) => (timer = setTimeout(resolve, LOOK_MS)));
      await Promise.race([woken, soon]);
      clearTimeout(timer);
    }
  }

  /** What is under way is looked at anew while a workspace is suspended or removed: it may be one of that. */
  private async lookAtStopped(): Promise<void> {
    const any = await this.workspaces.anyStopped().catch(() => false);
    if (any) for (const { look } of this.working.values()) look();
  }

  private async claim(most: number): Promise<Duty[]> {
    try {
      const claimed = await this.duties.claim(most, this.options.mostOfTenant, this.options.lease);
      this.warning.worked();
      return claimed;
    } catch (error) {
      this.warning.failed(`Nothing can be taken up: ${String(error)}`);
      return [];
    }
  }

  private take(duty: Duty): void {
    const hold = new Hold(duty, this.duties, this.options.lease, this.stopping.signal);
    const ended = this.work(hold).finally(() => {
      hold.end();
      this.working.delete(duty.deploymentId);
      this.wake();
    });
    this.working.set(duty.deploymentId, { look: () => hold.look(), ended });
  }

  private async work(hold: Hold): Promise<void> {
    const { duty, signal } = hold;
    try {
      while (await this.step(hold)) signal.throwIfAborted();
      await this.duties.finish({ ...duty, noted: hold.noted });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ExecutorUnreachable || error instanceof WorkspaceRests)) this.logger.error(error);
      await this.postpone(hold).catch((lost: unknown) => this.logger.error(lost));
    }
  }

  private async postpone({ duty, noted }: Hold): Promise<void> {
    const { first, most } = this.options.retry;
    await this.duties.postpone({ ...duty, noted }, Math.min(most, first * 2 ** Math.min(duty.failures, 20)));
  }

  /** Does the next task; answers whether there may be another one. */
  private async step(hold: Hold): Promise<boolean> {
    const { deploymentId } = hold.duty;
    await hold.see();
    const { state: target, version } = await this.reports.target(deploymentId);
    const task = nextTask(target, await this.reports.host(deploymentId));
    if (!target || task.kind === 'nothing') return false;
    // What is removed is removed in any case.
    const mayGoOn = async () =>
      task.kind === 'remove' || (await this.workspaces.stoppedStatus(target.tenantId)) === undefined;
    if (!(await mayGoOn())) throw new WorkspaceRests();
    if (task.kind === 'ask') {
      await this.attempts.ask(target, task.revision);
      return false;
    }
    return hold.during(
      (signal) => this.doTask(task, target, version, signal),
      async () => (await mayGoOn()) && same(task, nextTask((await this.reports.target(deploymentId)).state, 'READY')),
    );
  }

  private async doTask(task: Task, target: Deployed, version: number, signal: AbortSignal): Promise<boolean> {
    try {
      if (task.kind === 'prepare') await this.attempts.prepare(target, version, signal);
      if (task.kind === 'remove') await this.attempts.remove(target, version, signal);
      if (task.kind !== 'roll out') return task.kind === 'prepare';
      await this.attempts.rollOut(target, version, task.revision, signal);
      // Interrupted: there may be another one. Finished: the deployment says what is next.
      return signal.aborted;
    } catch (error) {
      if (signal.aborted) return true;
      if (error instanceof ExecutorUnreachable && task.kind !== 'remove') {
        await this.reports.sayHost(target, { deployment_id: target.id, status: 'UNKNOWN', reason: error.message });
        await this.attempts.giveUp(target);
      }
      throw error;
    }
  }
}

/** The workspace of the deployment is suspended: there is nothing to do for it until it is resumed. */
class WorkspaceRests extends Error {}

/** Whether a task is still the one to do: preparing goes on until the deployment is to be removed. */
function same(task: Task, now: Task): boolean {
  if (task.kind === 'roll out') {
    return now.kind === 'roll out' && now.revision.revision_id === task.revision.revision_id;
  }
  return (task.kind === 'remove') === (now.kind === 'remove');
}

/** The hold of one deployment: renewed until its end, and aware of what is noted meanwhile. */
class Hold {
  /** Aborts when the hold is lost or the service stops. */
  readonly signal: AbortSignal;
  noted: bigint;
  private readonly lost = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private renewedAt = Date.now();
  private changed: () => void = () => undefined;

  constructor(
    readonly duty: Duty,
    private readonly duties: Duties,
    private readonly lease: number,
    stopping: AbortSignal,
  ) {
    this.noted = duty.noted;
    this.signal = AbortSignal.any([this.lost.signal, stopping]);
    this.timer = setInterval(() => void this.renew(), Math.min(1000, lease / 3));
  }

  end(): void {
    clearInterval(this.timer);
  }

  /** Something was noted in this process. */
  look(): void {
    this.changed();
  }

  /** Everything noted by now will be seen by what is read after this. */
  async see(): Promise<void> {
    const noted = await this.duties.renew(this.duty, this.lease);
    if (noted === undefined) this.lost.abort();
    else this.noted = noted;
    this.signal.throwIfAborted();
  }

  /** Runs `work`; its signal aborts when `stillRight` says no after something was noted, or the hold is lost. */
  async during<T>(work: (signal: AbortSignal) => Promise<T>, stillRight: () => Promise<boolean>): Promise<T> {
    const outdated = new AbortController();
    this.changed = () => {
      stillRight().then(
        (right) => right || outdated.abort(),
        () => undefined,
      );
    };
    try {
      // What was noted since it was decided to do this.
      this.changed();
      return await work(AbortSignal.any([this.signal, outdated.signal]));
    } finally {
      this.changed = () => undefined;
    }
  }

  private async renew(): Promise<void> {
    try {
      const noted = await this.duties.renew(this.duty, this.lease);
      if (noted === undefined) return this.lost.abort();
      this.renewedAt = Date.now();
      // An event may have been noted by another process.
      if (noted !== this.noted) this.changed();
    } catch {
      if (Date.now() - this.renewedAt > this.lease * 0.8) this.lost.abort();
    }
  }
}
