import type { Schemas } from '../../api/client';
import type { MemberChange } from '../../ui/changes';
import { bytes } from '../../ui/format';
import type { Tone } from '../../ui/status';

export type Deployment = Schemas['Deployment'];
export type Revision = Schemas['ListedRevision'];
export type HistoryEntry = Schemas['HistoryEntry'];

/** Data of every part of a deployment's page. */
export interface Shown {
  readonly deployment: Deployment;
  readonly etag?: string;
  readonly revisions: readonly Revision[];
}

const REVISION_TONES: Readonly<Record<string, Tone>> = {
  DEPLOYED: 'ok',
  CREATE_FAILED: 'bad',
  BUILD_FAILED: 'bad',
  DEPLOY_FAILED: 'bad',
  UNKNOWN: 'bad',
  SKIPPED: 'idle',
  INTERRUPTED: 'idle',
  QUEUED: 'idle',
};
const ENDED = ['DEPLOYED', 'CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED'];

/** Words for a status: `AWAITING_DATABASE` means not deployed yet, and a deployment that crash loops is `UNKNOWN`. */
export function deploymentWord({ status, crash_looping }: Pick<Deployment, 'status' | 'crash_looping'>): string {
  if (status === 'AWAITING_DATABASE') return NOT_DEPLOYED;
  return crash_looping ? CRASH_LOOPING : spoken(status);
}

export const NOT_DEPLOYED = 'Not deployed yet';
const CRASH_LOOPING = 'Crash looping';

/** A sentence of the service beside the word for its state: that word is not said twice. */
export function besideState(sentence: string, state: string): string {
  const [first, rest] = [`${spoken(state)}, `, sentence.slice(spoken(state).length + 2)];
  return sentence.startsWith(first) ? rest.charAt(0).toUpperCase() + rest.slice(1) : sentence;
}

/** A sentence of the service that calls revisions by the names that the console has for them. */
export function withNames(sentence: string, revisions: readonly { id: string; number?: number }[]): string {
  return revisions.reduce(
    (said, one) => said.replaceAll(new RegExp(`(revision )?${one.id}`, 'gi'), revisionName(one)),
    sentence,
  );
}

const HEALTH_TONES: Readonly<Record<string, Tone>> = {
  RUNNING: 'ok',
  STARTING: 'busy',
  DEGRADED: 'bad',
  UNRESPONSIVE: 'bad',
  CRASH_LOOPING: 'bad',
  FAILED: 'bad',
  UNKNOWN: 'bad',
};

export function healthTone(state: string): Tone {
  return HEALTH_TONES[state] ?? 'idle';
}

export function revisionTone(status: string): Tone {
  return REVISION_TONES[status] ?? 'busy';
}

/** Word for a revision beside the one that runs, of which `DEPLOYED` says only that it has run. */
export function revisionState(
  revision: NumberedRevision,
  live: NumberedRevision | undefined,
  { crash_looping }: Pick<Deployment, 'status' | 'crash_looping'>,
): { word: string; tone: Tone } {
  const { status } = revision;
  if (live && revision.id === live.id) {
    return crash_looping ? { word: CRASH_LOOPING, tone: 'bad' } : { word: 'Live', tone: 'ok' };
  }
  if (status !== 'DEPLOYED' || !live) return { word: spoken(status), tone: revisionTone(status) };
  return isTakenBack(revision, live) ? { word: 'Taken back', tone: 'bad' } : { word: 'Superseded', tone: 'idle' };
}

type NumberedRevision = Pick<Revision, 'id' | 'status' | 'created_at'>;

/** Returns whether a revision that was deployed has lost its place to an earlier one. */
function isTakenBack(revision: NumberedRevision, live: NumberedRevision): boolean {
  return Date.parse(revision.created_at) > Date.parse(live.created_at);
}

/** Returns whether a revision has ever run well, as far as its status tells, so that going back to it makes sense. */
export function hasRun(revision: NumberedRevision, live: NumberedRevision | undefined): boolean {
  return revision.status === 'DEPLOYED' && !(live && isTakenBack(revision, live));
}

const HEALTHY_SECONDS = 3600;

/** The newest revision that ran well for an hour; another one than the active one while that has trouble. */
export function lastHealthy(
  { status, active_revision_id }: Pick<Deployment, 'status' | 'active_revision_id'>,
  revisions: readonly Revision[],
): Revision | undefined {
  return revisions.find(({ id, healthy_seconds: seconds }) => {
    return (seconds ?? 0) >= HEALTHY_SECONDS && (status !== 'UNKNOWN' || id !== active_revision_id);
  });
}

/** True when a revision is still to change by itself. */
export function isUnderWay(status: string): boolean {
  return !ENDED.includes(status);
}

