import { posix } from 'node:path';
import { isObject } from '@fairlead/schema';
import { parsedYaml } from './package-manager';
import { type Members, NoRecipe, readObject, type SourceTree, stringsOf, upwards } from './source-tree';

export interface Package {
  readonly folder: string;
  readonly manifest: Members;
}

export interface Workspace {
  readonly root: Package;
  readonly own: Package;
  /** Packages of the workspace that the own one needs, those first that others need. */
  readonly needed: readonly Package[];
}

const MOST_PACKAGES = 500;
const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

/** The package in a folder or above it; undefined when there is none. @throws NoRecipe when the source lacks its workspace */
export async function workspaceOf(tree: SourceTree, folder: string): Promise<Workspace | undefined> {
  const at = upwards(folder).find((one) => tree.files.has(posix.join(one, 'package.json')));
  if (at === undefined) return undefined;
  const own = await packageAt(tree, at);
  for (const above of upwards(at)) {
    if (!tree.files.has(posix.join(above, 'package.json'))) continue;
    const root = await packageAt(tree, above);
    const patterns = await patternsOf(tree, root);
    const isRoot = above === at ? patterns.length > 0 : isMember(posix.relative(above, at), patterns);
    if (!isRoot) continue;
    return { root, own, needed: await neededBy(tree, { root, own, patterns }) };
  }
  const lost = Object.entries(dependenciesOf(own.manifest)).find(([, version]) => /^workspace:/.test(String(version)));
  if (lost) {
    throw new NoRecipe(
      `package.json needs ${lost[0]} of its workspace (${String(lost[1])}), whose root is not in the source: ` +
        'deploy the root of the workspace, with the path of the graph configuration in it.',
    );
  }
  return { root: own, own, needed: [] };
}

export function dependenciesOf(manifest: Members): Members {
  const all = DEPENDENCIES.map((member) => manifest[member]).filter(isObject);
  return Object.assign({}, ...all) as Members;
}

async function packageAt(tree: SourceTree, folder: string): Promise<Package> {
  return { folder, manifest: (await readObject(tree, posix.join(folder, 'package.json'))) ?? {} };
}

async function patternsOf(tree: SourceTree, { folder, manifest: { workspaces } }: Package): Promise<string[]> {
  const text = await tree.text(posix.join(folder, 'pnpm-workspace.yaml'));
  if (text !== undefined) return stringsOf(parsedYaml(text).packages);
  return stringsOf(isObject(workspaces) ? workspaces.packages : workspaces);
}

/** True when the patterns name a folder; a pattern with `!` before it takes folders out again. */
export function isMember(folder: string, patterns: readonly string[]): boolean {
  const decides = patterns.findLast((pattern) => isNamed(folder, pattern.replace(/^!/, '')));
  return decides !== undefined && !decides.startsWith('!');
}

/** Patterns have `**` for any number of folders, and `*` for any characters of a name. */
function isNamed(folder: string, pattern: string): boolean {
  const names = posix.normalize(pattern).split('/').filter(Boolean);
  return fits(names, folder.split('/'), '**', (one, name) => fits([...one], [...name], '*', (a, b) => a === b));
}

/** True when a list fits a pattern in which `star` stands for any number of items; takes at most their product. */
function fits<T>(
  pattern: readonly T[],
  list: readonly T[],
  star: T,
  isAlike: (wanted: T, found: T) => boolean,
): boolean {
  let [at, next, starAt, starNext] = [0, 0, -1, 0];
  while (next < list.length) {
    if (pattern[at] === star) [starAt, starNext, at] = [at, next, at + 1];
    else if (at < pattern.length && isAlike(pattern[at]!, list[next]!)) [at, next] = [at + 1, next + 1];
    else if (starAt >= 0) [at, next, starNext] = [starAt + 1, starNext + 1, starNext + 1];
    else return false;
  }
  return pattern.slice(at).every((one) => one === star);
}

async function neededBy(
  tree: SourceTree,
  { root, own, patterns }: { readonly root: Package; readonly own: Package; readonly patterns: readonly string[] },
): Promise<Package[]> {
  const folders = [...tree.files]
    .filter((file) => posix.basename(file) === 'package.json' && file !== posix.join(root.folder, 'package.json'))
    .map((file) => posix.dirname(file))
    .filter((folder) => isMember(posix.relative(root.folder, folder), patterns));
  if (folders.length > MOST_PACKAGES) {
    throw new NoRecipe(`The workspace has more than ${MOST_PACKAGES} packages: set install_command and build_command.`);
  }
  const members = new Map<string, Package>();
  for (const folder of folders) {
    const one = await packageAt(tree, folder);
    if (typeof one.manifest.name === 'string') members.set(one.manifest.name, one);
  }
  const needed = new Set<Package>();
  const seen = new Set([own.folder]);
  const visit = ({ manifest }: Package): void => {
    for (const name of Object.keys(dependenciesOf(manifest))) {
      const one = members.get(name);
      if (!one || seen.has(one.folder)) continue;
      seen.add(one.folder);
      visit(one);
      needed.add(one);
    }
  };
  visit(own);
  return [...needed];
}
