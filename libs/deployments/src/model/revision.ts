import { type Model, type Recorded, same } from '@fairlead/eventing';
import { Forbidden } from '@fairlead/schema';
import { checkChangeable, type Deployment, type DeploymentState, snapshotOf } from './deployment';
import type { DeploymentEvent, Secret, Snapshot } from './deployment-events';
import { InvalidDeployment } from './deployment.errors';
import type { RanBefore } from './ran-before';
import { CommitUnknown, RevisionEnded, RevisionHeldByGates, RevisionNotFound, RevisionWaits } from './revision.errors';
import { hasEnded, isRunning, type RevisionStatus } from '@fairlead/contracts';
import { resolveCommit } from './push';
import { checkArtefact, checkAvailable, type Hosting } from './source-rules';
import { createRevision, moved, replaceHeld, replaceRunning, runNewest } from './revision-turns';

/** A revision with all that it runs with. */
export interface Revision extends Snapshot {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly status: RevisionStatus;
}

/** All revisions of one deployment by id, oldest first, folded from the deployment's stream. */
export type Revisions = ReadonlyMap<string, Revision>;

export const revisionsModel: Model<Revisions, DeploymentEvent> = {
  initial: new Map(),
  evolve(revisions, event: Recorded<DeploymentEvent>) {
    if (event.type === 'RevisionCreated') {
      const { revision_id: id, source, source_revision_config, resource_spec, secrets, secret_references } = event.data;
      const snapshot = { source, source_revision_config, resource_spec, secrets, secret_references };
      const times = { created_at: event.time, updated_at: event.time };
      return new Map(revisions).set(id, { id, ...times, status: 'QUEUED', ...snapshot });
    }
    if (event.type === 'RevisionCommitResolved') return withCommit(revisions, event.data, event.time);
    if (event.type !== 'RevisionStatusChanged') return revisions;
    const revision = revisions.get(event.data.revision_id);
    if (!revision) return revisions;
    return new Map(revisions).set(revision.id, { ...revision, status: event.data.status, updated_at: event.time });
  },
};

const KEEPING_OVERRIDES =
  'To keep the present secrets overrides the gates of the deployment: it needs a key with the scope admin, and a reason in x-reason.';

function withCommit(
  revisions: Revisions,
  { revision_id, repo_commit_sha }: { readonly revision_id: string; readonly repo_commit_sha: string },
  updated_at: string,
): Revisions {
  const revision = revisions.get(revision_id);
  if (!revision) return revisions;
  const source_revision_config = { ...revision.source_revision_config, repo_commit_sha };
  return new Map(revisions).set(revision_id, { ...revision, source_revision_config, updated_at });
}

/** Choices of who deploys an earlier revision again. */
export interface Redeploying {
  /** True: it runs with the present secrets and references. */
  readonly keepSecrets?: boolean;
  /** True: pushes go on to be built, but for those of the commit of the latest revision. */
  readonly skipCommit?: boolean;
}

interface RollBack extends Redeploying {
  /** The life of the earlier revision; without it, that has not been active. */
  readonly ran?: RanBefore;
  /** True when the caller may override gates. */
  readonly mayOverride?: boolean;
}

/**
 * A new revision from the whole snapshot of an earlier one. When that is not the latest, it is a roll-back: a push
 * would undo it, so building pushes is paused, or the commit that is left behind is skipped. Gates do not hold what was
 * active before as a whole, and with other secrets they are overridden.
 * @throws InvalidDeployment when the installation no longer offers its source, or it names what cannot be run;
 * Forbidden, DeploymentBeingDeleted.
 */
