import { type Command, installOwn, NoRecipe, ownFolder } from './source-tree';

/**
 * Versions of the LangGraph server for JavaScript, the newest first, each with the oldest version of
 * `@langchain/langgraph` that it can serve: it uses the one of the project.
 */
const SERVERS = [
  { server: '1.5.1', since: [1, 4, 18] },
  { server: '1.1.17', since: [0, 2, 57] },
] as const;
const NEWEST = SERVERS[0].server;

/** The version of the server for a project that has this version of `@langchain/langgraph`. @throws NoRecipe */
export function serverFor(installed: string | undefined): string {
  const found = /^(\d+)\.(\d+)\.(\d+)/
    .exec(installed ?? '')
    ?.slice(1)
    .map(Number);
  // A version that is not understood, such as that of a link, is taken for the newest.
  if (!found) return NEWEST;
  const server = SERVERS.find(({ since }) => !isBefore(found, since))?.server;
  if (server !== undefined) return server;
  throw new NoRecipe(
    `The project has @langchain/langgraph ${installed}, which is too old for every LangGraph server: ` +
      `raise it to ${SERVERS.at(-1)!.since.join('.')} or newer, in package.json and in the lock file.`,
  );
}

/** Commands that install the server into a folder of its own, and the command that starts it. */
export function ownServer(version: string): { readonly install: Command; readonly program: string } {
  const name = `langgraphjs-${version}`;
  return {
    install: installOwn(name, `@langchain/langgraph-cli@${version}`),
    program: `${ownFolder(name)}/node_modules/.bin/langgraphjs`,
  };
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at >= 0 && a[at]! < b[at]!;
}
