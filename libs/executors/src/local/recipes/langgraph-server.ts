import { posix } from 'node:path';
import { type Command, installOwn, type Members, NoRecipe, ownFolder, type SourceTree, upwards } from './source-tree';
import { dependenciesOf } from './workspace';

/**
 * Versions of the LangGraph server for JavaScript, the newest first, each with the oldest version of
 * `@langchain/langgraph` that it can serve: it uses the one of the project.
 */
const SERVERS = [
  { server: '1.5.1', since: [1, 4, 18] },
  { server: '1.1.17', since: [0, 2, 57] },
] as const;
const NEWEST = SERVERS[0].server;

const LOCKED: readonly (readonly [string, RegExp])[] = [
  ['yarn.lock', /^"?@langchain\/langgraph@[^\n]*:\n\s+version:? "?(\d[\w.-]*)/gm],
  ['pnpm-lock.yaml', /^\s+'?\/?@langchain\/langgraph[@/](\d[\w.-]*)/gm],
  ['npm-shrinkwrap.json', /node_modules\/@langchain\/langgraph": \{\s*"version": "(\d[\w.-]*)"/g],
  ['package-lock.json', /node_modules\/@langchain\/langgraph": \{\s*"version": "(\d[\w.-]*)"/g],
];

/**
 * Refuses a project before its packages are installed when every version in its lock file is too old. A lock file that
 * package.json has outrun is not believed, because newer versions are installed then. @throws NoRecipe
 */
export async function refuseOldLock(tree: SourceTree, folder: string, manifest: Members): Promise<void> {
  const wanted = numbers(/\d+\.\d+\.\d+/.exec(String(dependenciesOf(manifest)['@langchain/langgraph']))?.[0]);
  for (const above of upwards(folder)) {
    const locks = LOCKED.filter(([name]) => tree.files.has(posix.join(above, name)));
    if (locks.length === 0) continue;
    // With several lock files, the package manager decides which one holds.
    if (locks.length > 1) return;
    const [[name, version]] = locks as [(typeof LOCKED)[number]];
    const text = (await tree.text(posix.join(above, name))) ?? '';
    const versions = [...text.matchAll(version)].map(([, found]) => found!);
    const newest = versions.reduce<string | undefined>(
      (one, other) => (one !== undefined && !isBefore(numbers(one)!, numbers(other) ?? [0, 0, 0]) ? one : other),
      undefined,
    );
    const found = numbers(newest);
    if (found && (!wanted || !isBefore(found, wanted))) serverFor(newest);
    return;
  }
}

/** The version of the server for a project that has this version of `@langchain/langgraph`. @throws NoRecipe */
export function serverFor(installed: string | undefined): string {
  const found = numbers(installed);
  // A version that is not understood, such as that of a link, is taken for the newest.
  if (!found) return NEWEST;
  const server = SERVERS.find(({ since }) => !isBefore(found, since))?.server;
  if (server !== undefined) return server;
  throw new NoRecipe(
    `The project has @langchain/langgraph ${installed}, which is too old for every LangGraph server: ` +
      `raise it to ${SERVERS.at(-1)!.since.join('.')} or newer, in package.json and in the lock file.`,
  );
}

export function ownServer(version: string): { readonly install: Command; readonly program: string } {
  const name = `langgraphjs-${version}`;
  return {
    install: installOwn(name, `@langchain/langgraph-cli@${version}`),
    program: `${ownFolder(name)}/node_modules/.bin/langgraphjs`,
  };
}

function numbers(version: string | undefined): number[] | undefined {
  return /^(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? '')
    ?.slice(1)
    .map(Number);
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at]! < b[at]!;
}
