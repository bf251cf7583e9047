import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const TOOLS = join(__dirname, '../..');

/** Calls that read a stream and that append to it, and the events that it has. */
export interface Counted {
  readonly reads: number;
  readonly appends: number;
  readonly events: number;
}

/** The double of EventStoreDB that the tests use, as a process of its own that counts what is asked of it. */
export class EventStoreDouble {
  private constructor(
    readonly url: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(): Promise<EventStoreDouble> {
    const hook = join(TOOLS, 'test/typescript.cjs');
    const child = fork(join(TOOLS, 'faults/src/eventstore.main.ts'), ['0'], { execArgv: ['-r', hook] });
    const ended = once(child, 'exit').then(() => {
      throw new Error('The EventStoreDB double does not start.');
    });
    const [port] = (await Promise.race([once(child, 'message'), ended])) as [number];
    ended.catch(() => undefined);
    return new EventStoreDouble(`esdb://127.0.0.1:${port}?tls=false`, child);
  }

  /** Calls so far, by stream. */
  async streams(): Promise<Readonly<Record<string, Counted>>> {
    const answer = once(this.child, 'message');
    this.child.send('streams');
    const [streams] = (await answer) as [Record<string, Counted>];
    return streams;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}
