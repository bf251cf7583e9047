import type {
  CommandEndedMessage,
  CommandStartedMessage,
  DeploymentStatusReportedMessage,
  Gate,
  PushCause,
  RevisionActivatedMessage,
  RevisionHeldMessage,
  RevisionReleasedMessage,
  RevisionSource,
  RevisionStatusChangedMessage,
  SourceConfig as PublicSourceConfig,
} from '@fairlead/contracts';
import type { DomainEvent, Sealed } from '@fairlead/eventing';

type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

export const SOURCES = [
  'codehost',
  'external_container',
  'internal_container',
  'internal_source',
  'internal_template',
] as const;
export type Source = (typeof SOURCES)[number];

export const DEPLOYMENT_TYPES = ['dev_free', 'dev', 'prod', 'serverless', 'dev_zero'] as const;
export type DeploymentType = (typeof DEPLOYMENT_TYPES)[number];

export type DeploymentStatus = 'AWAITING_DATABASE' | 'READY' | 'UNUSED' | 'AWAITING_DELETE' | 'UNKNOWN';

/** Sizing and pod additions, member by member as the caller gave them. */
export type ResourceSpec = { readonly [member: string]: Json };

/** Members that can change without a new revision, or not at all. A member that was never set is absent. */
export interface SourceConfig extends PublicSourceConfig {
  readonly deployment_type?: DeploymentType;
  readonly resource_spec?: ResourceSpec;
}

/** Members that make a new revision when they change. `repo_commit_sha` is resolved by the service. */
export type SourceRevisionConfig = RevisionSource;

/** A secret at rest: its value encrypted, and a keyed digest by which equal values are recognised. */
export interface Secret {
  readonly name: string;
  readonly sealed: Sealed;
  readonly digest: string;
}

export interface SecretReference {
  readonly name: string;
  readonly secret_name: string;
  readonly secret_key: string;
}

/** Everything a revision runs with: what a roll-back restores. */
export interface Snapshot {
  readonly source: Source;
  readonly source_revision_config: SourceRevisionConfig;
  readonly resource_spec: ResourceSpec | null;
  readonly secrets: readonly Secret[];
  readonly secret_references: readonly SecretReference[] | null;
}

/** The agent that a deployment runs, and where: a tenant has at most one deployment of both. */
export interface Agent {
  readonly agent_id: string;
  readonly environment: string;
}

type DeploymentCreated = DomainEvent<
  'DeploymentCreated',
  {
    readonly deployment_id: string;
    readonly tenant_id: string;
    readonly name: string;
    readonly source: Source;
    readonly source_config: SourceConfig;
    readonly source_revision_config: SourceRevisionConfig;
    readonly secrets: readonly Secret[];
    readonly secret_references: readonly SecretReference[] | null;
    readonly agent?: Agent;
  }
>;
type DeploymentProvisioned = DomainEvent<'DeploymentProvisioned', Record<string, never>>;
/** The place where the deployment runs cannot be reached, or can be reached again; nobody uses it, or somebody does again. */
type DeploymentStatusReported = DomainEvent<'DeploymentStatusReported', DeploymentStatusReportedMessage>;
/** The program of the deployment stops until it is started again, whatever is deployed meanwhile. */
type DeploymentStopRequested = DomainEvent<'DeploymentStopRequested', Record<string, never>>;
type DeploymentStartRequested = DomainEvent<'DeploymentStartRequested', Record<string, never>>;
type DeploymentRestartRequested = DomainEvent<'DeploymentRestartRequested', Record<string, never>>;
/** The changed members of `source_config`; every other member whole, as it is after the change. */
export type DeploymentPatched = DomainEvent<
  'DeploymentPatched',
  {
    readonly source_config?: SourceConfig;
    readonly source_revision_config?: SourceRevisionConfig;
    readonly secrets?: readonly Secret[];
    readonly secret_references?: readonly SecretReference[];
  }
>;
type RevisionCreated = DomainEvent<
  'RevisionCreated',
  Snapshot & {
    readonly revision_id: string;
    readonly deployment_id: string;
    /** The revision whose snapshot this one repeats. */
    readonly redeployed_from?: string;
    /** The push that it was made for; absent in events of earlier versions. */
    readonly push?: PushCause;
    /** Gates that hold it before it is deployed; absent when there are none. */
    readonly gates?: readonly Gate[];
  }
>;
/** All gates of the deployment from now on; they hold revisions that are made later. */
type GatesDeclared = DomainEvent<'GatesDeclared', { readonly gates: readonly Gate[] }>;
type RevisionHeld = DomainEvent<'RevisionHeld', RevisionHeldMessage>;
type RevisionReleased = DomainEvent<'RevisionReleased', RevisionReleasedMessage>;
type RevisionStatusChanged = DomainEvent<'RevisionStatusChanged', RevisionStatusChangedMessage>;
type RevisionActivated = DomainEvent<'RevisionActivated', RevisionActivatedMessage>;
/** The commit of a revision's `repo_ref` when its code host was asked. */
type RevisionCommitResolved = DomainEvent<
  'RevisionCommitResolved',
  { readonly revision_id: string; readonly repo_commit_sha: string }
>;
/** After a roll-back pushes are not built until `source_revision_config` or `build_on_push` is patched. */
type BuildOnPushPaused = DomainEvent<'BuildOnPushPaused', Record<string, never>>;
/** A roll-back left this commit behind: pushes of it are not built, those of others are. */
type CommitSkipped = DomainEvent<'CommitSkipped', { readonly repo_commit_sha: string }>;
/** A path to upload a source tarball to was handed out; only such a path may be deployed. */
type UploadPathIssued = DomainEvent<'UploadPathIssued', { readonly object_path: string }>;
/** An experiment had the name of the deployment: its tracing project has another one. */
type TracingProjectNamed = DomainEvent<'TracingProjectNamed', { readonly name: string }>;
type DeploymentTagged = DomainEvent<'DeploymentTagged', { readonly tag_value_ids: readonly string[] }>;
type DeploymentDeletionRequested = DomainEvent<
  'DeploymentDeletionRequested',
  { readonly name: string; readonly delete_tracing_project: boolean }
>;
type DeploymentDeleted = DomainEvent<'DeploymentDeleted', { readonly name: string }>;

/** Everything that can be in a stream `deployment-<id>`. */
export type DeploymentEvent =
  | DeploymentCreated
  | DeploymentProvisioned
  | DeploymentStatusReported
  | DeploymentPatched
  | RevisionCreated
  | RevisionStatusChanged
  | RevisionActivated
  | RevisionCommitResolved
  | GatesDeclared
  | RevisionHeld
  | RevisionReleased
  | BuildOnPushPaused
  | CommitSkipped
  | UploadPathIssued
  | TracingProjectNamed
  | DeploymentTagged
  | DeploymentStopRequested
  | DeploymentStartRequested
  | DeploymentRestartRequested
  | DeploymentDeletionRequested
  | DeploymentDeleted;

/** In a stream `secretAccess-<id>`: a key saw the values of these secrets, as of that version of the deployment. */
export type SecretsRead = DomainEvent<'SecretsRead', { readonly version: number; readonly names: readonly string[] }>;

/** In a stream `command-<id>`: a command ran beside the program of the deployment. */
export type CommandEvent =
  | DomainEvent<'CommandStarted', CommandStartedMessage>
  | DomainEvent<'CommandEnded', CommandEndedMessage>;
