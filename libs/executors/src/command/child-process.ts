import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { causeIn } from '../output/cause';
import { type Step, StepFailed, type TextSink } from '../port/executor';

/** Time that a program has to end by itself after it was told to. */
const GRACE_MS = 5000;
/** Time for which the output of a program is read after its end; something that it left running may hold it open. */
const DRAIN_MS = 500;

interface Program {
  readonly words: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** User that it runs as; the user of the service when absent. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** It and all that it started end when the service does, however that ends. */
  readonly watched?: boolean;
  /** Limits a process and all that it starts, given its id; only for what is watched. */
  readonly limit?: (pid: number) => LimitedProcesses;
}

interface LimitedProcesses {
  /** Their end in words for a sentence: `how`, with the limit that was the cause, if any. */
  explain(how: string): string;
  end(): Promise<void>;
}

/**
 * A shell that ends its whole process group when its standard input ends, which is when the service is gone, and becomes
 * the program in its arguments, which reads nothing.
 */
export const WATCHED = [
  ...['/bin/sh', '-c'],
  // A shell gives what it starts in the background an empty standard input, so that it must be passed on by another number.
  'exec 3<&0 < /dev/null; ( cat <&3 > /dev/null; kill -s KILL -- -$$ ) & exec 3<&-; exec "$@"',
  'sh',
];

/** Waits for a line before it becomes the program in its arguments, so that the process has its limits by then. */
export const GATE = ['/bin/sh', '-c', 'read -r _ && exec "$@"', 'sh'];

/** A program was started, and did not end with exit code 0. */
export class CommandFailed extends StepFailed {
  /** @param told What it wrote, from the cause on; empty when it wrote nothing. @param hint What to do about it. */
  constructor(
    name: string,
    readonly how: string,
    readonly told: string,
    hint = '',
  ) {
    super([`${name} ${how}.`, hint, told && `Its last lines: ${told}`].filter((part) => part !== '').join(' '));
  }
}

/**
 * The words that run a program in a folder as the user who runs them: with `cwd`, root would go there, through links of
 * that user to folders that are closed to it.
 */
export function within(folder: string, words: readonly string[]): string[] {
  return ['/bin/sh', '-c', 'cd -- "$0" && exec "$@"', folder, ...words];
}

/**
 * Runs a program without a shell and logs what it writes, standard error as warnings. When `signal` aborts, it and all
 * that it started are told to end, and killed after five seconds.
 * @throws CommandFailed unless it ends with exit code 0.
 */
export async function runProgram(
  { words, cwd, env, user, watched = false, limit }: Program,
  { signal, output, safe }: Step,
): Promise<void> {
  signal.throwIfAborted();
  const [command = '', ...args] = watched ? [...GATE, ...WATCHED, ...words] : words;
  const stdio = [watched ? 'pipe' : 'ignore', 'pipe', 'pipe'] as ['pipe' | 'ignore', 'pipe', 'pipe'];
  const child = spawn(command, args, { cwd, env, detached: true, shell: false, stdio, ...user });
  child.stdin?.on('error', () => undefined);
  const limited = child.pid === undefined ? undefined : limit?.(child.pid);
  child.stdin?.write('\n');
  const exit = new Promise<string | undefined>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve(`cannot be started (${error.code ?? error.message})`),
    );
    child.once('exit', (code, killed) =>
      resolve(code === 0 ? undefined : `ended with ${killed ?? `exit code ${code}`}`),
    );
  });
  const last = new LastLines();
  const told = Promise.all([
    pump(child.stdout!, last.beside(output('INFO'))),
    pump(child.stderr!, last.beside(output('WARNING'))),
  ]);
  const end = () => void terminate(child, exit);
  signal.addEventListener('abort', end, { once: true });
  const failure = await exit;
  signal.removeEventListener('abort', end);
  await Promise.race([told, delay(DRAIN_MS, undefined, { ref: false })]);
  child.stdout!.destroy();
  child.stderr!.destroy();
  await told;
  if (signal.aborted || failure !== undefined || watched) kill(child, 'SIGKILL');
  const why = failure === undefined ? undefined : (limited?.explain(failure) ?? failure);
  await limited?.end();
  signal.throwIfAborted();
  if (why !== undefined) {
    throw new CommandFailed(watched ? 'The command' : command, why, causeIn(last.lines(safe)));
  }
}

/** Characters of the output of a program that are kept for a reason. */
const MOST_KEPT = 64 * 1024;

/** The last lines that a program wrote to either of its streams, in the order of the parts that came. */
class LastLines {
  private text = '';

  /** A sink that also remembers what it takes. */
  beside(sink: TextSink): TextSink {
    const write = async (text: string) => {
      this.text = (this.text + text).slice(-MOST_KEPT);
      await sink.write(text);
    };
    return { write, end: () => sink.end() };
  }

  /** Without secrets: the first line, which may be cut, is left out when there was more before. */
  lines(safe: (text: string) => string): string[] {
    const lines = safe(this.text).split(/\r?\n/);
    return this.text.length === MOST_KEPT ? lines.slice(1) : lines;
  }
}

async function pump(stream: NodeJS.ReadableStream, sink: TextSink): Promise<void> {
  stream.setEncoding('utf8');
  try {
    for await (const text of stream) await sink.write(String(text));
  } catch {
    // Closed by this side: something that the program left running held it open.
  }
  await sink.end();
}

async function terminate(child: ChildProcess, exit: Promise<unknown>): Promise<void> {
  kill(child, 'SIGTERM');
  const late = delay(GRACE_MS, 'late', { ref: false });
  if ((await Promise.race([exit, late])) === 'late') kill(child, 'SIGKILL');
}

function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nothing of the group is left.
  }
}
