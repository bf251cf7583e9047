import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { killed } from '@fairlead/e2e/testing';
import type { Part } from './part';
import { Proxy } from './proxy';

const HOOK = join(__dirname, '../../test/typescript.cjs');

/** The EventStoreDB double in a process of its own, which keeps its log in a file. */
export class EventStorePart implements Part {
  readonly name = 'EventStoreDB (double)';

  private constructor(
    private process: ChildProcess,
    readonly proxy: Proxy,
    /** Holds every event. */
    readonly file: string,
  ) {}

  static async start(file: string): Promise<EventStorePart> {
    const { process, port } = await launch(0, file);
    return new EventStorePart(process, await Proxy.start(port), file);
  }

  /** Through the proxy. */
  get url(): string {
    return urlOf(this.proxy.port);
  }

  get direct(): string {
    return urlOf(this.proxy.target);
  }

  async kill(): Promise<void> {
    await killed(this.process);
    ({ process: this.process } = await launch(this.proxy.target, this.file));
  }

  async stop(): Promise<void> {
    await this.proxy.stop();
    await killed(this.process);
  }
}

async function launch(port: number, file: string): Promise<{ process: ChildProcess; port: number }> {
  const child = fork(join(__dirname, 'eventstore.main.ts'), [String(port), file], { execArgv: ['-r', HOOK] });
  const ended = once(child, 'exit').then(() => {
    throw new Error('The EventStoreDB double does not start.');
  });
  ended.catch(() => undefined);
  const [bound] = (await Promise.race([once(child, 'message'), ended])) as [number];
  return { process: child, port: bound };
}

function urlOf(port: number): string {
  return `esdb://127.0.0.1:${port}?tls=false`;
}
