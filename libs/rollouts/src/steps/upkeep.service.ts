import type { ControlAction, HostStatusReportedMessage, RevisionSpec } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { withTimeLimit } from '@fairlead/schema';
import {
  crashLoops,
  Executor,
  ExecutorUnreachable,
  isOfRecord,
  type RevisionAssignment,
  type Step,
  type Upkeep,
} from '@fairlead/executors';
import { noteControl, noteSizes, reportDrift, reportHost } from '../rollout/host';
import { activeOf, type Deployed } from '../rollout/target';
import { type Kept, NONE } from './agenda';
import { RolloutLogs, type RolloutLog } from '../logs/rollout-logs.store';
import { MetricsWorker } from '../metrics/metrics.worker';
import { restored } from '../rollout/rollout';
import { type Hold, messageOf, RolloutAttempts } from './rollout-attempts.service';
import { RolloutReports, type Seen } from '../rollout/rollout-reports.service';
import { RolloutsOptions } from './rollouts.options';

const DONE = { stop: 'Stopped.', start: 'Started.', restart: 'Restarted.' };

/** Sees to deployments that run, with executors that can. */
@Injectable()
export class UpkeepService {
  constructor(
    private readonly reports: RolloutReports,
    private readonly executor: Executor,
    private readonly logs: RolloutLogs,
    private readonly options: RolloutsOptions,
    private readonly attempts: RolloutAttempts,
    private readonly metrics: MetricsWorker,
  ) {}

  /** True when the executor can see to running programs. */
  get isPossible(): boolean {
    return this.executor.upkeep !== undefined;
  }

  /** Revisions that the executor can see to: one that left something behind, or the active one. */
  async kept(target: Deployed): Promise<Kept> {
    if (!this.executor.upkeep) return NONE;
    const { revision, left = 'nothing' } = (await this.reports.leftBehind(target)) ?? {};
    const broken = left === 'something' ? revision : undefined;
    const isOurs = target.executor === this.executor.name;
    const what = this.options.onFailure === 'rollback' ? { broken } : { kept: broken };
    return { ...what, isActive: isOurs && !broken, mayRun: isOurs || left !== 'nothing' };
  }

  /**
   * Lets the active revision run again in place of one that was not deployed, or nothing when there is none. It says in
   * the log of that one what has become of it. @throws ExecutorUnreachable
   */
  async restore(seen: Seen, broken: RevisionSpec, hold: Hold): Promise<void> {
    const { target } = seen;
    const log = this.logs.open(target, broken.revision_id);
    const revision = target.stopped ? undefined : this.activeRevision(target);
    const what = revision ? `Revision ${revision.revision_id}` : 'The deployment';
    const failed = `${what} ${revision ? 'does not run again' : 'may still run'}`;
    const reason = await this.keep(seen, log, failed, hold, async (upkeep, step) => {
      if (revision) {
        await step.log('INFO', `${what} is applied again, because this one was not deployed.`);
        await upkeep.restore(await this.active(seen, revision, log), step);
        await step.log('INFO', `${what} runs again.`);
      } else {
        await upkeep.halt(await this.attempts.assignment(seen, target.secrets, log), step);
        const why = target.stopped ? 'somebody has stopped it' : 'no revision of this deployment has been deployed';
        await step.log('INFO', `Nothing runs: ${why}.`);
      }
    });
    const note = restored(target.id, revision?.revision_id ?? null, reason);
    await this.reports.decide(target.tenantId, broken.revision_id, note);
  }

  /** Applies sizes that have changed without a revision. @throws ExecutorUnreachable */
  async resize(seen: Seen, hold: Hold): Promise<void> {
    const { target } = seen;
    const revision = this.activeRevision(target);
    if (!revision) return;
    const log = this.logs.open(target, revision.revision_id);
    const reason = await this.keep(seen, log, 'The new sizes do not run', hold, async (upkeep, step) => {
      await step.log('INFO', 'The sizes have changed: the revision is applied again.');
      await upkeep.restore(await this.active(seen, revision, log), step);
      await step.log('INFO', 'The revision runs with its new sizes.');
    });
    await this.reports.decideHost(target, noteSizes(target.id, target.sized, reason));
  }

  /**
   * Stops, starts or restarts what runs, as the deployment asks for. What this executor cannot do, or does not succeed
   * in, the log and the health tell; what did not stop is UNKNOWN. @throws ExecutorUnreachable
   */
  async control(seen: Seen, hold: Hold): Promise<void> {
    const { target } = seen;
    const { active_revision_id, control } = target;
    if (!control) return;
    const { action } = control;
    const log = this.logs.open(target, active_revision_id);
    let reason: string | undefined;
    try {
      await this.carryOut(seen, action, log, hold);
      await log.write('deploy', 'INFO', DONE[action]);
    } catch (error) {
      hold.signal.throwIfAborted();
      if (isOfRecord(error)) throw error;
      reason = error instanceof NotOurs ? error.message : `It did not ${action}: ${log.safe(messageOf(error))}`;
      await log.write('deploy', error instanceof NotOurs ? 'WARNING' : 'ERROR', reason);
      if (error instanceof ExecutorUnreachable) throw new ExecutorUnreachable(reason);
    } finally {
      await log.flush();
    }
    if (reason === undefined) await this.reports.sayHost(target, { deployment_id: target.id, status: 'READY' });
    else if (action === 'stop') {
      await this.reports.sayHost(target, { deployment_id: target.id, status: 'UNKNOWN', reason });
    }
    await this.reports.decideHost(target, noteControl(target.id, control.version, reason));
  }

