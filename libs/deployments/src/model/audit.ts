import type { PushCause } from '@fairlead/contracts';
import { type Recorded, same } from '@fairlead/eventing';
import { deploymentModel, type Deployment, type DeploymentState } from './deployment';
import type { CommandEvent, DeploymentEvent, SecretsRead, Snapshot } from './deployment-events';

/** One member's value before and after; null where there was none. Secrets are shown as keyed digests. */
export interface Change {
  readonly member: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** One thing that happened to a deployment, and who did it. */
interface HistoryEntry {
  /** Version of the deployment after it; for a reading of secrets, the version that was read. */
  readonly version: number;
  readonly type: string;
  readonly time: string;
  readonly actor: string | null;
  readonly request_id: string | null;
  readonly reason: string | null;
  readonly changes: readonly Change[];
  /** The push that a revision was made for. */
  readonly push?: PushCause;
  /** Names of the secrets whose values were read. */
  readonly secrets_read?: readonly string[];
  /** The command that was started or has ended. */
  readonly command?: CommandEntry;
}

/** Facts about a command from one of its two events. */
interface CommandEntry {
  readonly id: string;
  readonly revision_id?: string;
  readonly words?: readonly string[];
  readonly exit_code?: number | null;
  readonly reason?: string | null;
  readonly duration_ms?: number;
}

/** Tells what the events of a deployment changed. It takes all of them, in order. */
export class HistoryFold {
  private state: DeploymentState = deploymentModel.initial;

  /** Takes the next event. With `isWanted`, it returns what happened. */
  take(event: Recorded<DeploymentEvent>, isWanted: boolean): HistoryEntry | undefined {
    const before = this.state;
    this.state = deploymentModel.evolve(before, event);
    if (!isWanted) return undefined;
    const changes = [...compare(members(before), members(this.state)), ...statusChange(event)];
    const push = event.type === 'RevisionCreated' ? event.data.push : undefined;
    return { ...cause(event), version: event.version, changes, ...(push && { push }) };
  }
}

/** A reading of secrets, as part of the history. */
export function readingEntry(read: Recorded<SecretsRead>): HistoryEntry {
  const { version, names } = read.data;
  return { ...cause(read), version, changes: [], secrets_read: names };
}

/** The start or the end of a command, as part of the history. */
export function commandEntry(event: Recorded<CommandEvent>): HistoryEntry {
  const { type, data } = event;
  const { version, command_id: id } = data;
  const known =
    type === 'CommandStarted'
      ? { revision_id: data.revision_id, words: data.command }
      : { exit_code: data.exit_code, reason: data.reason ?? null, duration_ms: data.duration_ms };
  return { ...cause(event), version, changes: [], command: { id, ...known } };
}

/** Differences between the snapshots of two revisions, by member. */
export function difference(a: Snapshot, b: Snapshot): Change[] {
  return compare(snapshotMembers(a), snapshotMembers(b));
}

/** Members that say which revisions there are. */
const REVISIONS = new Set(['latest_revision_id', 'active_revision_id']);

/** Changes of a deployment that a dry run would make. */
export function plannedChanges(before: DeploymentState, after: Deployment): Change[] {
  return compare(members(before), members(after)).filter(({ member }) => !REVISIONS.has(member));
}

function cause({ type, time, metadata }: Recorded) {
  const { actor = null, requestId: request_id = null, reason = null } = metadata;
  return { type, time, actor, request_id, reason };
}

type Members = ReadonlyMap<string, unknown>;

function compare(before: Members, after: Members): Change[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .filter((member) => !same(before.get(member), after.get(member)))
    .map((member) => ({ member, before: before.get(member) ?? null, after: after.get(member) ?? null }));
}

function statusChange(event: DeploymentEvent): Change[] {
  if (event.type === 'RevisionCreated') {
    return [{ member: `revisions.${event.data.revision_id}.status`, before: null, after: 'QUEUED' }];
  }
  if (event.type !== 'RevisionStatusChanged') return [];
  const { revision_id, previous_status: before, status: after } = event.data;
  return [{ member: `revisions.${revision_id}.status`, before, after }];
}

function members(state: Deployment | null): Members {
  if (!state) return new Map();
  const { resource_spec, ...source_config } = state.source_config;
  const { latest_revision_id, active_revision_id, executor = null, stopped = null, tracing_project = null } = state;
  return new Map<string, unknown>([
    ['name', state.name],
    ['source', state.source],
    ['status', state.removed ? null : state.status],
    ...prefixed('source_config', source_config),
    ...snapshotMembers({ ...state, resource_spec: resource_spec ?? null }),
    ...Object.entries({ latest_revision_id, active_revision_id, executor, stopped, tracing_project }).filter(
      ([, value]) => value !== null,
    ),
    ...(state.gates ?? []).map((gate) => [`gates.${gate.name}`, gate] as const),
    ...(state.skipped_commits ? ([['skipped_commits', state.skipped_commits]] as const) : []),
    ...(state.tag_value_ids.length > 0 ? ([['tag_value_ids', state.tag_value_ids]] as const) : []),
  ]);
}

function snapshotMembers(snapshot: Omit<Snapshot, 'source'> & { source: string; revision_source?: string }): Members {
  const { source, revision_source = source, source_revision_config, resource_spec, secrets } = snapshot;
  return new Map<string, unknown>([
    ['revision_source', revision_source],
    ...prefixed('source_revision_config', source_revision_config),
    ...prefixed('source_config.resource_spec', resource_spec ?? {}),
    ...secrets.map(({ name, digest }) => [`secrets.${name}`, digest] as const),
    ...(snapshot.secret_references ? ([['secret_references', snapshot.secret_references]] as const) : []),
  ]);
}

function prefixed(prefix: string, object: object): [string, unknown][] {
  return Object.entries(object).map(([member, value]) => [`${prefix}.${member}`, value]);
}
