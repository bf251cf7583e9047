import { WORKSPACE } from './namespaces';

/** Kinds of objects of a namespace that deployments may name only when the operator lists them. */
const KINDS = [
  'Secret',
  'ConfigMap',
  'PersistentVolumeClaim',
  'ServiceAccount',
  'CSIDriver',
  'NFSServer',
  'Label',
  'Annotation',
] as const;
type Kind = (typeof KINDS)[number];

/** Everything of ours in a namespace has a name that begins so; no list makes it nameable. */
export const OUR_PREFIX = 'fairlead-';
/** Longest name that Kubernetes knows: of a label or annotation with its domain. */
const LONGEST = 253 + 1 + 63;

interface Entry {
  readonly kind: Kind;
  /** May contain `*`, for any text, and WORKSPACE. */
  readonly name: string;
}

/** Returns the entries of a list such as `Secret/db,ConfigMap/agents-*`. @throws Error with the rest of a sentence */
export function parseAllowList(text: string): Entry[] {
  return text.split(',').map((entry) => {
    const [kind, ...name] = entry.trim().split('/');
    const known = KINDS.find((one) => one === kind);
    if (known && name.join('/') !== '') return { kind: known, name: name.join('/') };
    throw new Error(
      `must be a list like Secret/db,ConfigMap/agents-* of ${KINDS.join(', ')}, not ${JSON.stringify(text)}`,
    );
  });
}

/** The objects that deployments may name. */
export class AllowList {
  constructor(private readonly entries: readonly Entry[] = []) {}

  /** True when deployments of a workspace may name an object of this kind and name. */
  has(kind: Kind, name: string, workspace: string): boolean {
    if (name.startsWith(OUR_PREFIX) || name.length > LONGEST) return false;
    return this.entries.some((entry) => entry.kind === kind && matches(entry.name, name, workspace));
  }
}

function matches(pattern: string, name: string, workspace: string): boolean {
  const parts = pattern.replaceAll(WORKSPACE, workspace).split('*');
  const escaped = parts.map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${escaped.join('.*')}$`, 's').test(name);
}