  private async carryOut(seen: Seen, action: ControlAction, log: RolloutLog, hold: Hold): Promise<void> {
    const { executor } = this;
    const { target } = seen;
    const revision = this.activeRevision(target);
    if (!revision || !executor.control) {
      const by = target.executor ?? 'an earlier version';
      throw new NotOurs(`It cannot ${action}: ${by} deployed it, and this server has the executor ${executor.name}.`);
    }
    const assignment = await this.active(seen, revision, log);
    await withTimeLimit(this.options.timeLimit, [hold.signal], (signal) =>
      executor.control!(assignment, action, log.step('deploy', signal, hold.waits)),
    );
    hold.signal.throwIfAborted();
    // It has taken the place of what was left there.
    const left = action === 'stop' ? undefined : (await this.reports.leftBehind(target))?.revision.revision_id;
    if (left) await this.reports.decide(target.tenantId, left, restored(target.id, revision.revision_id));
  }

  /**
   * Says whether the active revision runs, and nothing else. `kept` has been left in its place: that is never as it
   * should be, and what others change of it is not undone. @throws ExecutorUnreachable
   */
  async observe(seen: Seen, kept: RevisionSpec | undefined, hold: Hold): Promise<void> {
    const { target, host: before } = seen;
    const revision = kept ?? this.activeRevision(target);
    if (!revision) return;
    const log = this.logs.open(target, revision.revision_id);
    const failed = kept
      ? `Revision ${kept.revision_id} was not deployed and stays (ON_FAILURE=keep)`
      : 'The revision does not run as it should';
    await this.keep(seen, log, failed, hold, async (upkeep, step) => {
      const assignment = await this.active(seen, revision, log);
      const seenNow = await upkeep.observe(assignment, step);
      const { drift, trouble, processes = [], isRestarting = false, hasRecovered = false } = seenNow;
      if (seenNow.processes) this.metrics.saw(target, seenNow.processes);
      const said = drift.length > 0 && `What runs was changed: ${drift.join(', ')}.`;
      const { drift: now } = await this.reports.decideHost(target, reportDrift(target.id, revision.revision_id, drift));
      if (said && before.drift !== now) await step.log('WARNING', said);
      if (said && this.options.onDrift === 'repair' && !kept) {
        await upkeep.restore(assignment, step);
        await step.log('INFO', 'The revision is applied again, and runs as before.');
        return true;
      }
      const states = processes.map(({ state }) => state);
      if (!kept && crashLoops(before.isCrashLooping ?? false, states, hasRecovered)) {
        const looping = processes.find(({ state }) => state === 'CRASH_LOOPING')?.reason ?? before.reason;
        throw new CrashLooping([looping, said].filter(Boolean).join('. '));
      }
      if (trouble && isRestarting && !said) return false;
      if (said || trouble) throw new Observed([said, trouble].filter(Boolean).join(' '));
      if (kept) throw new Observed('it runs now.');
      return true;
    });
  }

  /**
   * Does something for what runs, and says whether the deployment is READY after it, unless `work` returns false. Returns
   * why it is not, which is logged after `failed`. @throws ExecutorUnreachable
   */
  private async keep(
    { target, host: before }: Seen,
    log: RolloutLog,
    failed: string,
    hold: Hold,
    work: (upkeep: Upkeep, step: Step) => Promise<boolean | void>,
  ): Promise<string | undefined> {
    const { upkeep } = this.executor;
    if (!upkeep) return undefined;
    let said: HostStatusReportedMessage = { deployment_id: target.id, status: 'READY' };
    try {
      const isKnown = await withTimeLimit(this.options.timeLimit, [hold.signal], (signal) =>
        work(upkeep, log.step('deploy', signal, hold.waits)),
      );
      hold.signal.throwIfAborted();
      if (isKnown === false) return undefined;
    } catch (error) {
      hold.signal.throwIfAborted();
      if (isOfRecord(error)) throw error;
      const isLoop = error instanceof CrashLooping;
      const reason = isLoop ? error.message : `${failed}: ${log.safe(messageOf(error))}`;
      said = { ...said, status: 'UNKNOWN', reason, ...(isLoop && { crash_looping: true }) };
      // What is seen every minute is logged when it is reported.
      const isReported = reportHost(said, Date.now())(before).length > 0;
      if (isReported || !(error instanceof Observed)) await log.write('deploy', 'ERROR', reason);
      if (error instanceof ExecutorUnreachable) throw new ExecutorUnreachable(reason);
    } finally {
      await log.flush();
    }
    await this.reports.sayHost(target, said);
    return said.reason;
  }

  private async active(seen: Seen, revision: RevisionSpec, log: RolloutLog): Promise<RevisionAssignment> {
    const assignment = await this.attempts.assignment(seen, revision.secrets, log);
    return { ...assignment, revision, commit: null, source: async () => undefined };
  }

  /** The active revision, unless another executor deployed it. */
  private activeRevision(target: Deployed): RevisionSpec | undefined {
    return [undefined, this.executor.name].includes(target.executor) ? activeOf(target) : undefined;
  }
}

/** Reports the state of the program when nothing was done. */
class Observed extends Error {}

/** All processes end again and again. */
class CrashLooping extends Observed {}

/** Another executor has deployed what runs. */
class NotOurs extends Error {}
