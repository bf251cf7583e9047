import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { FairShare, HttpProblem, NoPlace, TooManyRequests, Unavailable } from '@fairlead/schema';
import type { BodyRead } from './body-worker';

/** Smaller bodies are read at once on the calling thread. */
const LARGE_BYTES = 128 * 1024;
/** Large bodies of one workspace that may wait for the thread. */
const WAITING = 16;
/** A body of 24 MiB takes a part of it; one that needs more ends the thread and not the process. */
const MOST_MEGABYTES = 1024;

/**
 * One thread that reads large bodies, so that parsing never holds up other requests. Workspaces take turns.
 * Where the compiled worker is not there (sources run directly), bodies are read on the calling thread.
 */
export abstract class BodyThread<Asked extends { readonly body: Uint8Array }, Content> {
  private worker: Worker | undefined;
  private readonly compiled: boolean;
  private readonly turns = new FairShare(1, { perOwner: 1, waiting: WAITING, waitingTogether: Infinity });

  /** @param path compiled file that calls `readBodies` with `readHere` */
  protected constructor(
    private readonly path: string,
    private readonly readHere: (asked: Asked) => Content,
  ) {
    this.compiled = existsSync(path);
  }

  async stop(): Promise<void> {
    await this.worker?.terminate();
  }

  /** Content of a body, which must not be used afterwards. @throws HttpProblem */
  protected async readBody(tenant: string, asked: Asked): Promise<Content> {
    const { body: bytes } = asked;
    if (!this.compiled || bytes.length < LARGE_BYTES) return this.readHere(asked);
    const giveBack = await this.turns.wait(tenant).catch((error: unknown) => {
      if (!(error instanceof NoPlace)) throw error;
      throw new TooManyRequests(1, 'Too many large requests of one workspace are being read.');
    });
    try {
      // Memory that is shared with other buffers cannot be handed over.
      const body = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
      return result(await this.ask({ ...asked, body }));
    } finally {
      giveBack();
    }
  }

  private ask(asked: Asked): Promise<BodyRead<Content>> {
    const worker = this.running();
    return new Promise((resolve, reject) => {
      const settle = () => {
        worker.off('message', onMessage).off('exit', onExit);
      };
      const onMessage = (message: BodyRead<Content>) => {
        settle();
        resolve(message);
      };
      const onExit = () => {
        settle();
        reject(new Unavailable(1));
      };
      worker.on('message', onMessage).on('exit', onExit);
      worker.postMessage(asked, [asked.body.buffer as ArrayBuffer]);
    });
  }

  private running(): Worker {
    if (this.worker) return this.worker;
    const worker = new Worker(this.path, { resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES } });
    worker.unref();
    // What was asked of it fails when it ends.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.worker === worker) this.worker = undefined;
    });
    return (this.worker = worker);
  }
}

function result<Content>(message: BodyRead<Content>): Content {
  if ('read' in message) return message.read;
  if ('failure' in message) throw message.failure;
  const { status, detail, headers, members } = message.problem;
  throw new HttpProblem(status, detail, { headers, members });
}
