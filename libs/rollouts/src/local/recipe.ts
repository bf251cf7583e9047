import { posix } from 'node:path';

/** How a source is built and started. */
export interface Recipe {
  /** Shell commands that install and build, in order. */
  readonly build: readonly string[];
  /** Folder of the source in which all commands run, '.' for its root. */
  readonly folder: string;
  /** Shell command that serves on $PORT. */
  readonly start: string;
  /** Path that answers 200 when the program is ready; undefined: it is ready when it takes connections. */
  readonly health?: string;
  /** The LangGraph server for development, whose state is in files of its folder. */
  readonly langgraph: boolean;
}

/** An image of a container source, as it was when it was pulled. */
export interface ContainerImage {
  /** Id of its contents: its name may stand for another one later. */
  readonly id: string;
  /** Port at which its program listens. */
  readonly port: number;
  /** Whether this server has fetched it, and may remove it again. */
  readonly pulled: boolean;
  /** Where it is; images of earlier versions do not say. */
  readonly engine?: EngineKind;
}

/** The container engines that are known. */
export type EngineKind = 'docker' | 'podman';

/** What is looked at of a source: names in the folder, and the text of the files there that say how to run it. */
interface Source {
  readonly files: ReadonlySet<string>;
  readonly langgraph?: string;
  readonly packageJson?: string;
  readonly procfile?: string;
}

export interface Wanted {
  readonly install_command?: string;
  readonly build_command?: string;
  readonly graph_config_path?: string;
}

/** The source names nothing that can be started. */
export class NoRecipe extends Error {}

/** Versions of the LangGraph server for development, used where a project lists none. */
const LANGGRAPH_CLI = '@langchain/langgraph-cli@1.5.1';
const LANGGRAPH_PYTHON = 'langgraph-cli[inmem]==0.4.40';

/**
 * The folder of the source that holds what is built: that of the graph configuration.
 * @throws NoRecipe for a path that leaves the source
 */
export function projectFolder({ graph_config_path = '' }: Wanted): string {
  const folder = posix.dirname(posix.normalize(graph_config_path));
  if (posix.isAbsolute(folder) || folder.split('/')[0] === '..') {
    throw new NoRecipe(`graph_config_path must be a path in the source, not '${graph_config_path}'.`);
  }
  return folder;
}

/** @throws NoRecipe with a sentence that says what is missing, or which file cannot be read */
export function recipeOf(source: Source, wanted: Wanted): Recipe {
  const config = source.langgraph === undefined ? undefined : parsed('langgraph.json', source.langgraph);
  const manifest = source.packageJson === undefined ? undefined : parsed('package.json', source.packageJson);
  const python = config ? 'python_version' in config || 'dependencies' in config : isPython(source.files);
  const install = wanted.install_command ?? (python ? pythonInstall(source.files, config) : nodeInstall(source.files));
  const build = [install, wanted.build_command ?? ''].filter((command) => command !== '');
  const folder = projectFolder(wanted);
  if (config) return { folder, ...langgraph(build, manifest, python, configFile(wanted)) };
  const web = /^web:\s*(\S.*)$/m.exec(source.procfile ?? '')?.[1];
  const scripts = manifest?.scripts as Readonly<Record<string, unknown>> | undefined;
  const start = web ?? (typeof scripts?.start === 'string' ? 'npm start --silent' : undefined);
  if (start === undefined) {
    throw new NoRecipe('Nothing says how to start it: add langgraph.json, a Procfile with "web:", or a start script.');
  }
  return { folder, build, start, langgraph: false };
}

/** Name of the graph configuration in its folder. */
export function configFile({ graph_config_path = 'langgraph.json' }: Wanted): string {
  return posix.basename(graph_config_path);
}

function langgraph(
  build: readonly string[],
  manifest: Readonly<Record<string, unknown>> | undefined,
  python: boolean,
  file: string,
): Omit<Recipe, 'folder'> {
  const config = quoted(file);
  const common = { health: '/ok', langgraph: true };
  if (python) {
    const serve = `exec .venv/bin/langgraph dev --host 127.0.0.1 --port "$PORT" --no-browser --no-reload --config ${config}`;
    return { build: [...build, `.venv/bin/pip install --quiet '${LANGGRAPH_PYTHON}'`], start: serve, ...common };
  }
  const listed = Object.keys({ ...(manifest?.dependencies ?? {}), ...(manifest?.devDependencies ?? {}) });
  const own = listed.includes('@langchain/langgraph-cli');
  const add = own ? [] : [`npm install --no-save --no-audit --no-fund ${LANGGRAPH_CLI}`];
  const serve = `exec node_modules/.bin/langgraphjs dev --host 127.0.0.1 --port "$PORT" --no-browser --no-reload --config ${config}`;
  return { build: [...build, ...add], start: serve, ...common };
}

function nodeInstall(files: ReadonlySet<string>): string {
  if (!files.has('package.json')) return '';
  return `npm ${files.has('package-lock.json') ? 'ci' : 'install'} --no-audit --no-fund`;
}

function isPython(files: ReadonlySet<string>): boolean {
  return !files.has('package.json') && (files.has('requirements.txt') || files.has('pyproject.toml'));
}

function pythonInstall(files: ReadonlySet<string>, config: Readonly<Record<string, unknown>> | undefined): string {
  const listed = (Array.isArray(config?.dependencies) ? config.dependencies : []).filter(
    (one): one is string => typeof one === 'string',
  );
  const folders = listed.filter((one) => one.startsWith('.'));
  const packages = listed.filter((one) => !one.startsWith('.'));
  const wanted = [
    ...(files.has('requirements.txt') ? ['-r requirements.txt'] : []),
    ...(files.has('pyproject.toml') && (folders.length > 0 || !config) ? ['-e .'] : []),
    ...packages.map(quoted),
  ];
  const venv = 'python3 -m venv .venv';
  return wanted.length === 0 ? venv : `${venv} && .venv/bin/pip install --quiet ${wanted.join(' ')}`;
}

function parsed(name: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new NoRecipe(`${name} is not a JSON object.`);
}

/** A word for a shell that holds exactly this text. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
