import type { CommandEnd, CommandPlace, TakeOutput } from '../../port/executor';
import type { DiskWatch } from '../isolation/disk-watch.worker';
import type { RunningProgram } from '../isolation/app-process';
import type { Runnable } from './serving';

export class RunningCommands {
  private readonly all = new Map<AbortController, { readonly id: string; readonly ended: Promise<unknown> }>();

  async during(id: string, work: (signal: AbortSignal) => Promise<CommandEnd>): Promise<CommandEnd> {
    const over = new AbortController();
    const ended = work(over.signal);
    this.all.set(over, { id, ended });
    return ended.finally(() => this.all.delete(over));
  }

  async end(id: string | undefined, why: string): Promise<void> {
    const found = [...this.all].filter(([, command]) => id === undefined || command.id === id);
    for (const [over] of found) over.abort(new Error(why));
    await Promise.all(found.map(([, { ended }]) => ended));
  }
}

/** A command beside the program of a deployment: in its folder, with its environment, user and limits. */
export class AppCommand implements CommandPlace {
  readonly revisionId: string;
  readonly secrets: readonly string[];
  private readonly launch: ReturnType<Runnable['launch']>;

  constructor(
    private readonly program: Runnable,
    private readonly disk: DiskWatch,
    private readonly running: RunningCommands,
  ) {
    this.launch = program.launch();
    this.secrets = this.launch.secrets;
    this.revisionId = program.revision.revisionId;
  }

  close(): void {
    this.launch.ended();
  }

  run(words: readonly string[], take: TakeOutput, signal: AbortSignal): Promise<CommandEnd> {
    return this.running.during(this.program.revision.deploymentId, (over) =>
      this.start(words, take, AbortSignal.any([signal, over])),
    );
  }

  private async start(words: readonly string[], take: TakeOutput, signal: AbortSignal): Promise<CommandEnd> {
    const { program } = this;
    const done = new AbortController();
    const full = program.revision.image ? [] : [this.disk.fullOfCommand(program.folder, done.signal)];
    const over = AbortSignal.any([signal, ...full]);
    let command: RunningProgram | undefined;
    try {
      over.throwIfAborted();
      command = await program.run(this.launch.env, { command: words }, (level, text) =>
        take(level === 'INFO' ? 'stdout' : 'stderr', text),
      );
      const { stop, ended } = { stop: () => void command!.stop(), ended: command.ended };
      over.addEventListener('abort', stop, { once: true });
      if (over.aborted) stop();
      const how = await ended;
      if (!over.aborted) return endOf(command.exitCode ?? null, how);
    } catch (error) {
      if (!over.aborted) return { exitCode: null, reason: (error as Error).message };
    } finally {
      done.abort();
    }
    return { exitCode: null, reason: (over.reason as Error).message };
  }
}

/** The words for the end tell more than the exit code where a limit was the cause. */
function endOf(exitCode: number | null, how: string): CommandEnd {
  const isUsual = exitCode !== null && /^ended with (?:exit code \d+|SIG[A-Z0-9]+)$/.test(how);
  return { exitCode, reason: isUsual ? null : `The command ${how}.` };
}
