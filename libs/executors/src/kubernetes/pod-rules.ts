import type { RevisionSpec } from '@fairlead/contracts';
import { type AllowList, OUR_PREFIX } from '@fairlead/schema';
import { isTold, membersOf, type PodSecurityLevel, securityProblems } from './pod-security';

type Members = Readonly<Record<string, unknown>>;

export interface PodRules {
  readonly allow: AllowList;
  readonly level: PodSecurityLevel;
}

type Wanted = Pick<RevisionSpec, 'resource_spec' | 'secret_references'>;

export const AGENT = 'agent';
const CONTAINER_MEMBERS = [
  ...['name', 'image', 'imagePullPolicy', 'command', 'args', 'workingDir', 'env', 'envFrom', 'resources'],
  ...['volumeMounts', 'securityContext', 'restartPolicy'],
];
const VOLUME_KINDS: Readonly<Record<string, readonly string[]>> = {
  configMap: ['name', 'items', 'defaultMode', 'optional'],
  secret: ['secretName', 'items', 'defaultMode', 'optional'],
  emptyDir: ['medium', 'sizeLimit'],
  persistentVolumeClaim: ['claimName', 'readOnly'],
  nfs: ['server', 'path', 'readOnly'],
  projected: ['sources', 'defaultMode'],
  downwardAPI: ['items', 'defaultMode'],
  csi: ['driver', 'fsType', 'readOnly', 'volumeAttributes', 'nodePublishSecretRef'],
};
/** A label or annotation of a domain means something to the programs of that domain: some add containers to pods. */
const OF_DOMAIN = /\//;
/** Keys that only describe or measure. */
const OPEN_KEYS = { Label: /^app\.kubernetes\.io\//, Annotation: /^(prometheus\.io\/|fairlead\.dev\/health-path$)/ };

/**
 * Returns a sentence about each member of a revision that may not become part of a pod; none when all may. What is not
 * known to be harmless is refused.
 */
export function podProblems(
  { resource_spec, secret_references }: Wanted,
  workspace: string,
  rules: PodRules,
): string[] {
  return [...new Problems(workspace, rules).of(membersOf(resource_spec), secret_references ?? [])];
}

class Problems {
  constructor(
    private readonly workspace: string,
    private readonly rules: PodRules,
  ) {}

  *of(spec: Members, references: readonly { readonly secret_name: string }[]): Generator<string> {
    for (const [index, { secret_name }] of references.entries()) {
      yield* this.named('Secret', secret_name, `secret_references[${index}].secret_name`);
    }
    const { service_account_name: account } = spec;
    if (isTold(account) && account !== 'default') yield* this.named('ServiceAccount', account, 'service_account_name');
    for (const [path, { name }] of each(spec.image_pull_secrets, 'image_pull_secrets')) {
      yield* this.named('Secret', name, `${path}.name`);
    }
    const isListed = typeof account === 'string' && this.rules.allow.has('ServiceAccount', account, this.workspace);
    for (const [path, volume] of each(spec.volumes, 'volumes')) yield* this.volume(volume, path, isListed);
    for (const [path, mount] of each(spec.volume_mounts, 'volume_mounts')) yield* this.mount(mount, path);
    const names = new Set([AGENT]);
    for (const list of ['init_containers', 'sidecars']) {
      for (const [path, container] of each(spec[list], list)) {
        const name = String(container.name);
        if (names.has(name)) yield `${path}.name is taken by another container: ${name}.`;
        names.add(name);
        yield* this.container(container, path);
      }
    }
    yield* this.keys('Label', spec.labels, 'labels');
    yield* this.keys('Annotation', spec.annotations, 'annotations');
  }

  private *container(container: Members, path: string): Generator<string> {
    yield* only(container, CONTAINER_MEMBERS, path);
    for (const [at, { valueFrom }] of each(container.env, `${path}.env`)) {
      if (isTold(valueFrom)) yield* this.value(membersOf(valueFrom), `${at}.valueFrom`);
    }
    for (const [at, source] of each(container.envFrom, `${path}.envFrom`)) {
      yield* only(source, ['prefix', 'configMapRef', 'secretRef'], at);
      yield* this.reference('Secret', source.secretRef, `${at}.secretRef`);
      yield* this.reference('ConfigMap', source.configMapRef, `${at}.configMapRef`);
    }
    for (const [at, mount] of each(container.volumeMounts, `${path}.volumeMounts`)) yield* this.mount(mount, at);
    const problems = securityProblems(this.rules.level, container.securityContext);
    for (const problem of problems) yield `${path}.securityContext.${problem}`;
  }

  private *value(source: Members, path: string): Generator<string> {
    yield* only(source, ['secretKeyRef', 'configMapKeyRef', 'fieldRef', 'resourceFieldRef'], path);
    yield* this.reference('Secret', source.secretKeyRef, `${path}.secretKeyRef`);
    yield* this.reference('ConfigMap', source.configMapKeyRef, `${path}.configMapKeyRef`);
  }

  private *volume(volume: Members, path: string, isAccountListed: boolean): Generator<string> {
    const { name, ...sources } = volume;
    const kinds = Object.keys(sources).filter((kind) => isTold(sources[kind]));
    const [kind = '', ...others] = kinds;
    const members = VOLUME_KINDS[kind];
    if (!members || others.length > 0) {
      yield `${path} (${String(name)}) must have exactly one of ${Object.keys(VOLUME_KINDS).join(', ')}.`;
      return;
    }
    const source = membersOf(sources[kind]);
    const at = `${path}.${kind}`;
    yield* only(source, members, at);
    if (kind === 'secret') yield* this.named('Secret', source.secretName, `${at}.secretName`);
    if (kind === 'configMap') yield* this.named('ConfigMap', source.name, `${at}.name`);
    if (kind === 'persistentVolumeClaim')
      yield* this.named('PersistentVolumeClaim', source.claimName, `${at}.claimName`);
    if (kind === 'projected') yield* this.projected(source, at, isAccountListed);
    if (kind === 'csi') {
      yield* this.named('CSIDriver', source.driver, `${at}.driver`);
      yield* this.reference('Secret', source.nodePublishSecretRef, `${at}.nodePublishSecretRef`);
    }
    if (kind !== 'nfs') return;
    if (this.rules.level === 'restricted') yield `${at} is not allowed by the Pod Security level restricted.`;
    else yield* this.named('NFSServer', source.server, `${at}.server`);
  }

  /** A token is one of a service account that the operator lists. */
  private *projected({ sources }: Members, path: string, isAccountListed: boolean): Generator<string> {
    const token = isAccountListed ? ['serviceAccountToken'] : [];
    for (const [at, source] of each(sources, `${path}.sources`)) {
      yield* only(source, ['secret', 'configMap', 'downwardAPI', ...token], at);
      yield* this.reference('Secret', source.secret, `${at}.secret`);
      yield* this.reference('ConfigMap', source.configMap, `${at}.configMap`);
    }
  }

  private *mount({ mountPropagation }: Members, path: string): Generator<string> {
    if (mountPropagation === 'Bidirectional' && this.rules.level !== 'privileged') {
      yield `${path}.mountPropagation must not be Bidirectional.`;
    }
  }

  private *keys(kind: 'Label' | 'Annotation', members: unknown, path: string): Generator<string> {
    for (const key of Object.keys(membersOf(members))) {
      const isOpen = !OF_DOMAIN.test(key) || OPEN_KEYS[kind].test(key);
      if (!isOpen && !this.rules.allow.has(kind, key, this.workspace))
        yield `${path} may not have ${key}: ${listed(kind, key)}`;
    }
  }

  private *reference(kind: 'Secret' | 'ConfigMap', reference: unknown, path: string): Generator<string> {
    if (isTold(reference)) yield* this.named(kind, membersOf(reference).name, `${path}.name`);
  }

  private *named(kind: Parameters<AllowList['has']>[0], name: unknown, path: string): Generator<string> {
    if (typeof name !== 'string' || name === '') yield `${path} must be the name of a ${kind}.`;
    else if (name.startsWith(OUR_PREFIX))
      yield `${path} may not be ${name}: names that begin with ${OUR_PREFIX} are those of Fairlead.`;
    else if (!this.rules.allow.has(kind, name, this.workspace))
      yield `${path} may not be ${name}: ${listed(kind, name)}`;
  }
}

function listed(kind: string, name: string): string {
  return `the setting KUBERNETES_ALLOW does not list ${kind}/${name}.`;
}

function* only(members: Members, known: readonly string[], path: string): Generator<string> {
  const others = Object.keys(members).filter((member) => isTold(members[member]) && !known.includes(member));
  if (others.length > 0) yield `${path} may not have ${others.join(', ')}: only ${known.join(', ')}.`;
}

function each(list: unknown, path: string): [path: string, members: Members][] {
  if (!Array.isArray(list)) return [];
  return list.map((element, index) => [`${path}[${index}]`, membersOf(element)]);
}