export function redeploy(
  earlier: Revision,
  revisionId: string,
  hosting: Hosting,
  { keepSecrets = false, skipCommit = false, ran, mayOverride = false }: RollBack = {},
) {
  return (state: Deployment): DeploymentEvent[] => {
    checkChangeable(state);
    checkAvailable(earlier.source, hosting);
    checkArtefact(earlier.source_revision_config);
    const { source, source_revision_config, resource_spec } = earlier;
    const { secrets, secret_references } = keepSecrets ? snapshotOf(state) : earlier;
    const snapshot = { source, source_revision_config, resource_spec, secrets, secret_references };
    const ids = { revision_id: revisionId, deployment_id: state.id, redeployed_from: earlier.id };
    // What ran before with all that it had needs no evidence again. A branch alone may stand for another commit by now.
    const isPinned = source !== 'codehost' || source_revision_config.repo_commit_sha !== undefined;
    const hasRun = isPinned && (ran?.isWith(state) ?? false);
    const isWhole = same(secrets, earlier.secrets) && same(secret_references, earlier.secret_references);
    const created = createRevision(state, { ...ids, ...snapshot }, hasRun && isWhole);
    if (hasRun && !isWhole && state.gates) {
      if (!mayOverride) throw new Forbidden(KEEPING_OVERRIDES);
      created.push({ type: 'RevisionReleased', data: { revision_id: revisionId, by: 'roll back' } });
    }
    if (skipCommit) return [...created, skipCommitOf(state, earlier)];
    const isRollBack = earlier.id !== state.latest_revision_id;
    if (!isRollBack || !state.source_config.build_on_push) return created;
    return [...created, { type: 'BuildOnPushPaused', data: {} }];
  };
}

/** The commit that a roll-back leaves behind. @throws InvalidDeployment, CommitUnknown */
function skipCommitOf(state: Deployment, earlier: Revision): DeploymentEvent {
  const { revision_source, source_config, build_on_push_paused, source_revision_config } = state;
  const { repo_commit_sha } = source_revision_config;
  if (revision_source !== 'codehost' || !(source_config.build_on_push || build_on_push_paused)) {
    throw new InvalidDeployment('skip_commit is for deployments that build pushes.');
  }
  if (!repo_commit_sha) throw new CommitUnknown();
  if (repo_commit_sha === earlier.source_revision_config.repo_commit_sha) {
    throw new InvalidDeployment('skip_commit is for a roll-back to another commit than that of the latest revision.');
  }
  return { type: 'CommitSkipped', data: { repo_commit_sha } };
}

/** Returns a sentence about pushes after a roll-back that skips the commit of the latest revision. */
export function skipWarning(state: DeploymentState): string | undefined {
  if (state?.build_on_push_paused) return 'Pushes still make no revisions, until build_on_push is sent again.';
  const commit = state?.source_revision_config.repo_commit_sha?.slice(0, 12);
  return commit && `The next push is deployed, and contains commit ${commit} unless that was reverted.`;
}

/** Learns from the events of a deployment which of its secrets were set, or removed, after a revision was made. */
export class NewerSecrets {
  private readonly known = new Set<string>();
  private revision: readonly Secret[] | undefined;

  constructor(private readonly revisionId: string) {}

  /** Takes the next events of the deployment. */
  take(events: readonly DeploymentEvent[]): void {
    for (const { data } of events) {
      if (this.revision) return;
      const { secrets } = data as { readonly secrets?: readonly Secret[] };
      for (const secret of secrets ?? []) this.known.add(valueOf(secret));
      if ('source_revision_config' in data && 'revision_id' in data && data.revision_id === this.revisionId) {
        this.revision = secrets;
      }
    }
  }

  /** Returns a sentence about secrets that running the revision again would set back; undefined when there are none. */
  warning(present: readonly Secret[]): string | undefined {
    const earlier = this.revision ?? [];
    const newer = present.filter((secret) => !this.known.has(valueOf(secret)));
    const gone = earlier.filter(({ name }) => !present.some((secret) => secret.name === name));
    const parts = [
      ...(newer.length > 0 ? [`${namesOf(newer)} newer than the revision and would be set back or removed`] : []),
      ...(gone.length > 0 ? [`${namesOf(gone)} removed after it and would be there again`] : []),
    ];
    return parts.length === 0 ? undefined : `${parts.join('; ')}: keep_secrets=true keeps the present secrets.`;
  }
}

function valueOf({ name, digest }: Secret): string {
  return `${name} ${digest}`;
}

const MOST_NAMED = 5;

/** The names of secrets, up to a few, and the verb that follows. */
function namesOf(secrets: readonly Secret[]): string {
  const named = secrets.slice(0, MOST_NAMED).map(({ name }) => name);
  const others = secrets.length - named.length;
  const all = [...named, ...(others > 0 ? [`${others} more`] : [])];
  return `${all.length === 1 ? 'The secret' : 'The secrets'} ${all.join(', ')} ${all.length === 1 ? 'is' : 'are'}`;
}

/**
 * Ends a waiting or running revision; when it was running, the newest waiting one runs.
 * @throws RevisionEnded when there is nothing left to interrupt.
 */
