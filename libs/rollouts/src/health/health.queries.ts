import { type RevisionStatus, standingOf, withNumbers } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { TimeLimit } from '@fairlead/schema';
import { Executor, ExecutorUnreachable, StepFailed } from '@fairlead/executors';
import { controlFailure, type Host } from '../rollout/host';
import { type Deployed, previewed } from '../rollout/target';
import { RolloutReports } from '../rollout/rollout-reports.service';
import type { DeploymentHealth } from './health.schema';
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
    const host = await this.reports.host(deploymentId);
    const { active_revision_id, executor = null, latest_revision_id: id, latestStatus: status } = target;
    const seen = await this.seen(target, host);
    return {
      deployment_id: deploymentId,
      ...seen,
      standing: standing(target, host, seen),
      executor,
      next_executor: this.executor.name,
      active_revision_id,
      latest_revision:
        id === null || status === null
          ? null
          : {
              ...{ id, status, reason: await this.reason(target, id, status, host) },
              preview: await this.previewOf(target, id, host),
            },
    };
  }

  private async seen(target: Deployed, host: Host): Promise<Pick<DeploymentHealth, 'state' | 'detail' | 'processes'>> {
    const { executor } = this;
    const unseen = verdictUnseen(target, { name: executor.name, looks: executor.inspect !== undefined });
    if (unseen) return { ...unseen, processes: [] };
    const { id: deploymentId, tenantId, name, config } = target;
    const limit = new TimeLimit(LOOK_MS);
    try {
      const { place, status } = host;
      const found = await executor.inspect!({ deploymentId, tenantId, name, config, place }, limit.signal);
      const processes = found.slice(0, MOST_PROCESSES);
      const { state, detail: seen } = verdictOn(processes, {
        isStopped: target.stopped,
        sleeps: status === 'UNUSED',
        awaited: target.active_revision_id === null ? awaited(target) : undefined,
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

  private async previewOf(target: Deployed, revisionId: string, { place }: Host): Promise<string | null> {
    const { previews } = this.executor;
    if (!previews || previewed(target)?.revision_id !== revisionId) return null;
    const { id: deploymentId, tenantId, name, config } = target;
    return (await previews.pathOf({ deploymentId, tenantId, name, config, place }, revisionId)) ?? null;
  }

  /** Why the latest revision has failed, or what it waits for. */
  private async reason(target: Deployed, revisionId: string, status: string, host: Host): Promise<string | null> {
    const { running, held, latestReason } = target;
    if (held?.id === revisionId) return `It is held by its gates until ${held.until} at most: its verdict says why.`;
    if (latestReason !== undefined) return latestReason;
    if (status === 'DEPLOYED') return takenBack(target, host) ?? null;
    if (status === 'INTERRUPTED') return 'It was interrupted.';
    if (status === 'QUEUED' && running) return `It waits until revision ${running.id} has ended.`;
    const { reason } = await this.reports.rollout(revisionId);
    return reason ?? (host.status === 'UNKNOWN' ? (host.reason ?? null) : null);
  }
}

/** Returns the sentence about a deployment, with its revisions by their places. */
function standing(target: Deployed, host: Host, { state, detail }: Pick<DeploymentHealth, 'state' | 'detail'>) {
  const ids = [...target.revisions];
  const numbered = (id: string | null, status: RevisionStatus | null) =>
    id === null || status === null
      ? null
      : { number: ids.indexOf(id) + 1, status, ...(target.held?.id === id && { held: true as const }) };
  const { status, reason, isCrashLooping, saidAt } = host;
  return standingOf({
    status: target.deleting ? 'AWAITING_DELETE' : (status ?? 'READY'),
    status_reason: reason,
    crash_looping: isCrashLooping,
    stopped: target.stopped,
    live: numbered(target.active_revision_id, 'DEPLOYED'),
    latest: numbered(target.latest_revision_id, target.latestStatus),
    seen: { state, detail: withNumbers(detail, ids) },
    ...(isCrashLooping && saidAt !== undefined && { loopingMs: Date.now() - Date.parse(saidAt) }),
  });
}

const PHASES: Readonly<Record<string, string>> = {
  AWAITING_BUILD: 'waits to be built',
  BUILDING: 'is being built',
  AWAITING_DEPLOY: 'waits to be started',
  DEPLOYING: 'is being started',
};

/** Returns what a deployment waits for before anything of it runs; undefined when it waits for nothing. */
function awaited({ running, latest_revision_id }: Deployed): string | undefined {
  const status = latest_revision_id === running?.id ? running?.status : undefined;
  return running ? `The first revision ${PHASES[status ?? ''] ?? 'is being rolled out'}.` : undefined;
}

/** Says that the latest revision has lost its place to the one before it; undefined when it has not. */
function takenBack({ active_revision_id: active, latest_revision_id }: Deployed, { takenBack }: Host) {
  if (!takenBack || takenBack.revision_id !== latest_revision_id) return undefined;
  if (active === null || active === takenBack.revision_id) return undefined;
  return `Revision ${takenBack.revision_id} was taken back, and revision ${active} serves again: ${takenBack.reason}`;
}
