import { hasEnded, type PushCause } from '@fairlead/contracts';
import type { Recorded } from '@fairlead/eventing';
import type { DeploymentEvent } from './deployment-events';

/** The actor that made a revision, the reason, and when it ran. */
export interface Cause {
  /** Place among the revisions of the deployment, from 1. */
  readonly number: number;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly redeployed_from: string | null;
  readonly push: PushCause | null;
  /** Name of the executor that deployed it; null for revisions that earlier versions deployed. */
  readonly executor: string | null;
  readonly activated_at: string | null;
  readonly ended_at: string | null;
  /** Longest time that it ran without a pause and without trouble; null when it has not run. */
  readonly healthy_seconds: number | null;
  /** Path of its uploaded source, and who asked for the address to upload it to, and when; null for other sources. */
  readonly upload: Upload | null;
}

export interface Upload {
  readonly path: string;
  readonly actor: string | null;
  readonly time: string | null;
}

/** The causes of the revisions of one deployment, by their ids, from its events. `now` is in milliseconds since 1970. */
export async function causesOf(
  parts: AsyncIterable<readonly Recorded[]>,
  now: number,
): Promise<ReadonlyMap<string, Cause>> {
  const causes = new Map<string, Cause>();
  const healthy = new HealthyTimes();
  const issued = new Map<string, Upload>();
  for await (const part of parts) {
    const events = part as readonly Recorded<DeploymentEvent>[];
    learnFrom(events, causes, issued);
    events.forEach((event) => healthy.take(event));
  }
  for (const [id, healthy_seconds] of healthy.until(now)) {
    const cause = causes.get(id);
    if (cause) causes.set(id, { ...cause, healthy_seconds });
  }
  return causes;
}

/** Measures for how long revisions ran while the deployment was neither UNKNOWN nor stopped. */
class HealthyTimes {
  private readonly longest = new Map<string, number>();
  private active: string | undefined;
  /** Beginning of the healthy time of the active revision (ms since 1970). */
  private since: number | undefined;

  take(event: Recorded<DeploymentEvent>): void {
    const at = Date.parse(event.time);
    const isActivated = event.type === 'RevisionActivated';
    const isTrouble = event.type === 'DeploymentStatusReported' && event.data.status === 'UNKNOWN';
    if (isActivated || isTrouble || event.type === 'DeploymentStopRequested') this.end(at);
    else if (BEGINS.includes(event.type) && this.active !== undefined) this.since ??= at;
    if (isActivated) {
      this.active = event.data.revision_id;
      this.since = at;
    }
  }

  /** The longest times (s) by revision, when nothing happens up to a time. */
  until(now: number): ReadonlyMap<string, number> {
    this.end(now);
    return this.longest;
  }

  private end(at: number): void {
    if (this.active === undefined) return;
    const seconds = this.since === undefined ? 0 : Math.max(0, Math.floor((at - this.since) / 1000));
    this.longest.set(this.active, Math.max(seconds, this.longest.get(this.active) ?? 0));
    this.since = undefined;
  }
}

const BEGINS: readonly DeploymentEvent['type'][] = [
  'DeploymentStatusReported',
  'DeploymentProvisioned',
  'DeploymentStartRequested',
];

function learnFrom(
  events: readonly Recorded<DeploymentEvent>[],
  causes: Map<string, Cause>,
  issued: Map<string, Upload>,
): void {
  const learn = (id: string | null, more: Partial<Cause>) => {
    const known = id !== null && causes.get(id);
    if (known) causes.set(id, { ...known, ...more });
  };
  for (const event of events) {
    const { time, metadata } = event;
    if (event.type === 'UploadPathIssued') {
      const { object_path: path } = event.data;
      issued.set(path, { path, actor: metadata.actor ?? null, time });
    } else if (event.type === 'RevisionCreated') {
      const { revision_id, redeployed_from = null, push = null, source_revision_config } = event.data;
      const { actor = null, reason = null } = metadata;
      const path = source_revision_config?.source_tarball_path;
      const upload = path === undefined ? null : (issued.get(path) ?? { path, actor: null, time: null });
      const unknown = { executor: null, activated_at: null, ended_at: null, healthy_seconds: null };
      causes.set(revision_id, { number: causes.size + 1, reason, actor, redeployed_from, push, upload, ...unknown });
    } else if (event.type === 'RevisionActivated') {
      const { revision_id, previous_revision_id, executor = null } = event.data;
      learn(previous_revision_id, { ended_at: time });
      learn(revision_id, { executor, activated_at: time });
    } else if (event.type === 'RevisionStatusChanged') {
      const { revision_id, status } = event.data;
      if (status !== 'DEPLOYED' && hasEnded(status)) learn(revision_id, { ended_at: time });
    }
  }
}
