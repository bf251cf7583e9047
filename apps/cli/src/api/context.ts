import type { Command, OptionValues } from 'commander';
import { Api } from './api';
import { connectionOf, type GlobalOptions, known } from './connection';
import { Output } from '../output/output';
import { signal } from '../signals';

const TIMEOUT_S = 60;
/** A request that takes longer shows that it does. */
const SLOW_MS = 1000;

/** Services and options that a command works with. */
export class Context {
  readonly out: Output;
  readonly signal = signal;
  /** Milliseconds that the user allows for an answer, undefined when nothing was said. */
  readonly timeoutMs: number | undefined;
  private opened: Api | undefined;

  /** `given` are the options that every command takes. */
  constructor(readonly given: GlobalOptions) {
    this.out = new Output({ json: given.json === true, color: given.color, jq: given.jq });
    this.timeoutMs = given.timeout === undefined ? undefined : given.timeout * 1000;
  }

  /** The same context with other options. */
  at(changed: Partial<GlobalOptions>): Context {
    return new Context({ ...this.given, ...changed });
  }

  /** Address of the service, and the key that would be used. @throws Usage for an address that is none */
  get known(): { readonly url: string; readonly key?: string } {
    return known(this.given, process.env);
  }

  get api(): Api {
    this.opened ??= new Api(connectionOf(this.given, process.env), {
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
    await context.out.checkFilter();
    const code = await work(context, command.processedArgs as string[], command.opts<Options>());
    await context.out.finished();
    if (code !== undefined) process.exitCode = code;
  });
}
