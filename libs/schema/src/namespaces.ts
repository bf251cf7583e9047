/** Stands for the id of the workspace in a name. */
export const WORKSPACE = '{workspace_id}';
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const ID = new RegExp(`^${UUID}$`);
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Rule for the name of a namespace, for the end of a sentence. */
export const NAMESPACE =
  'must be the name of a namespace of Kubernetes: at most 63 lower-case letters, digits and hyphens, with a letter or digit at both ends.';

/** True when a namespace of Kubernetes can have this name (RFC 1123). */
export function isNamespace(text: string): boolean {
  return NAME.test(text);
}

/** A namespace, or one for each workspace, that deployments may use. */
interface NamespaceRule {
  /** May contain WORKSPACE. */
  readonly name: string;
  /** The only workspace that may use it; absent: each one. */
  readonly workspace?: string;
}

/**
 * Returns the rule that a text such as `agents`, `agents-{workspace_id}` or `agents=<workspace id>` stands for.
 * @throws Error with the rest of a sentence
 */
export function parseNamespace(text: string): NamespaceRule {
  const [name = '', workspace, ...more] = text.trim().split('=');
  const filled = name.replaceAll(WORKSPACE, '0'.repeat(36));
  if (!NAME.test(filled) || more.length > 0) {
    throw new Error(`must be names that Kubernetes allows, not ${JSON.stringify(text)}`);
  }
  if (workspace === undefined) return { name };
  if (!ID.test(workspace)) throw new Error(`must have the id of a workspace after the equals sign of ${name}`);
  return { name, workspace };
}

/** Returns the rules of a list with commas. @throws Error with the rest of a sentence */
export function parseNamespaces(text: string): NamespaceRule[] {
  return text.split(',').map(parseNamespace);
}

/** A workspace may not use a namespace; the message is a sentence for those who named it. */
export class NamespaceProblem extends Error {
  override name = 'NamespaceProblem';
}

/** The namespaces of a cluster that deployments may use, by workspace. No other namespace is touched. */
export class Namespaces {
  /** `usual` is for deployments that name none; they may name it and those of `others`. */
  constructor(
    private readonly usual?: NamespaceRule,
    private readonly others: readonly NamespaceRule[] = [],
  ) {}

  /** True when no two workspaces can use the same namespace. */
  get separate(): boolean {
    const owners = new Map<string, string>();
    for (const { name, workspace } of this.rules) {
      if (name.includes(WORKSPACE)) continue;
      if (workspace === undefined || (owners.get(name) ?? workspace) !== workspace) return false;
      if (this.isOfTemplate(name)) return false;
      owners.set(name, workspace);
    }
    return true;
  }

  /** Namespaces whose names are known without a workspace. */
  get fixed(): readonly string[] {
    return [...new Set(this.rules.map(({ name }) => name).filter((name) => !name.includes(WORKSPACE)))];
  }

  /** True when there is any rule. */
  get any(): boolean {
    return this.rules.length > 0;
  }

  /** Returns the namespace for a deployment of a workspace. @throws NamespaceProblem when it may not use the one that it names */
  of(workspace: string, named: string | undefined): string {
    const wanted = this.wanted(workspace, named);
    if (wanted === undefined) {
      throw new NamespaceProblem('The deployment names no namespace: set listener_config.cluster_namespace.');
    }
    if (this.has(workspace, wanted)) return wanted;
    throw new NamespaceProblem(
      `The workspace may not use the namespace ${wanted} (settings KUBERNETES_NAMESPACE and KUBERNETES_NAMESPACES).`,
    );
  }

  /** True when deployments of a workspace may use a namespace. */
  has(workspace: string, name: string): boolean {
    return this.rulesOf(workspace).some((rule) => filled(rule, workspace) === name);
  }

  /** Returns the namespace that a deployment names, or the usual one, whether its workspace may use it or not. */
  wanted(workspace: string, named: string | undefined): string | undefined {
    if (named !== undefined) return named;
    return this.usual && this.rulesOf(workspace).includes(this.usual) ? filled(this.usual, workspace) : undefined;
  }

  private rulesOf(workspace: string): readonly NamespaceRule[] {
    return this.rules.filter((rule) => rule.workspace === undefined || rule.workspace === workspace);
  }

  private get rules(): readonly NamespaceRule[] {
    return this.usual ? [this.usual, ...this.others] : this.others;
  }

  /** True when a fixed name is also the name for some workspace, by a rule with WORKSPACE. */
  private isOfTemplate(name: string): boolean {
    const templates = this.rules.filter((rule) => rule.name.includes(WORKSPACE));
    return templates.some((rule) => new RegExp(`^${rule.name.replaceAll(WORKSPACE, UUID)}$`).test(name));
  }
}

function filled({ name }: NamespaceRule, workspace: string): string {
  return name.replaceAll(WORKSPACE, workspace);
}
