import { posix } from 'node:path';
import { isObject } from '@fairlead/schema';
import {
  type Command,
  hasFolder,
  inFolder,
  type Members,
  NoRecipe,
  quoted,
  type SourceTree,
  stringsOf,
} from './source-tree';

export interface PythonProject {
  readonly setUp: readonly Command[];
  readonly install: readonly Command[];
  readonly build: readonly Command[];
  readonly warnings: readonly string[];
}

const SERVER = 'langgraph-cli[inmem]==0.4.40';
const PACKAGE_FILES = ['pyproject.toml', 'setup.py'];
const LOCKS = ['uv.lock', 'poetry.lock', 'Pipfile.lock', 'pdm.lock'];
const HINT = 'Another command can be set as install_command: fairlead deploy --install-command "…".';

export function isPython({ files }: SourceTree, folder: string): boolean {
  return ['requirements.txt', ...PACKAGE_FILES].some((name) => files.has(posix.join(folder, name)));
}

/** The packages of a folder with no graph configuration, as Heroku installs them. */
export async function pythonProject(tree: SourceTree, folder: string): Promise<PythonProject> {
  const version = (await tree.text(posix.join(folder, '.python-version')))?.trim();
  const install = tree.files.has(posix.join(folder, 'requirements.txt'))
    ? [{ run: 'pip install --quiet -r requirements.txt', hint: HINT }]
    : await packageIn(tree, folder, folder);
  // The values of secrets, which some settings need, are not there while it is built.
  const says = 'The static files could not be collected: "python manage.py collectstatic" can be a line "release:".';
  const collect = { run: 'python manage.py collectstatic --noinput', otherwise: { says } };
  const build = tree.files.has(posix.join(folder, 'manage.py')) ? [collect] : [];
  return { setUp: [venv(version)], install, build, warnings: unusedLocks(tree, folder) };
}

/**
 * The packages of a graph configuration, as the LangGraph command lines install them: packages of `dependencies`, and of
 * its folders those that are packages; the others with their requirements.txt, on the path of Python.
 * @throws NoRecipe for a folder that is not in the source
 */
export async function graphProject(
  tree: SourceTree,
  folder: string,
  { file, config }: { readonly file: string; readonly config: Members },
): Promise<PythonProject> {
  if (isObject(config.source)) {
    throw new NoRecipe(`source of ${file} is not supported here: name the packages in dependencies.`);
  }
  const listed = stringsOf(config.dependencies);
  const local = listed.filter((one) => one.startsWith('.'));
  const packages = listed.filter((one) => !one.startsWith('.'));
  const settings =
    typeof config.pip_config_file === 'string' ? `PIP_CONFIG_FILE=${quoted(config.pip_config_file)} ` : '';
  const pip = `${settings}pip install --quiet`;
  const paths: string[] = [];
  const requirements: string[] = [];
  const own: Command[] = [];
  for (const one of listed.length > 0 ? local : ['.']) {
    const path = posix.join(folder, one).replace(/(?<=.)\/$/, '');
    if (tree.files.has(path)) throw new NoRecipe(`dependencies of ${file} names ${one}, which must be a folder.`);
    if (path.split('/')[0] === '..' || !hasFolder(tree, path)) {
      throw new NoRecipe(`dependencies of ${file} names the folder ${one}, which is not in the source.`);
    }
    const has = (name: string) => tree.files.has(posix.join(path, name));
    if (PACKAGE_FILES.some(has)) own.push(...(await packageIn(tree, folder, path, pip)));
    else {
      if (has('requirements.txt')) requirements.push(posix.relative(folder, posix.join(path, 'requirements.txt')));
      paths.push(has('__init__.py') && path !== '.' ? posix.dirname(path) : path);
    }
  }
  const wanted = [...requirements.map((name) => `-r ${quoted(name)}`), ...packages.map(quoted)];
  const install = [
    ...(wanted.length > 0 ? [{ run: `${pip} ${wanted.join(' ')}`, hint: HINT }] : []),
    ...(paths.length > 0 ? [{ run: onPath(folder, paths) }] : []),
    ...own,
  ];
  const version = typeof config.python_version === 'string' ? config.python_version : undefined;
  return { setUp: [venv(version)], install, build: [], warnings: unusedLocks(tree, folder) };
}

export const PYTHON_SERVER: readonly Command[] = [
  { run: 'pip list --format=freeze --exclude-editable > .venv/installed.txt' },
  {
    run: `pip install --quiet -c .venv/installed.txt '${SERVER}'`,
    otherwise: {
      says: `${SERVER} does not fit the packages of the project: a version that fits is looked for.`,
      run: `pip install --quiet -c .venv/installed.txt 'langgraph-cli[inmem]'`,
    },
    hint: 'No LangGraph server fits the packages of the project: raise the version of langgraph in its dependencies.',
  },
];

/** A virtual environment of this version of Python, as far as this machine has it. */
function venv(version: string | undefined): Command {
  const any = 'python3 -m venv .venv';
  const minor = /^(?:python-)?(3\.\d+)/.exec(version ?? '')?.[1];
  if (minor === undefined) return { run: any };
  const says = `Python ${minor}, which the source asks for, is not on this machine: its python3 is used.`;
  return { run: `python${minor} -m venv .venv`, otherwise: { says, run: any } };
}

/** Installs a folder that is a package; of a project that is none, what it depends on. */
async function packageIn(
  tree: SourceTree,
  from: string,
  folder: string,
  pip = 'pip install --quiet',
): Promise<Command[]> {
  const text = (await tree.text(posix.join(folder, 'pyproject.toml'))) ?? '';
  const isPackage = tree.files.has(posix.join(folder, 'setup.py')) || !/^\[project\]/m.test(text);
  if (isPackage || /^\[(build-system|tool\.setuptools\b.*)\]/m.test(text)) {
    return [{ run: `${pip} -e ${quoted(posix.relative(from, folder) || '.')}`, hint: HINT }];
  }
  const read =
    'import pip._vendor.tomli as t; print("\\n".join(t.load(open("pyproject.toml", "rb"))["project"].get("dependencies", [])))';
  const run = inFolder(from, folder, `python -c '${read}' > "$VIRTUAL_ENV/dependencies.txt"`);
  return [
    { run },
    { run: `${pip} -r "$VIRTUAL_ENV/dependencies.txt"`, hint: HINT },
    {
      run: onPath(
        from,
        [folder, posix.join(folder, 'src')].filter((one) => hasFolder(tree, one)),
      ),
    },
  ];
}

function onPath(from: string, folders: readonly string[]): string {
  const target = '"$(python -c \'import sysconfig; print(sysconfig.get_path("purelib"))\')/fairlead.pth"';
  const lines = folders.map((one) => `"$PWD"/${quoted(posix.relative(from, one) || '.')}`);
  return `printf '%s\\n' ${lines.join(' ')} >> ${target}`;
}

function unusedLocks({ files }: SourceTree, folder: string): string[] {
  return LOCKS.filter((name) => files.has(posix.join(folder, name))).map(
    (name) => `${name} is not used: pip installs the versions that the project asks for.`,
  );
}
