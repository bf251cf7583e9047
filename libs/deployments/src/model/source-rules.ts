import { artefactOf, isBuilt } from '@fairlead/contracts';
import {
  type ResourceSpec,
  type Source,
  type SourceConfig,
  type SourceRevisionConfig,
  SOURCES,
} from './deployment-events';
import { InvalidDeployment } from './deployment.errors';
import { same } from '@fairlead/eventing';
import { isNamespace, NAMESPACE } from '@fairlead/schema';
import { isImageReference } from './image-reference';

/** Which sources this installation offers; the specification ties each source to one kind of hosting. */
export type Hosting = 'any' | 'cloud' | 'self_hosted';

const IMAGE = 'must be a reference to an image, such as registry.example.com/team/agent:1.0.';
const CONTAINERS: readonly Source[] = ['external_container', 'internal_container'];
const BUILDABLE = SOURCES.filter(isBuilt);
const SELF_HOSTED: readonly Source[] = ['external_container'];

const ONLY_FOR: Readonly<Record<string, readonly Source[]>> = {
  integration_id: ['codehost'],
  repo_url: ['codehost'],
  build_on_push: ['codehost'],
  build_on_push_paths: ['codehost'],
  listener_id: ['external_container'],
  listener_config: ['external_container'],
  secret_references: ['external_container'],
  image_uri: CONTAINERS,
  source_tarball_path: ['internal_source'],
  repo_ref: BUILDABLE,
  graph_config_path: BUILDABLE,
};

/** @throws InvalidDeployment when this installation does not offer the source. */
export function checkAvailable(source: Source, hosting: Hosting): void {
  if (hosting === 'any' || SELF_HOSTED.includes(source) === (hosting === 'self_hosted')) return;
  const only = hosting === 'cloud' ? 'self-hosted' : 'cloud-hosted';
  throw new InvalidDeployment(`source '${source}' is available only for ${only} deployments.`);
}

/** @throws InvalidDeployment naming the first member that is set and does not belong to the source. */
export function checkMembers(source: Source, members: object | undefined): void {
  for (const [member, value] of Object.entries(members ?? {})) {
    const sources = ONLY_FOR[member];
    if (value === undefined || !sources || sources.includes(source)) continue;
    throw new InvalidDeployment(`${member} is not allowed when source is '${source}'.`);
  }
}

/** @throws InvalidDeployment naming what a deployment from a code host lacks: neither member can be set later. */
export function checkOrigin(source: Source, config: SourceConfig): void {
  if (source !== 'codehost') return;
  for (const member of ['integration_id', 'repo_url'] as const) {
    if (!config[member]?.trim()) throw new InvalidDeployment(`${member} is required when source is 'codehost'.`);
  }
}

/** @throws InvalidDeployment when the path was not handed out by upload-url for this deployment. */
export function checkTarballPath(path: string | undefined, issued: readonly string[]): void {
  if (path === undefined || issued.includes(path)) return;
  throw new InvalidDeployment('source_tarball_path must be a path that upload-url gave out for this deployment.');
}

/** @throws InvalidDeployment naming a member that is sent to say what to run and cannot be run. */
export function checkArtefact({ image_uri, repo_ref, graph_config_path }: SourceRevisionConfig): void {
  for (const [member, value] of Object.entries({ image_uri, repo_ref, graph_config_path })) {
    if (value?.trim() === '') throw new InvalidDeployment(`${member} must not be empty.`);
  }
  if (image_uri !== undefined && !isImageReference(image_uri)) throw new InvalidDeployment(`image_uri ${IMAGE}`);
  if (repo_ref !== undefined && !isRef(repo_ref)) {
    throw new InvalidDeployment('repo_ref must be the name of a branch, tag or commit, such as main or refs/tags/v1.');
  }
  if (graph_config_path !== undefined && !isPathInside(graph_config_path)) {
    throw new InvalidDeployment('graph_config_path must be a path in the source, such as agent/langgraph.json.');
  }
}

