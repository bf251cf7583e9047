import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cachedInstall } from './cached-install';

const CACHE = join(__dirname, '../../../../.cache');
const PROGRAM = 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs';
const RUN_MS = 280_000;

/**
 * The deploy client's program, installed apart from the workspace and without optional packages: a plain install of it
 * hangs on builds that it does not need. Undefined when the registry is out of reach.
 */
export function installedProgram(): string | undefined {
  const directory = cachedInstall('langgraph-cli', '--omit=optional');
  return directory && join(directory, PROGRAM);
}

export interface Said {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Runs a program to its end, with this environment and no other. */
export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Said> {
  return new Promise((settle) => {
    const child = execFile(program, args, { cwd, env, timeout: RUN_MS }, (error, output, errors) =>
      settle({ code: error ? Number(error.code ?? -1) : 0, output, errors }),
    );
    child.stdin!.end();
  });
}

/** The command line for Python, where the test run of a clean clone installs it, or another of that name; undefined when there is none. */
export function installedPythonProgram(): string | undefined {
  return [join(CACHE, 'langgraph-python/bin/langgraph'), 'langgraph'].find((program) => {
    const { status, stdout } = spawnSync(program, ['deploy', '--help'], { encoding: 'utf8', timeout: RUN_MS });
    return status === 0 && stdout.includes('--image-uri');
  });
}