/** `BUILD_FAILED` as `Build failed`. */
export function spoken(status: string): string {
  const text = status.replaceAll('_', ' ').toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export const SOURCES: Readonly<Record<string, string>> = {
  codehost: 'Repository',
  external_container: 'Image',
  internal_container: 'Own image',
  internal_source: 'Uploaded source',
  internal_template: 'Template',
};

/** A revision, or a deployment, as far as it says what it deploys. */
export type Deploying = Pick<Revision, 'source_revision_config' | 'upload'>;

/** Artefact of a revision, in short and in full: the tag of an image, a branch with its commit, an upload by its digest. */
export function artefact({ source_revision_config, upload }: Deploying): { short: string; full: string } {
  const { image_uri, repo_ref, repo_commit_sha, source_tarball_path } = source_revision_config;
  if (image_uri) {
    const last = image_uri.slice(image_uri.lastIndexOf('/') + 1);
    const [, tag] = /[:@]([^:@/]+)$/.exec(last) ?? [];
    return { short: tag === undefined ? last : tag.slice(0, 24), full: image_uri };
  }
  if (repo_ref) {
    const commit = repo_commit_sha ? ` @ ${repo_commit_sha.slice(0, 7)}` : '';
    const full = repo_commit_sha ? `${repo_ref} @ ${repo_commit_sha}` : repo_ref;
    return { short: repo_ref.replace(/^refs\/(heads|tags)\//, '') + commit, full };
  }
  if (upload?.sha256) {
    const { sha256, bytes: size, issued_at } = upload;
    const at = issued_at ? ` on ${issued_at.slice(0, 16).replace('T', ' ')} UTC` : '';
    const by = `uploaded by ${actorOf(upload)}`;
    return {
      short: `source ${sha256.slice(0, 7)} by ${actorOf(upload)}`,
      full: `source ${sha256}${size === null ? '' : `, ${bytes(size)}`}, ${by}${at}`,
    };
  }
  if (source_tarball_path) {
    const name = source_tarball_path.slice(source_tarball_path.lastIndexOf('/') + 1).replace(/\.tar\.gz$/, '');
    return { short: 'uploaded source', full: `uploaded source ${name}` };
  }
  return { short: '–', full: 'nothing to deploy yet' };
}

const TARBALL = 'source_revision_config.source_tarball_path';

/** Changes in which the sources that revisions have uploaded are named by digest and person, not by a path. */
export function withSources(changes: readonly MemberChange[], revisions: readonly Deploying[]): MemberChange[] {
  const named = (path: unknown) => {
    const of = revisions.find(({ source_revision_config: config }) => path && config.source_tarball_path === path);
    return of ? artefact(of).short : path;
  };
  return changes.map(({ member, before, after }) =>
    member === TARBALL ? { member: 'source', before: named(before), after: named(after) } : { member, before, after },
  );
}

const TITLES: Readonly<Record<string, string>> = {
  DeploymentCreated: 'Created',
  DeploymentProvisioned: 'Ready to serve',
  DeploymentStatusReported: 'Status reported',
  DeploymentPatched: 'Changed',
  RevisionCreated: 'Revision made',
  RevisionStatusChanged: 'Rollout',
  RevisionActivated: 'Live',
  RevisionCommitResolved: 'Commit found',
  BuildOnPushPaused: 'Push-to-deploy paused',
  CommitSkipped: 'Commit skipped',
  GatesDeclared: 'Gates changed',
  RevisionHeld: 'Held by gates',
  RevisionReleased: 'Let through',
  UploadPathIssued: 'Upload allowed',
  DeploymentTagged: 'Tags changed',
  DeploymentStopRequested: 'Stop requested',
  DeploymentStartRequested: 'Start requested',
  DeploymentRestartRequested: 'Restart requested',
  DeploymentDeletionRequested: 'Deletion requested',
  DeploymentDeleted: 'Deleted',
  SecretsRead: 'Secrets read',
  CommandStarted: 'Command started',
  CommandEnded: 'Command ended',
};

/** Title of an event, in two words; a revision goes live with a reason when another one was taken back. */
export function titleOf({ type, reason }: Pick<HistoryEntry, 'type' | 'reason'>): string {
  return type === 'RevisionActivated' && reason ? 'Taken back' : (TITLES[type] ?? type);
}

/** Types of events, by which a history is filtered, with their words. */
export const EVENT_TITLES = Object.entries(TITLES);

/** Name of the actor: the description of a key, the name of a service, or `not recorded`. */
export function actorOf({ actor, actor_name }: { actor?: string | null; actor_name?: string | null }): string {
  if (actor_name) return actor_name;
  if (!actor) return 'not recorded';
  return actor.startsWith('system:') ? actor.slice('system:'.length) : `key ${actor.slice(0, 8)}`;
}

interface Pushed {
  readonly push?: Revision['push'];
}

/** Person or service that made a revision: of a push, the user of the code host. */
export function makerOf(revision: Parameters<typeof actorOf>[0] & Pushed): string {
  return revision.push?.pusher ?? actorOf(revision);
}

/** Reason for which a revision was made: of a push, the subject of its commit. */
export function causeOf({ push, reason }: Pick<Revision, 'reason'> & Pushed): string | undefined {
  return push ? (push.subject ?? 'A push') : (reason ?? undefined);
}

/** Name of a revision: its number, or the beginning of its id. */
export function revisionName({ id, number }: { id: string; number?: number }): string {
  return number === undefined ? id.slice(0, 8) : `v${number}`;
}
