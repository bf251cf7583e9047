import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const SPECIFICATION = join(__dirname, 'langgraph-cli');
const CACHE = join(__dirname, '../../../../.cache');
const PROGRAM = 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs';
const INSTALL = ['ci', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--fetch-retries=2'];
const INSTALL_MS = 10 * 60_000;
const RUN_MS = 120_000;
/** What npm says when nobody answers. */
const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/;

/**
 * The deploy client's program, installed from its lock file apart from the workspace: a plain install of it hangs on
 * builds that it does not need. Installed once per checkout and lock file; undefined when the registry is out of reach.
 */
export function installedProgram(): string | undefined {
  const lock = readFileSync(join(SPECIFICATION, 'package-lock.json'));
  const name = `langgraph-cli-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`;
  const directory = join(CACHE, name);
  if (!existsSync(directory)) {
    const fresh = `${directory}.${process.pid}`;
    const installed = install(fresh);
    if (installed) moveTo(directory, fresh);
    rmSync(fresh, { recursive: true, force: true });
    if (!installed) return undefined;
  }
  return join(directory, PROGRAM);
}

function install(directory: string): boolean {
  mkdirSync(directory, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(SPECIFICATION, file), join(directory, file));
  const { status, stderr } = spawnSync('npm', INSTALL, { cwd: directory, encoding: 'utf8', timeout: INSTALL_MS });
  if (status === 0) return true;
  if (UNREACHABLE.test(stderr)) return false;
  throw new Error(`The deploy client could not be installed: ${stderr}`);
}

/** Another test run may have been faster: then its copy stays. */
function moveTo(directory: string, fresh: string): void {
  try {
    renameSync(fresh, directory);
  } catch (error) {
    if (!existsSync(directory)) throw error;
  }
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
