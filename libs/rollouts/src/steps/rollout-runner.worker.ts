import { type Lease, QueueWorker, Workspaces } from '@fairlead/eventing';
import { Injectable, Logger } from '@nestjs/common';
import { type Answering, nextTask, type Task } from './agenda';
import { Executor, ExecutorUnreachable, recorded, StepFailed } from '@fairlead/executors';
import { type Hold, RolloutAttempts } from './rollout-attempts.service';
import { RolloutQueue } from './rollout-queue.store';
import { RolloutReports, type Seen } from '../rollout/rollout-reports.service';
import { RolloutsOptions } from './rollouts.options';
import type { Host } from '../rollout/host';
import { previewed, type Target } from '../rollout/target';
import { UpkeepService } from './upkeep.service';

/**
 * Does what there is to do, one task at a time per deployment, several deployments at a time. What is in progress when
 * the service stops is broken off and begins again with the next start.
 */
@Injectable()
export class RolloutRunner extends QueueWorker {
  /** The leases that only wait, with their workspaces. */
  private readonly waiting = new Map<Lease, string>();

  constructor(
    private readonly rollouts: RolloutQueue,
    private readonly reports: RolloutReports,
    private readonly attempts: RolloutAttempts,
    private readonly upkeep: UpkeepService,
    private readonly workspaces: Workspaces,
    private readonly options: RolloutsOptions,
    private readonly executor: Executor,
  ) {
    super(rollouts, new Logger('Rollouts'), options.concurrency);
  }

  /** Looks anew at what is in progress while a workspace is suspended or removed: it may be one of that. */
  protected override async prepare(): Promise<void> {
    const any = await this.workspaces.anyStopped().catch(() => false);
    if (any) for (const { lease } of this.working.values()) lease.look();
  }

