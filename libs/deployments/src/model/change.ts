import type { Gate } from '@fairlead/contracts';
import { changedMembers, same } from '@fairlead/eventing';
import { checkChangeable, snapshotOf, type Deployment, type DeploymentState } from './deployment';
import type {
  Agent,
  DeploymentEvent,
  DeploymentPatched,
  SecretReference,
  Source,
  SourceConfig,
  SourceRevisionConfig,
} from './deployment-events';
import { InvalidDeployment } from './deployment.errors';
import { checkNames } from './gates';
import { createRevision } from './revision-turns';
import { checkReferences, replaceSecrets, sameSecrets, type OfferedSecret } from './secrets';
import {
  checkArtefact,
  checkAvailable,
  checkBuildOnPush,
  checkContainers,
  checkFixed,
  checkMembers,
  checkNamespace,
  checkOrigin,
  checkTarballPath,
  checkUsable,
  isUsable,
  type Fixed,
  type Hosting,
} from './source-rules';

/** A request to create a deployment, secrets sealed. */
export interface NewDeployment {
  readonly name: string;
  readonly source: Source;
  readonly source_config: SourceConfig;
  readonly source_revision_config: SourceRevisionConfig;
  readonly secrets: readonly OfferedSecret[];
  readonly secret_references?: readonly SecretReference[];
  readonly agent?: Agent;
  /** Gates that hold its revisions, the first one included. */
  readonly gates?: readonly Gate[];
}

/** A PATCH of a deployment, secrets sealed; an absent member is not changed. */
interface DeploymentPatch extends Fixed {
  readonly revision_source?: Source;
  readonly source_revision_config?: SourceRevisionConfig;
  readonly secrets?: readonly OfferedSecret[];
  readonly secret_references?: readonly SecretReference[];
}

/** Ids made by the caller, so that deciding twice decides the same. */
export interface NewIds {
  readonly deploymentId: string;
  readonly revisionId: string;
}

/**
 * Creates a deployment, with revision 1 when its configuration names something to roll out.
 * @throws InvalidDeployment when a member does not fit the source or the installation.
 */
export function create(wanted: NewDeployment, tenantId: string, ids: NewIds, hosting: Hosting) {
  return (state: DeploymentState): DeploymentEvent[] => {
    if (state) return [];
    const { name, source, source_config, secret_references, agent, gates = [] } = wanted;
    const source_revision_config = withoutCommit(wanted.source_revision_config);
    checkAvailable(source, hosting);
    checkMembers(source, { ...source_config, ...source_revision_config, secret_references });
    checkOrigin(source, source_config);
    checkNamespace(source_config);
    checkSizes(source_config.resource_spec, undefined);
    checkContainers(source_config.resource_spec);
    checkArtefact(source_revision_config);
    checkTarballPath(source_revision_config.source_tarball_path, []);
    checkBuildOnPush(source_config, source_revision_config);
    checkNames(gates);
    const secrets = replaceSecrets([], wanted.secrets);
    const references = secret_references ?? null;
    checkReferences(references, secrets);
    const created: DeploymentEvent = {
      type: 'DeploymentCreated',
      data: {
        deployment_id: ids.deploymentId,
        tenant_id: tenantId,
        name,
        source,
        source_config,
        source_revision_config,
        secrets,
        secret_references: references,
        ...(agent && { agent }),
      },
    };
    const isGated = gates.length > 0;
    const first: DeploymentEvent[] = isGated ? [created, { type: 'GatesDeclared', data: { gates } }] : [created];
    if (!isUsable(source, source_revision_config)) return first;
    const resource_spec = source_config.resource_spec ?? null;
    const snapshot = { source, source_revision_config, resource_spec, secrets, secret_references: references };
    const revision = { revision_id: ids.revisionId, deployment_id: ids.deploymentId, ...snapshot };
    return [...first, { type: 'RevisionCreated', data: { ...revision, ...(isGated && { gates }) } }];
  };
}

/**
 * Changes what differs from the current values, with a new revision when more than `source_config` changes.
 * @throws InvalidDeployment when a member is fixed or does not fit the source; DeploymentBeingDeleted.
 */
export function patch(wanted: DeploymentPatch, revisionId: string, hosting: Hosting) {
  return (state: Deployment): DeploymentEvent[] => {
    checkChangeable(state);
    checkMembers(state.source, { ...wanted.source_config, secret_references: wanted.secret_references });
    checkFixed(state, wanted);
    checkSizes(wanted.source_config?.resource_spec, state.source_config.resource_spec);
    checkContainers(wanted.source_config?.resource_spec);
    const revision = nextRevision(state, wanted, hosting);
    const source_config = resumes(state, revision)
      ? changedConfig(
          { ...state.source_config, build_on_push: undefined },
          { build_on_push: true, ...wanted.source_config },
        )
      : changedConfig(state.source_config, wanted.source_config);
    checkBuildOnPush(
      { ...state.source_config, ...source_config },
      revision?.source_revision_config ?? state.source_revision_config,
    );
    const secrets = changedSecrets(state, wanted.secrets);
    const secret_references = same(wanted.secret_references ?? state.secret_references, state.secret_references)
      ? undefined
      : wanted.secret_references;
    if (secrets || secret_references) {
      checkReferences(secret_references ?? state.secret_references, secrets ?? state.secrets);
    }
    const changes: DeploymentPatched['data'] = {
      ...(source_config && { source_config }),
      ...(revision && { source_revision_config: revision.source_revision_config }),
      ...(secrets && { secrets }),
      ...(secret_references && { secret_references }),
    };
    if (Object.keys(changes).length === 0) return [];
    const patched: DeploymentEvent = { type: 'DeploymentPatched', data: changes };
    if (!revision && !secrets && !secret_references) return [patched];
    const snapshot = {
      ...snapshotOf(state),
      ...baseRevision(state, wanted),
      ...revision,
      resource_spec: source_config?.resource_spec ?? state.source_config.resource_spec ?? null,
      ...(secrets && { secrets }),
      ...(secret_references && { secret_references }),
    };
    // Other secrets alone are kept for the first revision.
    if (!isUsable(snapshot.source, snapshot.source_revision_config)) return [patched];
    checkArtefact(snapshot.source_revision_config);
    return [patched, ...createRevision(state, { revision_id: revisionId, deployment_id: state.id, ...snapshot })];
  };
}

