import type { Command, OptionValues } from 'commander';
import { Api } from './api';
import { connectionOf, type GlobalOptions } from './connection';
import { Output } from '../output/output';
import { signal } from '../signals';

const TIMEOUT_S = 60;
/** A request that takes longer shows that it does. */
const SLOW_MS = 1000;

/** What a command works with. */
export class Context {
  readonly out: Output;
  readonly signal = signal;
  /** Milliseconds that the user allows for an answer, undefined when nothing was said. */
  readonly timeoutMs: number | undefined;
  private opened: Api | undefined;

  constructor(private readonly globals: GlobalOptions) {
    this.out = new Output({ json: globals.json === true, color: globals.color });
    this.timeoutMs = globals.timeout === undefined ? undefined : globals.timeout * 1000;
  }

  get api(): Api {
    this.opened ??= new Api(connectionOf(this.globals, process.env), {
      timeoutMs: this.timeoutMs ?? TIMEOUT_S * 1000,
      signal,
      waiting: (work) => this.out.waiting('Waiting for an answer', work, SLOW_MS),
      onRetry: (why) => {
        if (!this.out.json) this.out.note(why);
      },
    });
    return this.opened;
  }
}

type Work<Options> = (context: Context, args: string[], options: Options) => Promise<number | void>;

/** Lets a command do its work; a number that the work answers is the exit code. */
export function does<Options extends OptionValues>(command: Command, work: Work<Options>): Command {
  return command.action(async () => {
    const context = new Context(command.optsWithGlobals());
    const code = await work(context, command.processedArgs as string[], command.opts<Options>());
    if (code !== undefined) process.exitCode = code;
  });
}