  protected async work(lease: Lease): Promise<void> {
    const { item, signal } = lease;
    try {
      let next = await this.step(lease, false);
      while (next === 'more' || next === 'prepared') {
        signal.throwIfAborted();
        // What is next takes a place again.
        if (lease.isWaiting) return await this.rollouts.again(item);
        next = await this.step(lease, next === 'prepared');
      }
      if (next === 'later') await this.rollouts.rest({ ...item, noted: lease.noted }, this.options.watchEvery);
      else await this.rollouts.finish({ ...item, noted: lease.noted });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ExecutorUnreachable || error instanceof WorkspaceRests)) this.logger.error(error);
      await this.postpone(lease).catch((lost: unknown) => this.logger.error(lost));
    } finally {
      this.waiting.delete(lease);
    }
  }

  private async postpone({ item, noted }: Lease): Promise<void> {
    const { first, most } = this.options.retry;
    await this.rollouts.postpone({ ...item, noted }, Math.min(most, first * 2 ** Math.min(item.failures, 20)));
  }

  /**
   * Does the next task; answers whether there may be another one, now or some time later. `isPrepared`: the executor
   * could be reached a moment ago.
   */
  private async step(lease: Lease, isPrepared: boolean): Promise<Next> {
    const deploymentId = lease.item.id;
    await lease.see();
    const { state: target, version } = await this.reports.knownTarget(deploymentId, lease.noted);
    const { task, host } = await this.nextTaskOf(lease, target, isPrepared);
    if (!target || task.kind === 'nothing') return 'nothing';
    // What is removed is removed in any case.
    const mayGoOn = async () =>
      task.kind === 'remove' || (await this.workspaces.stoppedStatus(target.tenantId)) === undefined;
    if (!(await mayGoOn())) {
      if (task.kind === 'observe') return 'later';
      throw new WorkspaceRests();
    }
    if (task.kind === 'ask') {
      await this.attempts.ask(target, task.revision);
      return 'nothing';
    }
    return lease.during(
      (signal) =>
        this.doTask(task, { target, version, host }, { signal, waits: () => this.leavePlace(lease, target.tenantId) }),
      async (noted) => (await mayGoOn()) && same(task, await this.nextOf(deploymentId, noted)),
    );
  }

  /** The next task. What was prepared for a revision that has ended meanwhile is still said to be ready. */
  private async nextTaskOf(lease: Lease, target: Target, isPrepared: boolean): Promise<{ task: Task; host: Host }> {
    const next = await this.taskOf(lease, target, isPrepared ? READY : undefined);
    if (!isPrepared || next.task.kind !== 'nothing') return next;
    const unsaid = await this.taskOf(lease, target);
    return unsaid.task.kind === 'prepare' && !unsaid.task.mayRun ? unsaid : next;
  }

  /**
   * The next task. What is remembered of the host is enough to begin a revision, and to do nothing where nothing is seen
   * to: a host that another process calls UNKNOWN has an item that has failed, or a task that reads it. For all that is
   * done to what runs, it is read.
   */
  private async taskOf(
    { item, signal }: Lease,
    target: Target,
    said?: typeof READY,
  ): Promise<{ task: Task; host: Host }> {
    const known = { ...(await this.reports.knownHost(item.id)), ...said };
    const { answering, unknown } = await this.answering(target, known, signal);
    if (item.failures === 0) {
      const task = nextTask(target, known, undefined, answering);
      if (task.kind === 'roll out' || task.kind === 'ask') return { task, host: known };
      if (task.kind === 'nothing' && !this.upkeep.isPossible) return { task, host: known };
    }
    const kept = target ? await this.upkeep.kept(target) : undefined;
    const host = await this.reports.host(item.id);
    const task = nextTask(target, { ...host, ...said }, kept, answering);
    // Something may answer that is to end.
    if (task.kind === 'nothing' && unknown) throw unknown;
    return { task, host };
  }

  /** The held revision that answers; `unknown`: why that cannot be found out now. */
  private async answering(
    target: Target,
    { place }: Host,
    signal: AbortSignal,
  ): Promise<{ readonly answering?: Answering; readonly unknown?: Error }> {
    const { previews } = this.executor;
    if (!previews || !target?.hadPreviews || target.removed) return {};
    const { id: deploymentId, tenantId, name, config } = target;
    const held = previewed(target)?.revision_id;
    try {
      return {
        answering: {
          revisionId: await previews.revisionOf({ deploymentId, tenantId, name, config, place }, held, signal),
        },
      };
    } catch (error) {
      if (error instanceof ExecutorUnreachable || error instanceof StepFailed) return { unknown: error };
      throw error;
    }
  }

  /**
   * The next task where revisions can be run, without a look at the running program. Nobody else has carried out what the
   * deployment asks for while the lease lasts.
   */
  private async nextOf(deploymentId: string, noted: bigint): Promise<Task> {
    const { state } = await this.reports.knownTarget(deploymentId, noted);
    const host = { ...(await this.reports.knownHost(deploymentId)), ...READY };
    return nextTask(state, host, undefined, this.executor.previews && {});
  }

  /** Frees the place of a rollout that only waits, unless there are too many of them. */
  private async leavePlace(lease: Lease, tenant: string): Promise<void> {
    const { mostWaiting, mostWaitingOfTenant } = this.options;
    const ofTenant = [...this.waiting.values()].filter((other) => other === tenant).length;
    if (lease.isWaiting || this.waiting.size >= mostWaiting || ofTenant >= mostWaitingOfTenant) return;
    lease.isWaiting = true;
    this.waiting.set(lease, tenant);
    await recorded(this.rollouts.leavePlace(lease.item.id));
  }

  private async doTask(task: Task, seen: Seen, hold: Hold): Promise<Next> {
    const { signal } = hold;
    const { target } = seen;
    try {
      if (task.kind === 'prepare') await this.attempts.prepare(seen, task.mayRun, hold);
      if (task.kind === 'control') await this.upkeep.control(seen, hold);
      if (task.kind === 'remove') await this.attempts.remove(seen, hold);
      if (task.kind === 'preview') await this.attempts.preview(seen, task.revision, hold);
      if (task.kind === 'end preview') await this.attempts.endPreview(seen, hold);
      if (task.kind === 'restore') await this.upkeep.restore(seen, task.broken, hold);
      if (task.kind === 'resize') await this.upkeep.resize(seen, hold);
      if (task.kind === 'observe') await this.upkeep.observe(seen, task.kept, hold);
      if (task.kind !== 'roll out') return AFTER[task.kind] ?? 'nothing';
      await this.attempts.rollOut(seen, task.revision, hold);
      // Interrupted: there may be another one. Finished: the deployment says what is next.
      return signal.aborted ? 'more' : 'nothing';
    } catch (error) {
      if (signal.aborted) return 'more';
      if (error instanceof ExecutorUnreachable && task.kind !== 'remove') {
        await this.reports.sayHost(target, { deployment_id: target.id, status: 'UNKNOWN', reason: error.message });
        await this.attempts.giveUp(target);
      }
      throw error;
    }
  }
}

/** Outcome of a task: it says when to look for the next one. */
type Next = 'prepared' | 'more' | 'later' | 'nothing';

const AFTER: Readonly<Record<string, Next>> = {
  ...{ prepare: 'prepared', control: 'more', restore: 'more', resize: 'more', preview: 'more', 'end preview': 'more' },
  observe: 'later',
};
const READY = { status: 'READY' } as const;

/** The workspace of the deployment is suspended: there is nothing to do for it until it is resumed. */
class WorkspaceRests extends Error {}

/** True when a task is still the one to do: preparing goes on until the deployment is to be removed. */
function same(task: Task, now: Task): boolean {
  if (task.kind === 'end preview') return true;
  if (task.kind === 'preview') {
    return now.kind === 'preview' && now.revision.revision_id === task.revision.revision_id;
  }
  if (['restore', 'resize', 'observe'].includes(task.kind)) return ['nothing', 'preview'].includes(now.kind);
  if (task.kind === 'control') return now.kind === 'control' && now.version === task.version;
  if (task.kind === 'roll out') {
    return now.kind === 'roll out' && now.revision.revision_id === task.revision.revision_id;
  }
  return (task.kind === 'remove') === (now.kind === 'remove');
}
