import { Injectable } from '@nestjs/common';
import { TimeLimit } from '@fairlead/schema';
import { Executor, ExecutorUnreachable, StepFailed } from '@fairlead/executors';
import { controlFailure, type Host } from '../host';
import type { Deployed } from '../target';
import { RolloutReports } from '../rollout.reports';
import type { DeploymentHealth } from './health.answers.schema';
import { unknown, verdictOn, verdictUnseen } from './verdict';

/** Milliseconds for which an executor may look. */
const LOOK_MS = 10_000;
const MOST_PROCESSES = 100;

/** Tells what runs of a deployment. */
@Injectable()
export class HealthQueries {
  constructor(
    private readonly reports: RolloutReports,
    private readonly executor: Executor,
  ) {}

  /** @throws DeploymentMissing */
  async of(tenantId: string, deploymentId: string): Promise<DeploymentHealth> {
    const target = await this.reports.owned(tenantId, deploymentId);
    const { active, latest } = target;
    return {
      deployment_id: deploymentId,
      ...(await this.seen(target)),
      executor: active?.executor ?? null,
      active_revision_id: active?.revision_id ?? null,
      latest_revision: latest && {
        id: latest.revision_id,
        status: latest.status,
        reason: await this.reason(target, latest),
      },
    };
  }

  private async seen(target: Deployed): Promise<Pick<DeploymentHealth, 'state' | 'detail' | 'processes'>> {
    const { executor } = this;
    const unseen = verdictUnseen(target, { name: executor.name, looks: executor.inspect !== undefined });
    if (unseen) return { ...unseen, processes: [] };
    const { id: deploymentId, tenantId, name, config } = target;
    const limit = new TimeLimit(LOOK_MS);
    try {
      const host = await this.reports.host(deploymentId);
      const { place, status } = host;
      const found = await executor.inspect!({ deploymentId, tenantId, name, config, place }, limit.signal);
      const processes = found.slice(0, MOST_PROCESSES);
      const { state, detail: seen } = verdictOn(processes, {
        isStopped: target.stopped,
        sleeps: status === 'UNUSED',
        awaited: target.active ? undefined : awaited(target),
        crashLoop: host.isCrashLooping ? host.reason : undefined,
      });
      const detail = [seen, takenBack(target, host)].filter(Boolean).join(' ');
      const failure = state === 'STOPPED' ? undefined : controlFailure(host, target.control);
      return { state, detail: failure === undefined ? detail : `${detail} ${failure}`, processes };
    } catch (error) {
      const expected = limit.hasPassed || error instanceof ExecutorUnreachable || error instanceof StepFailed;
      if (!expected) throw error;
      const why = limit.hasPassed
        ? `The executor did not answer within ${LOOK_MS / 1000} s.`
        : (error as Error).message;
      return { ...unknown(why), processes: [] };
    } finally {
      limit.end();
    }
  }

  /** Why the latest revision has failed, or what it waits for. */
  private async reason(
    { id, running, active, latest }: Deployed,
    { revision_id, status }: NonNullable<Deployed['latest']>,
  ): Promise<string | null> {
    if (status === 'DEPLOYED') return takenBack({ active, latest }, await this.reports.host(id)) ?? null;
    if (status === 'INTERRUPTED') return 'It was interrupted.';
    if (status === 'QUEUED' && running) return `It waits until revision ${running.revision_id} has ended.`;
    const { reason } = await this.reports.rollout(revision_id);
    return reason ?? (await this.reports.unreachable(id));
  }
}

const PHASES: Readonly<Record<string, string>> = {
  AWAITING_BUILD: 'waits to be built',
  BUILDING: 'is being built',
  AWAITING_DEPLOY: 'waits to be started',
  DEPLOYING: 'is being started',
};

/** Returns what a deployment waits for before anything of it runs; undefined when it waits for nothing. */
function awaited({ running, latest }: Deployed): string | undefined {
  const status = latest?.revision_id === running?.revision_id ? latest?.status : undefined;
  return running ? `The first revision ${PHASES[status ?? ''] ?? 'is being rolled out'}.` : undefined;
}

/** Says that the latest revision has lost its place to the one before it; undefined when it has not. */
function takenBack({ active, latest }: Pick<Deployed, 'active' | 'latest'>, { takenBack }: Host): string | undefined {
  if (!takenBack || takenBack.revision_id !== latest?.revision_id) return undefined;
  if (!active || active.revision_id === takenBack.revision_id) return undefined;
  return `Revision ${takenBack.revision_id} was taken back, and revision ${active.revision_id} serves again: ${takenBack.reason}`;
}
