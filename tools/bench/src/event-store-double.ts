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

/** Calls of the double so far: by stream, and of all streams and the log together by kind of call. */
export interface Asked {
  readonly streams: Readonly<Record<string, Counted>>;
  /** Each append of a batch counts as one in `append`, and the call that carries them in `batches`. */
  readonly calls: Readonly<Record<'append' | 'batches' | 'read', number>>;
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

  /** Returns the calls so far. */
  async asked(): Promise<Asked> {
    const answer = once(this.child, 'message');
    this.child.send('asked');
    const [asked] = (await answer) as [Asked];
    return asked;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill();
    await ended;
  }
}
