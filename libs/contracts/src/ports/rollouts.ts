import type { PushCause } from './connections';
import type { Gate } from './gates';

/** A value that only the vault opens, for the tenant, the deployment's id as subject, and the secret's name. */
export interface SealedSecret {
  readonly name: string;
  readonly sealed: { readonly subject: string; readonly sealed: string };
}

export interface RevisionSource {
  readonly repo_ref?: string;
  readonly graph_config_path?: string;
  readonly image_uri?: string;
  readonly source_tarball_path?: string;
  readonly repo_commit_sha?: string;
}

/** Configuration of all revisions of a deployment; a member that was never set is absent. */
export interface SourceConfig {
  readonly integration_id?: string;
  readonly repo_url?: string;
  readonly listener_id?: string;
  readonly listener_config?: { readonly cluster_namespace?: string };
  readonly deployment_type?: string;
  readonly build_on_push?: boolean;
  readonly build_on_push_paths?: readonly string[];
  readonly custom_url?: string;
  readonly install_command?: string;
  readonly build_command?: string;
}

/** A revision with all that it runs with: what an executor is given. */
export interface RevisionSpec {
  readonly revision_id: string;
  readonly deployment_id: string;
  readonly source: string;
  readonly source_revision_config: RevisionSource;
  readonly resource_spec: Readonly<Record<string, unknown>> | null;
  readonly secrets: readonly SealedSecret[];
  readonly secret_references:
    | readonly { readonly name: string; readonly secret_name: string; readonly secret_key: string }[]
    | null;
  /** Gates that hold it before it is deployed; absent when there are none. */
  readonly gates?: readonly Gate[];
}

/** `RevisionCreated`: a revision waits to be rolled out. */
export interface RevisionCreatedMessage extends RevisionSpec {
  readonly redeployed_from?: string;
  readonly push?: PushCause;
}

export type RevisionStatus =
  | 'CREATING'
  | 'QUEUED'
  | 'AWAITING_BUILD'
  | 'BUILDING'
  | 'AWAITING_DEPLOY'
  | 'DEPLOYING'
  | 'DEPLOYED'
  | 'CREATE_FAILED'
  | 'BUILD_FAILED'
  | 'DEPLOY_FAILED'
  | 'SKIPPED'
  | 'INTERRUPTED'
  | 'UNKNOWN';

/** `RevisionStatusChanged`: of the revisions of one deployment at most one has a running status at a time. */
export interface RevisionStatusChangedMessage {
  readonly revision_id: string;
  readonly previous_status: RevisionStatus;
  readonly status: RevisionStatus;
  /** The newer revision for which this one was INTERRUPTED before it was ready. */
  readonly replaced_by?: string;
  /** Why it was refused, in sentences. */
  readonly reason?: string;
}

/** `RevisionActivated`: the revision that runs from now on, and the one that ran before. */
export interface RevisionActivatedMessage {
  readonly revision_id: string;
  readonly previous_revision_id: string | null;
  /** Name of the executor that deployed it; absent in events of earlier versions. */
  readonly executor?: string;
  /** Why it has taken its place back from the one before; absent when it was deployed. */
  readonly reason?: string;
}

/** `DeploymentPatched`: the members of `source_config` that changed, and every other changed member whole. */
export interface DeploymentPatchedMessage {
  readonly source_config?: SourceConfig;
  readonly source_revision_config?: RevisionSource;
}

/** Executors that can stop and start what they have deployed, and restart it. */
export const CONTROLLING: readonly string[] = ['kubernetes', 'local'];

export type ControlAction = 'stop' | 'start' | 'restart';

export type RolloutStatus =
  | 'AWAITING_BUILD'
  | 'BUILDING'
  | 'AWAITING_DEPLOY'
  | 'DEPLOYING'
  | 'DEPLOYED'
  | 'BUILD_FAILED'
  | 'DEPLOY_FAILED';

/**
 * `RolloutStatusReported`, in a stream `rollout-<revision id>`: how far a revision has come. The first one asks for
 * the revision to be the running one; the rollout begins when `RevisionStatusChanged` says that it is.
 */
export interface RolloutStatusReportedMessage {
  readonly deployment_id: string;
  readonly revision_id: string;
  readonly status: RolloutStatus;
  /** Why it failed, in one sentence without any secret. */
  readonly reason?: string;
  /** Executor that deployed the revision; only with the status DEPLOYED. */
  readonly executor?: string;
  /** Commit of the revision; only with the status DEPLOYED. It is known then, however late `CommitResolved` comes. */
  readonly repo_commit_sha?: string;
}

/** `RolloutHeld`, in a stream `rollout-<revision id>`: the revision is ready to be deployed, and its gates hold it. */
export interface RolloutHeldMessage {
  readonly deployment_id: string;
  readonly revision_id: string;
  readonly gates: readonly Gate[];
}

