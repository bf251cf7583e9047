import { posix } from 'node:path';
import { graphFiles, languageOf } from './language';
import { ownServer, refuseOldLock, serverFor } from './langgraph-server';
import { installedVersion, nodeProject, type NodeProject } from './node-project';
import { readProcfile, withWorker } from './procfile';
import { graphProject, isPython, PYTHON_SERVER, pythonProject, type PythonProject } from './python-project';
import { type Command, type Members, NoRecipe, parseObject, quoted, type SourceTree, upwards } from './source-tree';
import { dependenciesOf } from './workspace';

export interface Recipe {
  /** Folder of the source in which all commands run, '.' for its root. */
  readonly folder: string;
  readonly start: string;
  /** The part of `start` that answers requests, when a worker is started beside it; absent in builds of before. */
  readonly web?: string;
  readonly release?: string;
  /** Folders of programs that were installed for the build, as a shell writes them. */
  readonly programs?: readonly string[];
  readonly venv?: boolean;
  /** Path that answers 200 when the program is ready; undefined: it is ready when it takes connections. */
  readonly health?: string;
  readonly langgraph: boolean;
}

export interface BuildPlan {
  readonly recipe: Recipe;
  readonly install: readonly Command[];
  readonly build: readonly Command[];
  /** Sentences for the log about what is not done. */
  readonly warnings: readonly string[];
  /** True when the LangGraph server for JavaScript is added, in a version that fits the installed packages. */
  readonly needsServer: boolean;
}

export interface ContainerImage {
  /** Id of its contents: its name may stand for another one later. */
  readonly id: string;
  readonly port: number;
  /** True when this server has pulled it, and may remove it again. */
  readonly pulled: boolean;
  /** Where it is; images of earlier versions do not say. */
  readonly engine?: EngineKind;
}

export type EngineKind = 'docker' | 'podman';

export interface Wanted {
  readonly install_command?: string;
  readonly build_command?: string;
  readonly graph_config_path?: string;
}

const OF_IMAGES = ['dockerfile_lines', 'base_image', 'docker_compose_file'];
/** The programs of a Procfile that are written in Python. */
const PYTHON_WORDS =
  /\b(?:python3?|pip|gunicorn|uvicorn|hypercorn|daphne|granian|waitress-serve|flask|fastapi|celery|streamlit)\b|manage\.py/;
/** Returns a configuration for a server that takes fewer members than the command lines do. */
const ALTERED = '.langgraph.fairlead.json';

/**
 * The folder of the source that holds what is built: that of the graph configuration.
 * @throws NoRecipe for a path that leaves the source
 */
function projectFolder({ graph_config_path = '' }: Wanted): string {
  const folder = posix.dirname(posix.normalize(graph_config_path));
  if (posix.isAbsolute(folder) || folder.split('/')[0] === '..') {
    throw new NoRecipe(`graph_config_path must be a path in the source, not '${graph_config_path}'.`);
  }
  return folder;
}

/** @throws NoRecipe with a sentence that says what is missing, or what is not supported, and what to do */
export async function planOf(tree: SourceTree, wanted: Wanted): Promise<BuildPlan> {
  const folder = projectFolder(wanted);
  const { graph_config_path = 'langgraph.json' } = wanted;
  const path = posix.normalize(graph_config_path);
  const text = await tree.text(path);
  if (text !== undefined) return graphPlan(tree, wanted, { path, config: parseObject(path, text) });
  if (wanted.graph_config_path !== undefined) {
    throw new NoRecipe(`graph_config_path names ${graph_config_path}, which is not in the source.`);
  }
  return webPlan(tree, wanted, folder);
}

interface GraphConfig {
  readonly path: string;
  readonly config: Members;
}

async function graphPlan(tree: SourceTree, wanted: Wanted, { path, config }: GraphConfig): Promise<BuildPlan> {
  const folder = posix.dirname(path);
  const graphs = graphFiles(config);
  const isThere = (file: string) => tree.files.has(posix.join(folder, file));
  const hasManifest = upwards(folder).some((one) => tree.files.has(posix.join(one, 'package.json')));
  const language = languageOf(config, path, hasManifest);
  const python = language === 'python' ? await graphProject(tree, folder, { file: path, config }) : undefined;
  // A server in Python needs packages of JavaScript for the components of its interface only.
  const usesNode = !python || (hasManifest && Boolean(config.ui ?? config.node_version));
  const node = usesNode ? await nodeProject(tree, folder, graphs.length > 0 && graphs.every(isThere)) : undefined;
  const altered = alteredConfig(config, posix.basename(path), language);
  const file = altered ? ALTERED : posix.basename(path);
  const serve = `dev --host 127.0.0.1 --port "$PORT" --no-browser --no-reload --config ${quoted(file)}`;
  const hasServer = '@langchain/langgraph-cli' in dependenciesOf(node?.manifest ?? {});
  const program = python ? 'langgraph' : 'langgraphjs';
  const parts = { node, python, wanted, ofImages: OF_IMAGES.filter((name) => isGiven(config[name])) };
  const plan = assembled(parts, { folder, start: `exec ${program} ${serve}`, health: '/ok', langgraph: true });
  const needsServer = !python && !hasServer;
  if (needsServer && node && !wanted.install_command?.trim()) await refuseOldLock(tree, folder, node.manifest);
  const install = [...plan.install, ...(altered ? [altered] : []), ...(python ? PYTHON_SERVER : [])];
  return { ...plan, install, needsServer };
}

