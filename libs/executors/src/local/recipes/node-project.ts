import { posix } from 'node:path';
import { isObject } from '@fairlead/schema';
import { type Manager, managerOf } from './package-manager';
import { type Command, inFolder, type Members, quotedAlways, readObject, type SourceTree } from './source-tree';
import { dependenciesOf, type Package, type Workspace, workspaceOf } from './workspace';

export interface NodeProject {
  readonly manifest: Members;
  readonly setUp: readonly Command[];
  readonly install: readonly Command[];
  readonly build: readonly Command[];
  readonly start: string | undefined;
  readonly programs: readonly string[];
  readonly warnings: readonly string[];
}

const BUILD_HINT = 'Another command can be set as build_command: fairlead deploy --build-command "…".';
const INSTALL_HINT = 'Another command can be set as install_command: fairlead deploy --install-command "…".';

/**
 * The project in a folder or above it; undefined when there is no package.json.
 * `mayFail`: what runs does not depend on the script `build` of the project. @throws NoRecipe
 */
export async function nodeProject(
  tree: SourceTree,
  folder: string,
  mayFail: boolean,
): Promise<NodeProject | undefined> {
  const workspace = await workspaceOf(tree, folder);
  if (!workspace) return undefined;
  const { root, own } = workspace;
  const manager = await managerOf(tree, root.folder, root.manifest);
  const { setUp, programs, warnings } = manager;
  const at = (to: string, command: string) => inFolder(folder, to, command);
  const install = manager.install.map(({ run, otherwise }) => ({
    run: at(root.folder, run),
    ...(otherwise && { otherwise: { ...otherwise, ...(otherwise.run && { run: at(root.folder, otherwise.run) }) } }),
    hint: INSTALL_HINT,
  }));
  return {
    ...{ manifest: own.manifest, setUp, install, warnings },
    build: await buildsOf(tree, workspace, { manager, folder, mayFail }),
    start: startOf(tree, own, folder, manager),
    programs: programs === undefined ? [] : [programs],
  };
}

interface Building {
  readonly manager: Manager;
  readonly folder: string;
  readonly mayFail: boolean;
}

/** The scripts `build` of the packages that are needed, and of the project; Turborepo knows their order itself. */
async function buildsOf(
  tree: SourceTree,
  { root, own, needed }: Workspace,
  { manager, folder, mayFail }: Building,
): Promise<Command[]> {
  const run = (one: Package, script: string) => inFolder(folder, one.folder, manager.script(script));
  const ofOwn = ['heroku-postbuild', 'build'].find((name) => hasScript(own, name));
  const last =
    ofOwn === undefined
      ? []
      : [
          {
            run: run(own, ofOwn),
            ...(mayFail
              ? {
                  otherwise: {
                    says: `"${ofOwn}" failed. The deployment goes on, because its graphs are in the source.`,
                  },
                }
              : { hint: BUILD_HINT }),
          },
        ];
  if (own.folder === root.folder) {
    const above = ofOwn === undefined ? needed : [];
    return [
      ...above.filter((one) => hasScript(one, 'build')).map((one) => ({ run: run(one, 'build'), hint: BUILD_HINT })),
      ...last,
    ];
  }
  const needs = needed.filter((one) => hasScript(one, 'build'));
  const { name } = own.manifest;
  if (needs.length > 0 && typeof name === 'string' && (await hasTurbo(tree, root))) {
    const turbo = inFolder(folder, root.folder, `turbo run build ${quotedAlways(`--filter=${name}^...`)}`);
    return [{ run: turbo, hint: BUILD_HINT }, ...last];
  }
  return [...needs.map((one) => ({ run: run(one, 'build'), hint: BUILD_HINT })), ...last];
}

async function hasTurbo(tree: SourceTree, { folder, manifest }: Package): Promise<boolean> {
  const settings = await tree.text(posix.join(folder, 'turbo.json'));
  return 'turbo' in dependenciesOf(manifest) && /"build"\s*:/.test(settings ?? '');
}

/** As `npm start`, which runs server.js where package.json has no script for it. */
function startOf(tree: SourceTree, own: Package, folder: string, manager: Manager): string | undefined {
  if (hasScript(own, 'start')) return inFolder(folder, own.folder, manager.script('start'));
  const hasServer = own.folder === folder && tree.files.has(posix.join(folder, 'server.js'));
  return hasServer ? 'node server.js' : undefined;
}

function hasScript({ manifest: { scripts } }: Package, name: string): boolean {
  return isObject(scripts) && typeof scripts[name] === 'string' && scripts[name].trim() !== '';
}

/** The version of a package that is installed for a folder; undefined when there is none. */
export async function installedVersion(tree: SourceTree, folders: readonly string[], name: string) {
  for (const folder of folders) {
    const found = await readObject(tree, posix.join(folder, 'node_modules', name, 'package.json')).catch(
      () => undefined,
    );
    if (typeof found?.version === 'string') return found.version;
  }
  return undefined;
}