/**
 * `HostStatusReported`, in a stream `host-<deployment id>`: whether the place where the deployment runs is ready for
 * it, lets it sleep until it is used, cannot be reached, or holds nothing of it any more.
 */
export interface HostStatusReportedMessage {
  readonly deployment_id: string;
  readonly status: 'READY' | 'UNUSED' | 'UNKNOWN' | 'REMOVED';
  readonly reason?: string;
  /** True when it is UNKNOWN because all its processes end again and again; said once for each crash loop. */
  readonly crash_looping?: true;
}

/**
 * `RevisionTakenBack`, in a stream `host-<deployment id>`: what a revision runs has ended soon after it was deployed, and
 * the one before it serves again.
 */
export interface RevisionTakenBackMessage {
  readonly deployment_id: string;
  readonly revision_id: string;
  readonly active_revision_id: string;
  /** Why, in one sentence without any secret. */
  readonly reason: string;
}

/**
 * `CommandStarted`, in a stream `command-<deployment id>`: somebody is about to run a command beside the program of a
 * deployment. One without a `CommandEnded` was under way when the server was killed.
 */
export interface CommandStartedMessage {
  readonly deployment_id: string;
  readonly command_id: string;
  /** The revision whose build or image it runs in. */
  readonly revision_id: string;
  readonly version: number;
  /** Its words, without values of secrets. */
  readonly command: readonly string[];
}

export interface CommandEndedMessage {
  readonly deployment_id: string;
  readonly command_id: string;
  /** Version of the deployment when the command was started. */
  readonly version: number;
  /** Null when it did not end by itself. */
  readonly exit_code: number | null;
  /** Why it did not start, was ended, or ended as it did; absent when its exit code says all. */
  readonly reason?: string;
  readonly duration_ms: number;
}

/** The source archives that were uploaded for deployments. Also the injection token. */
export abstract class SourceArchives {
  /** The gzip tarball at a path that was given out for this deployment; undefined when nothing was uploaded there. */
  abstract open(tenantId: string, deploymentId: string, path: string): Promise<AsyncIterable<Buffer> | undefined>;
}

/** Resources that the program of a deployment uses; null where that is not known. */
export interface AppUse {
  readonly deployment_id: string;
  readonly tenant_id: string;
  readonly state: string;
  readonly memory_bytes: number | null;
  readonly cpu_cores: number | null;
  readonly disk_bytes: number | null;
  readonly restarts: number;
}

/** The programs of deployments for which this process answers. Also the injection token. */
export abstract class HostedApps {
  /** The path at which a program is reached, `/apps/<name>`; undefined when it is not one of this process. */
  abstract pathOf(tenantId: string, deploymentId: string): string | undefined;
  abstract uses(): readonly AppUse[];
  /** Lines that all programs wrote since the process was started. */
  abstract readonly logged: { readonly kept: number; readonly dropped: number };
}

/** The name of a deployment as a part of an address; empty when it holds nothing that may be there. */
export function spelledAddress(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}

export interface NamedDeployment {
  readonly id: string;
  readonly name: string;
}

/** The names of deployments, whether they have ever run or not. Also the injection token. */
export abstract class DeploymentNames {
  /** Deployments of a workspace that have this id, or whose names spell this address; at most a few. */
  abstract spelled(tenantId: string, address: string): Promise<readonly NamedDeployment[]>;
}

/** The name of a deployment in a host such as `support.localhost:4600`; undefined for any other host. */
export function appOfHost(host = ''): string | undefined {
  return /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)\.localhost(?::\d+)?$/.exec(host.toLowerCase())?.[1];
}

/** A revision as an executor would get it, before it is stored. */
export interface PlannedRevision {
  readonly tenantId: string;
  readonly deploymentId: string;
  readonly name: string;
  readonly config: SourceConfig;
  /** Where the executor has said that the deployment runs; undefined before it said so. */
  readonly place?: string;
  readonly revision: RevisionSpec;
}

/** Answers of the place where a revision would run, in sentences. */
export interface Rehearsal {
  readonly refusal?: string;
  readonly unreachable?: string;
  readonly warnings: readonly string[];
}

/** Says before a change is stored what the executor would say after it. */
export interface RolloutPlans {
  /** Returns why a revision will fail, as far as that is known without asking anybody; undefined when it may succeed. */
  refusal(planned: PlannedRevision): string | undefined;
  /** Returns why deployments of a workspace cannot use a namespace; undefined when they can. */
  namespaceRefusal(tenantId: string, namespace: string): string | undefined;
  /** Asks the place where the revision would run. Nothing is changed there. */
  rehearse(planned: PlannedRevision): Promise<Rehearsal>;
}
