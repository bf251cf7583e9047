import type { Source, SourceConfig, SourceRevisionConfig } from '../deployment/deployment-events';
import { InvalidDeployment } from '../deployment/deployment.errors';
import { same } from '@fairlead/eventing';

/** Which sources this installation offers; the specification ties each source to one kind of hosting. */
export type Hosting = 'any' | 'cloud' | 'self_hosted';

const CONTAINERS: readonly Source[] = ['external_container', 'internal_container'];
const BUILDABLE: readonly Source[] = ['codehost', 'internal_source', 'internal_template'];
const SELF_HOSTED: readonly Source[] = ['external_container'];

const ONLY_FOR: Readonly<Record<string, readonly Source[]>> = {
  integration_id: ['codehost'],
  repo_url: ['codehost'],
  build_on_push: ['codehost'],
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
export function checkArtefact({ image_uri, repo_ref }: SourceRevisionConfig): void {
  for (const [member, value] of Object.entries({ image_uri, repo_ref })) {
    if (value?.trim() === '') throw new InvalidDeployment(`${member} must not be empty.`);
  }
  if (image_uri !== undefined && !isImageReference(image_uri)) {
    throw new InvalidDeployment(
      'image_uri must be a reference to an image, such as registry.example.com/team/agent:1.0.',
    );
  }
}

/** @throws InvalidDeployment naming the member without which a revision of the source has nothing to run. */
export function checkUsable(source: Source, config: SourceRevisionConfig): void {
  if (isUsable(source, config)) return;
  throw new InvalidDeployment(`${artefactOf(source)} is required: a revision of '${source}' has nothing else to run.`);
}

/** @throws InvalidDeployment when pushes are to be built from a tag, which never moves. */
export function checkBuildOnPush(config: SourceConfig, revision: SourceRevisionConfig): void {
  if (config.build_on_push && revision.repo_ref?.startsWith('refs/tags/')) {
    throw new InvalidDeployment('build_on_push cannot be true when repo_ref is a tag.');
  }
}

/** What the members that are fixed at creation hold, to compare with what a PATCH sends. */
export interface Fixed {
  readonly name?: string;
  readonly source?: Source;
  readonly source_config?: SourceConfig;
}

/** @throws InvalidDeployment naming a member that cannot change after creation and is sent with another value. */
export function checkFixed(current: Fixed, sent: Fixed): void {
  const before = fixedMembers(current);
  for (const [member, value] of Object.entries(fixedMembers(sent))) {
    if (value === undefined || same(value, before[member])) continue;
    throw new InvalidDeployment(`${member} cannot be changed after creation.`);
  }
}

function fixedMembers({ name, source, source_config }: Fixed): Record<string, string | undefined> {
  const { integration_id, repo_url, deployment_type, listener_id, listener_config } = source_config ?? {};
  const cluster_namespace = listener_config?.cluster_namespace;
  return { name, source, integration_id, repo_url, deployment_type, listener_id, cluster_namespace };
}

/** Whether the configuration names something that can be rolled out. */
export function isUsable(source: Source, config: SourceRevisionConfig): boolean {
  return config[artefactOf(source)] !== undefined;
}

/** The member that says what a revision of the source runs. */
function artefactOf(source: Source): 'image_uri' | 'source_tarball_path' | 'repo_ref' {
  if (CONTAINERS.includes(source)) return 'image_uri';
  return source === 'internal_source' ? 'source_tarball_path' : 'repo_ref';
}

/** Whether a revision of the source is built before it is deployed. */
export function isBuilt(source: Source): boolean {
  return BUILDABLE.includes(source);
}

const HOST = /^(?:[a-z\d](?:[a-z\d-]*[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]*[a-z\d])?)*|\[[a-f\d:]+\])(?::\d+)?$/i;
const PATH_PART = /^[a-z\d]+(?:(?:\.|__?|-+)[a-z\d]+)*$/;
const DIGEST = /^[a-z][a-z\d]*(?:[-_+.][a-z][a-z\d]*)*:[a-f\d]{32,}$/i;
const TAG = /^\w[\w.-]{0,127}$/;
/** Characters of an image's name, and of a whole reference. */
const LONGEST_IMAGE_NAME = 255;
const LONGEST_REFERENCE = 1000;

/** Whether a text is an image reference as registries define it: `[host[:port]/]path[:tag][@digest]`. */
function isImageReference(text: string): boolean {
  if (text.length > LONGEST_REFERENCE) return false;
  const [tagged = '', digest, ...more] = text.split('@');
  if (more.length > 0 || (digest !== undefined && !DIGEST.test(digest))) return false;
  const colon = tagged.indexOf(':', tagged.lastIndexOf('/') + 1);
  if (colon >= 0 && !TAG.test(tagged.slice(colon + 1))) return false;
  const name = colon < 0 ? tagged : tagged.slice(0, colon);
  const [first = '', ...rest] = name.split('/');
  // Without a dot, a port or `localhost` the first part belongs to the path.
  const isHost = rest.length > 0 && (/[.:A-Z]/.test(first) || first === 'localhost');
  if (isHost && !HOST.test(first)) return false;
  return name.length <= LONGEST_IMAGE_NAME && (isHost ? rest : [first, ...rest]).every((part) => PATH_PART.test(part));
}

/** The tag of an image reference; null when it has none or is pinned by digest. */
export function imageVersion(imageUri: string | undefined): string | null {
  if (imageUri === undefined || imageUri.includes('@')) return null;
  return /:(\w[\w.-]{0,127})$/.exec(imageUri.slice(imageUri.lastIndexOf('/') + 1))?.[1] ?? null;
}