/** A program that says itself how it is started: with a Procfile, or with package.json. */
async function webPlan(tree: SourceTree, wanted: Wanted, folder: string): Promise<BuildPlan> {
  const lines = readProcfile((await tree.text(posix.join(folder, 'Procfile'))) ?? '');
  const [web, worker, release] = ['web', 'worker', 'release'].map((type) => lines.get(type));
  const node = await nodeProject(tree, folder, false);
  const usesPython = isPython(tree, folder) && (!node || PYTHON_WORDS.test([...lines.values()].join('\n')));
  const python = usesPython ? await pythonProject(tree, folder) : undefined;
  const start = web ?? node?.start;
  if (start === undefined) {
    throw new NoRecipe('Nothing says how to start it: add langgraph.json, a Procfile with "web:", or a start script.');
  }
  const plan = assembled(
    { node, python, wanted, ofImages: [] },
    {
      ...{ folder, start: withWorker(start, worker), langgraph: false },
      ...(worker !== undefined && { web: start }),
      ...(release !== undefined && { release }),
    },
  );
  const others = [...lines.keys()].filter((type) => !['web', 'worker', 'release'].includes(type));
  const ignored = others.map(
    (type) => `The line "${type}:" of the Procfile is not run: only web, worker and release are.`,
  );
  return { ...plan, warnings: [...plan.warnings, ...ignored] };
}

interface Parts {
  readonly node: NodeProject | undefined;
  readonly python: PythonProject | undefined;
  readonly wanted: Wanted;
  readonly ofImages: readonly string[];
}

function assembled({ node, python, wanted, ofImages }: Parts, recipe: Recipe): BuildPlan {
  // A member of the deployment that was set cannot be taken away again, but emptied.
  const given = (command = ''): Command[] | undefined => (command.trim() === '' ? undefined : [{ run: command }]);
  const [install, build] = [given(wanted.install_command), given(wanted.build_command)];
  const packages = [...(python?.install ?? []), ...(node?.install ?? [])];
  const scripts = [...(node?.build ?? []), ...(python?.build ?? [])];
  const setUp = [...(python?.setUp ?? []), ...(node?.setUp ?? [])];
  const programs = node?.programs ?? [];
  return {
    recipe: { ...recipe, ...(programs.length > 0 && { programs }), ...(python && { venv: true }) },
    install: [...setUp, ...(install ?? packages)],
    build: build ?? scripts,
    warnings: [
      ...(install ? [] : [...(python?.warnings ?? []), ...(node?.warnings ?? [])]),
      ...ofImages.map((name) => `${name} of the graph configuration has no effect here: no image is made.`),
    ],
    needsServer: false,
  };
}

/** Adds the LangGraph server for JavaScript to a plan whose packages are installed. @throws NoRecipe */
export async function withServer(plan: BuildPlan, tree: SourceTree): Promise<BuildPlan> {
  if (!plan.needsServer) return plan;
  const { recipe } = plan;
  const version = await installedVersion(tree, upwards(recipe.folder), '@langchain/langgraph');
  const { install, program } = ownServer(serverFor(version));
  const start = recipe.start.replace(/^exec \S+/, () => `exec ${program}`);
  return { ...plan, recipe: { ...recipe, start }, build: [install, ...plan.build] };
}

/** A copy of the configuration without members that the command lines take, and the server for development does not. */
function alteredConfig(config: Members, file: string, language: 'node' | 'python'): Command | undefined {
  const without = [
    // The names of variables that are needed: the secrets of the deployment have them.
    ...(Array.isArray(config.env) ? ['env'] : []),
    ...(language === 'python' && isGiven(config.node_version) ? ['node_version'] : []),
  ];
  if (without.length === 0) return undefined;
  const script =
    'const [from, to, ...names] = process.argv.slice(1); const config = JSON.parse(fs.readFileSync(from, "utf8")); ' +
    'for (const name of names) delete config[name]; fs.writeFileSync(to, JSON.stringify(config));';
  return { run: `node -e '${script}' ${[file, ALTERED, ...without].map(quoted).join(' ')}` };
}

export function programFolders({ folder, programs = [], venv }: Recipe, build: string, home: string): string[] {
  const modules = upwards(folder).map((one) => posix.join(build, one, 'node_modules/.bin'));
  const own = programs.map((one) => one.replaceAll('"', '').replace('$HOME', () => home));
  return [...(venv ? [posix.join(build, folder, '.venv/bin')] : []), ...modules, ...own];
}

export function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}