/** @throws InvalidDeployment naming a container that is added to the pods and whose image cannot be pulled. */
export function checkContainers(spec: ResourceSpec | undefined): void {
  for (const member of ['init_containers', 'sidecars'] as const) {
    const containers = (spec?.[member] ?? []) as readonly { readonly name: string; readonly image: string }[];
    const wrong = containers.find(({ image }) => !isImageReference(image));
    if (wrong) throw new InvalidDeployment(`image of '${wrong.name}' in ${member} ${IMAGE}`);
  }
}

/** @throws InvalidDeployment for a namespace that no cluster has */
export function checkNamespace({ listener_config }: SourceConfig): void {
  const { cluster_namespace } = listener_config ?? {};
  if (cluster_namespace === undefined || isNamespace(cluster_namespace)) return;
  throw new InvalidDeployment(`cluster_namespace ${NAMESPACE}`);
}

/** @throws InvalidDeployment naming the member without which a revision of the source has nothing to run. */
export function checkUsable(source: Source, config: SourceRevisionConfig): void {
  if (isUsable(source, config)) return;
  throw new InvalidDeployment(`${artefactOf(source)} is required: a revision of '${source}' has nothing else to run.`);
}

/** Why pushes of a tag are not built. */
export const NO_TAG = 'build_on_push cannot be true when repo_ref is a tag.';

/** @throws InvalidDeployment when pushes are to be built from a tag or commit, which never moves. */
export function checkBuildOnPush(config: SourceConfig, revision: SourceRevisionConfig): void {
  if (config.build_on_push && revision.repo_ref?.startsWith('refs/tags/')) {
    throw new InvalidDeployment(NO_TAG);
  }
  if (config.build_on_push && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(revision.repo_ref ?? '')) {
    throw new InvalidDeployment('build_on_push cannot be true when repo_ref is a commit.');
  }
}

/** Members that are fixed at creation, to compare with those that a PATCH sends. */
export interface Fixed {
  readonly name?: string;
  readonly source?: Source;
  readonly source_config?: SourceConfig;
  readonly agent?: { readonly agent_id: string; readonly environment: string };
}

/** @throws InvalidDeployment naming a member that cannot change after creation and is sent with another value. */
export function checkFixed(current: Fixed, sent: Fixed): void {
  const before = fixedMembers(current);
  for (const [member, value] of Object.entries(fixedMembers(sent))) {
    if (value === undefined || same(value, before[member])) continue;
    throw new InvalidDeployment(`${member} cannot be changed after creation.`);
  }
}

function fixedMembers({ name, source, source_config, agent }: Fixed): Record<string, unknown> {
  const { integration_id, repo_url, deployment_type, listener_id, listener_config } = source_config ?? {};
  const cluster_namespace = listener_config?.cluster_namespace;
  return { name, source, integration_id, repo_url, deployment_type, listener_id, cluster_namespace, agent };
}

/** True when the configuration names something that can be rolled out. */
export function isUsable(source: Source, config: SourceRevisionConfig): boolean {
  return config[artefactOf(source)] !== undefined;
}

/** Characters of a name of a branch or tag, and of a path in a source. */
const LONGEST_PATH = 1000;

/** True when a text can be the name of a branch, tag or commit, by the rules of `git check-ref-format`. */
function isRef(text: string): boolean {
  return (
    text.length <= LONGEST_PATH &&
    !/^-|^@$|[\p{Cc} ~^:?*[\\]|\.\.|@\{|\.$/u.test(text) &&
    text.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
  );
}

/** True when a text is the path of a file in a folder, and leads to no other folder. */
function isPathInside(text: string): boolean {
  const parts = text.split('/');
  return text.length <= LONGEST_PATH && !/^\/|\/$|\p{Cc}/u.test(text) && !parts.includes('..');
}
