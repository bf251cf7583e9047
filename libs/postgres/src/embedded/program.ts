import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseProblem } from '../database/problem';
import { reachable, type ServerUser } from './server-user';

interface Program {
  readonly file: string;
  /** Arguments, given the name under which `directory` is to be used. */
  readonly arguments: (directory: string) => string[];
  readonly user: ServerUser;
  readonly directory: string;
  /** Where the program writes to: a file descriptor, or a pipe. */
  readonly output: number | 'pipe';
  /** Standard input of the program; empty when absent. */
  readonly input?: string;
}

/**
 * Starts a program as another user in its own process group, so that Ctrl-C in a terminal does not reach it. Below a
 * private home that user could not pass the directories above, so there it gets an open descriptor of the directory.
 */
export function start({ file, arguments: list, user, directory, output, input }: Program): ChildProcess {
  const direct = reachable(directory, user);
  if (!direct && !existsSync('/proc/self/fd')) {
    throw new DatabaseProblem(
      `PostgreSQL does not run as root and its user cannot reach ${directory}: choose another FAIRLEAD_DATA_DIR.`,
    );
  }
  const descriptor = direct ? undefined : openSync(directory, 'r');
  try {
    const child = spawn(file, list(direct ? directory : '/proc/self/fd/3'), {
      ...user,
      cwd: '/',
      detached: true,
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      stdio: [
        input === undefined ? 'ignore' : 'pipe',
        output,
        output,
        ...(descriptor === undefined ? [] : [descriptor]),
      ],
    });
    // A program that ends before it has read everything says why itself.
    child.stdin?.on('error', () => undefined).end(input);
    return child;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Resolves with what the program wrote when it ends well; else throws that. */
export async function succeeded(program: ChildProcess): Promise<string> {
  let output = '';
  for (const stream of [program.stdout, program.stderr])
    stream?.on('data', (data: Buffer) => (output += data.toString()));
  const code = await new Promise<number | null>((resolve, reject) =>
    program.once('error', reject).once('close', resolve),
  );
  if (code !== 0) throw new Error(output.trim() || `ended with code ${code}`);
  return output;
}
