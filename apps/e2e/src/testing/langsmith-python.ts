import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Where the test run of a clean clone installs the SDK. */
const CACHE = join(__dirname, '../../../../.cache');
const INSTALLED = join(CACHE, 'python/bin/python');
const INSTALLED_OLDER = join(CACHE, 'python-0.4.46/bin/python');
const PROGRAMS = join(__dirname, 'langsmith-python');
const RUN_MS = 280_000;

/** A Python that has the SDK; undefined when there is none. */
export function pythonWithSdk(): string | undefined {
  return [INSTALLED, 'python3'].find(hasSdk);
}

/** A Python that has version 0.4.46 of the SDK; undefined when there is none. */
export function pythonWithOlderSdk(): string | undefined {
  return [INSTALLED_OLDER].find(hasSdk);
}

/** A Python that has the program `langsmith-fetch`; undefined when there is none. */
export function pythonWithFetch(): string | undefined {
  return [INSTALLED].find((python) => has(python, 'langsmith_cli'));
}

function hasSdk(python: string): boolean {
  return has(python, 'langsmith');
}

function has(python: string, module: string): boolean {
  return spawnSync(python, ['-c', `import ${module}`], { stdio: 'ignore', timeout: RUN_MS }).status === 0;
}

/** Runs one of the programs beside this file; what it prints as `made {…}`. */
export function runProgram(
  python: string,
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  return new Promise((resolve, reject) => {
    const program = join(PROGRAMS, name);
    execFile(
      python,
      [program, ...args],
      { env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', ...env }, timeout: RUN_MS },
      (error, output, errors) => {
        const made = /^made (.*)$/m.exec(output)?.[1];
        if (made === undefined) reject(error ?? new Error(`${name} made nothing: ${errors}`));
        else resolve(JSON.parse(made) as Readonly<Record<string, string>>);
      },
    );
  });
}
