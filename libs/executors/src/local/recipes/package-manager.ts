import { parse } from 'yaml';
import { isObject } from '@fairlead/schema';
import { type Command, installOwn, type Members, NoRecipe, ownFolder, type SourceTree } from './source-tree';

type ManagerName = 'npm' | 'pnpm' | 'yarn';

export interface Manager {
  readonly name: ManagerName;
  /** Commands that install the package manager itself; none for npm. */
  readonly setUp: readonly Command[];
  readonly programs: string | undefined;
  /** Runs in the folder of the lock file. */
  readonly install: readonly Command[];
  readonly script: (name: string) => string;
  readonly warnings: readonly string[];
}

const LOCKS: Readonly<Record<string, readonly string[]>> = {
  // In the order in which the LangGraph command lines look for them.
  yarn: ['yarn.lock'],
  pnpm: ['pnpm-lock.yaml'],
  npm: ['npm-shrinkwrap.json', 'package-lock.json'],
  bun: ['bun.lock', 'bun.lockb'],
};
const KNOWN: readonly string[] = ['npm', 'pnpm', 'yarn'];

/** The package manager of the folder of a source that holds its lock file. @throws NoRecipe for one that is not known */
export async function managerOf(tree: SourceTree, root: string, manifest: Members): Promise<Manager> {
  const at = (name: string) => (root === '.' ? name : `${root}/${name}`);
  const locks = Object.entries(LOCKS).flatMap(([manager, names]) => {
    const name = names.find((one) => tree.files.has(at(one)));
    return name === undefined ? [] : [{ manager, name }];
  });
  const named = namedBy(manifest);
  const found = named?.name ?? locks[0]?.manager ?? (tree.files.has(at('pnpm-workspace.yaml')) ? 'pnpm' : 'npm');
  if (named && !KNOWN.includes(found)) {
    throw new NoRecipe(
      `package.json names the package manager ${found}, which cannot be used here: ` +
        'name npm, pnpm or yarn as packageManager, or set install_command.',
    );
  }
  const name = (KNOWN.includes(found) ? found : 'npm') as ManagerName;
  const lock = locks.find(({ manager }) => manager === name)?.name;
  const warnings = locks
    .filter(({ manager }) => manager !== name)
    .map((one) => `${one.name} is not used: the packages are installed with ${name}.`);
  if (name === 'npm') return { ...npm(lock), warnings };
  const text = lock === undefined ? '' : ((await tree.text(at(lock))) ?? '');
  const version = named?.version ?? (name === 'pnpm' ? pnpmVersion(text) : yarnVersion(text));
  const settings = name === 'yarn' ? ((await tree.text(at('.yarnrc.yml'))) ?? '') : '';
  const commands = name === 'pnpm' ? pnpm(lock) : yarn(lock, version, settings);
  const own = installed(name, version, named?.checksum);
  return { name, ...own, ...commands, warnings: [...warnings, ...own.warnings] };
}

function namedBy({ packageManager, devEngines }: Members) {
  if (typeof packageManager === 'string') {
    const [, name, version, checksum] = /^([\w-]+)(?:@([^+]+)(?:\+(.+))?)?$/.exec(packageManager) ?? [];
    if (name === undefined) throw new NoRecipe(`packageManager of package.json is not understood: ${packageManager}.`);
    return { name, version, checksum };
  }
  const engine = isObject(devEngines) ? devEngines.packageManager : undefined;
  const first: unknown = Array.isArray(engine) ? engine[0] : engine;
  if (!isObject(first) || typeof first.name !== 'string') return undefined;
  const version = typeof first.version === 'string' ? first.version : undefined;
  return { name: first.name, version, checksum: undefined };
}

function npm(lock: string | undefined): Omit<Manager, 'warnings'> {
  const free = 'npm install --no-audit --no-fund';
  const install = lock === undefined ? { run: free } : frozen(lock, 'npm ci --no-audit --no-fund', free);
  return {
    ...{ name: 'npm', setUp: [], programs: undefined, install: [install] },
    script: (name) => (name === 'start' ? 'npm start --silent' : `npm run ${name}`),
  };
}