export function interrupt(revisionId: string): (state: Deployment) => DeploymentEvent[] {
  return (state) => {
    const status = statusOf(state, revisionId);
    if (!status) throw new RevisionEnded(revisionId);
    const interrupted = moved(revisionId, status, 'INTERRUPTED');
    return state.running?.id === revisionId ? [interrupted, ...runNewest(state)] : [interrupted];
  };
}

/** Statuses that a revision with gates reaches only when they have let it through. */
const AFTER_GATES: readonly RevisionStatus[] = ['DEPLOYING', 'DEPLOYED'];

/**
 * Records a status that the rollout reports of a revision. Starting one skips the older ones that wait; when the running
 * one ends, or a newer one waits once it is DEPLOYING, the newest that waits runs and the older ones are skipped. DEPLOYED
 * makes the revision the active one, and the deployment READY when it is the first. `commit` is the one that the revision
 * stands for, which is noted with it.
 * @throws RevisionWaits when another one is running; RevisionHeldByGates; RevisionEnded; InvalidDeployment for QUEUED.
 */
export function reportRevision(
  revisionId: string,
  status: RevisionStatus,
  executor?: string,
  commit?: string,
): (state: Deployment) => DeploymentEvent[] {
  return (state) => {
    const current = statusOf(state, revisionId);
    if (!current) throw new RevisionEnded(revisionId);
    if (status === current) return [];
    if (status === 'QUEUED') throw new InvalidDeployment('status cannot go back to QUEUED.');
    const { running, held, queued } = state;
    // Nothing but a verdict or an override lets it go on.
    if (held?.id === revisionId) return [];
    const isGated = [running, ...queued].some((one) => one?.id === revisionId && one.gated);
    if (isGated && AFTER_GATES.includes(status)) throw new RevisionHeldByGates(revisionId);
    if (isRunning(status) && running && running.id !== revisionId) throw new RevisionWaits(revisionId, running.id);
    const resolved = commit === undefined ? [] : resolveCommit(revisionId, commit)(state);
    const events = [...resolved, moved(revisionId, current, status)];
    if (status === 'DEPLOYED') {
      const previous_revision_id = state.active_revision_id;
      const activated = { revision_id: revisionId, previous_revision_id, ...(executor && { executor }) };
      events.push({ type: 'RevisionActivated', data: activated });
      const isFirst = previous_revision_id === null && state.status !== 'AWAITING_DELETE';
      if (isFirst) events.push({ type: 'DeploymentProvisioned', data: {} });
    }
    if (isRunning(status) && current === 'QUEUED') {
      events.push(...skipOlder(state, revisionId), ...replaceHeld(state, revisionId));
    }
    if (status === 'DEPLOYING') {
      const newer = state.queued.slice(state.queued.findIndex(({ id }) => id === revisionId) + 1);
      events.push(...replaceRunning({ ...state, queued: newer, running: { id: revisionId, status } }));
    }
    if (hasEnded(status) && running?.id === revisionId) events.push(...runNewest(state));
    return events;
  };
}

/** Lets the revision before the active one be active again, because what `revisionId` runs has ended. */
export function takeBack(
  revisionId: string,
  to: string,
  reason: string,
): (state: DeploymentState) => DeploymentEvent[] {
  return (state) => {
    if (!state || state.removed || state.active_revision_id !== revisionId) return [];
    const { executor } = state;
    const data = { revision_id: to, previous_revision_id: revisionId, ...(executor && { executor }), reason };
    return [{ type: 'RevisionActivated', data }];
  };
}

/** @throws RevisionNotFound when the deployment has no such revision. */
export function revisionOf(revisions: Revisions, id: string): Revision {
  const revision = revisions.get(id);
  if (!revision) throw new RevisionNotFound(id);
  return revision;
}

/** Status of a revision that has not ended. */
export function statusOf({ queued, running, held }: Deployment, id: string): RevisionStatus | undefined {
  if (running?.id === id) return running.status;
  if (held?.id === id) return 'AWAITING_DEPLOY';
  return queued.some((waiting) => waiting.id === id) ? 'QUEUED' : undefined;
}

function skipOlder({ queued }: Deployment, id: string): DeploymentEvent[] {
  const older = queued.slice(
    0,
    queued.findIndex((waiting) => waiting.id === id),
  );
  return older.map((waiting) => moved(waiting.id, 'QUEUED', 'SKIPPED'));
}