type RevisionConfig = Pick<ReturnType<typeof snapshotOf>, 'source' | 'source_revision_config'>;

/** Source and configuration that a revision of this PATCH starts from. */
function baseRevision(state: Deployment, { revision_source: source = state.source }: DeploymentPatch): RevisionConfig {
  if (source === state.revision_source) return { source, source_revision_config: state.source_revision_config };
  return { source, source_revision_config: source === state.source ? state.own_revision_config : {} };
}

/** Source and configuration of the latest revision after the PATCH; undefined when it leaves them as they are. */
function nextRevision(state: Deployment, wanted: DeploymentPatch, hosting: Hosting): RevisionConfig | undefined {
  const sent = withoutCommit(wanted.source_revision_config ?? {});
  const base = baseRevision(state, wanted);
  checkAvailable(base.source, hosting);
  checkMembers(base.source, sent);
  checkArtefact(sent);
  if (sent.source_tarball_path !== base.source_revision_config.source_tarball_path) {
    checkTarballPath(sent.source_tarball_path, state.upload_paths);
  }
  if (wanted.revision_source === undefined && Object.keys(sent).length === 0) return undefined;
  const current = {
    source: state.revision_source,
    source_revision_config: withoutCommit(state.source_revision_config),
  };
  const source_revision_config = { ...withoutCommit(base.source_revision_config), ...sent };
  const next = { source: base.source, source_revision_config };
  if (base.source !== state.source) checkOrigin(base.source, state.source_config);
  checkUsable(base.source, source_revision_config);
  // While pushes are not built, naming what to build is a wish to build again.
  return same(next, current) && !state.build_on_push_paused ? undefined : next;
}

/** Returns true when a change ends the pause of builds on push that a roll-back began. */
function resumes({ build_on_push_paused = false }: Deployment, revision: RevisionConfig | undefined): boolean {
  return build_on_push_paused && revision !== undefined;
}

function changedConfig(current: SourceConfig, sent: SourceConfig | undefined): SourceConfig | undefined {
  const merged: SourceConfig = {
    ...sent,
    ...(sent?.custom_url === '' && !current.custom_url && { custom_url: undefined }),
    ...(sent?.resource_spec && { resource_spec: { ...current.resource_spec, ...sent.resource_spec } }),
    ...(sent?.listener_config && { listener_config: { ...current.listener_config, ...sent.listener_config } }),
  };
  return changedMembers(current, merged);
}

function changedSecrets(state: Deployment, offered: readonly OfferedSecret[] | undefined) {
  if (!offered) return undefined;
  const secrets = replaceSecrets(state.secrets, offered);
  return sameSecrets(secrets, state.secrets) ? undefined : secrets;
}

/** Callers cannot name the commit, and a changed configuration no longer stands for the one resolved before. */
function withoutCommit(config: SourceRevisionConfig): SourceRevisionConfig {
  return Object.fromEntries(Object.entries(config).filter(([member]) => member !== 'repo_commit_sha'));
}

type Sizes = Readonly<Record<string, unknown>>;

const PARTS = ['', 'queue_', 'orchestrator_', 'executor_', 'cache_', 'db_'];
/** Pairs of members of which the first must not exceed the second. */
const PAIRS = PARTS.flatMap((part) => [
  [`${part}min_scale`, `${part}max_scale`],
  [`${part}cpu`, `${part}cpu_limit`],
  [`${part}memory_mb`, `${part}memory_limit_mb`],
]) as readonly (readonly [string, string])[];

/**
 * Checks sizes that are sent against those that stay as they are.
 * @throws InvalidDeployment naming a member that is sent and its counterpart when nothing can satisfy both.
 */
function checkSizes(sent: Sizes | undefined, current: Sizes | undefined): void {
  if (!sent) return;
  const sizes = { ...current, ...sent };
  for (const [least, most] of PAIRS) {
    if (sent[least] === undefined && sent[most] === undefined) continue;
    const [low, high] = [sizes[least], sizes[most]];
    if (typeof low !== 'number' || typeof high !== 'number' || low <= high) continue;
    throw new InvalidDeployment(`${least} (${low}) must not be greater than ${most} (${high}).`);
  }
}