function pnpm(lock: string | undefined): Pick<Manager, 'install' | 'script'> {
  // What is fetched is kept where the caches of all builds are.
  const run = 'pnpm install --store-dir "$HOME/.cache/pnpm"';
  const free = `${run} --no-frozen-lockfile`;
  return {
    install: [lock === undefined ? { run: free } : frozen(lock, `${run} --frozen-lockfile`, free)],
    script: (name) => (name === 'start' ? 'pnpm --silent run start' : `pnpm run ${name}`),
  };
}

function yarn(lock: string | undefined, version: string, settings: string): Pick<Manager, 'install' | 'script'> {
  if (isClassic(version)) {
    const run = 'yarn install --non-interactive';
    return {
      install: [lock === undefined ? { run } : frozen(lock, `${run} --frozen-lockfile`, run)],
      script: (name) => (name === 'start' ? 'yarn --silent run start' : `yarn run ${name}`),
    };
  }
  const set = [
    // The LangGraph server and other programs look for packages in node_modules.
    ...(/^nodeLinker:/m.test(settings) ? [] : ['yarn config set nodeLinker node-modules']),
    ...(/^httpsCaFilePath:/m.test(settings) ? [] : [CA_OF_NPM]),
    ...(/^npmRegistryServer:/m.test(settings)
      ? []
      : ['yarn config set npmRegistryServer "$(npm config get registry)"']),
  ];
  const [exact, free] = ['yarn install --immutable', 'yarn install --no-immutable'];
  const install = lock === undefined ? { run: free } : frozen(lock, exact, free);
  return { install: [...set.map((run) => ({ run })), install], script: (name) => `yarn run ${name}` };
}

/** Yarn does not read which certificates npm trusts on this machine. */
const CA_OF_NPM =
  'cafile="$(npm config get cafile)"; [ "$cafile" = null ] || yarn config set httpsCaFilePath "$cafile"';

function frozen(lock: string, exact: string, free: string): Command {
  const says = `${lock} could not be used as it is, as said above: newer versions may be installed.`;
  return { run: exact, otherwise: { says, run: free } };
}

/** Installs the package manager with npm, which knows the registry of this machine, into a folder of its own. */
function installed(name: 'pnpm' | 'yarn', version: string, checksum: string | undefined) {
  const isBerry = name === 'yarn' && !isClassic(version);
  const spec = `${isBerry ? '@yarnpkg/cli-dist' : name}@${version}`;
  const folder = `${name}-${version.replaceAll(/[^\w.-]/g, '_')}`;
  const [algorithm, digest = ''] = checksum?.split('.') ?? [];
  // The checksum of a newer Yarn is that of another file than the one on npm.
  const isChecked = algorithm === 'sha512' && /^[0-9a-f]{128}$/.test(digest) && !isBerry;
  const list = `"$HOME/.fairlead/${folder}.new/node_modules/.package-lock.json"`;
  const wanted = `sha512-${Buffer.from(digest, 'hex').toString('base64')}`;
  const check = `{ grep -qF '${wanted}' ${list} || { echo 'Its checksum is not that of packageManager.' >&2; false; }; }`;
  const hint = `${spec} could not be had from npm: name a version that npm has as packageManager in package.json, or set install_command.`;
  return {
    setUp: [{ ...installOwn(folder, spec, isChecked ? check : ''), hint }],
    programs: `${ownFolder(folder)}/node_modules/.bin`,
    warnings:
      checksum === undefined || isChecked
        ? []
        : [`The checksum in packageManager is not compared: ${spec} is installed as npm has it.`],
  };
}

function pnpmVersion(lock: string): string {
  const format = /^lockfileVersion: '?(\d+)/m.exec(lock)?.[1];
  return { '5': '7', '6': '8' }[format ?? ''] ?? '10';
}

function yarnVersion(lock: string): string {
  return /^__metadata:/m.test(lock) ? '4' : '1.22.22';
}

function isClassic(version: string): boolean {
  return /^\D*[01]\b/.test(version);
}

const LONGEST_YAML = 65_536;

export function parsedYaml(text: string): Members {
  if (text.length > LONGEST_YAML) return {};
  try {
    const value: unknown = parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
