import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { LargePart } from '@fairlead/blobs';
import { FairShare, HttpProblem, NoPlace, TooManyRequests, Unavailable } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { ExperimentLimits } from '../../common/experiment-limits';
import type { SentExamples } from '../../examples/examples-body';
import { type ExamplesKind, readExamplesBody } from '../../examples/read-examples';
import type { SentParts } from './live-runs-body';
import { type BodyKind, readRunBody } from './read-run-body';
import type { AnyBody, BodyRead } from './live-runs.worker';

const WORKER = join(__dirname, 'live-runs.worker.js');
/** Smaller bodies are read at once on the calling thread. */
const LARGE_BYTES = 128 * 1024;
/** Large bodies of one workspace that may wait for the thread. */
const WAITING = 16;
/** A body of 24 MiB takes a part of it; one that needs more ends the thread and not the process. */
const MOST_MEGABYTES = 1024;

/**
 * One thread that reads large bodies of runs and examples, so that parsing never holds up other requests. Workspaces
 * take turns.
 * Where the compiled worker is not beside this file (sources run directly), bodies are read on the calling thread.
 */
@Injectable()
export class LiveRunsThread {
  private worker: Worker | undefined;
  private readonly compiled = existsSync(WORKER);
  private readonly turns = new FairShare(1, { perOwner: 1, waiting: WAITING, waitingTogether: Infinity });

  constructor(private readonly limits: ExperimentLimits) {}

  /** Content of a body of runs; the body must not be used afterwards. @throws HttpProblem */
  async read(
    tenant: string,
    kind: BodyKind,
    body: Buffer,
    argument?: string,
    large?: readonly LargePart[],
  ): Promise<SentParts> {
    const { maxRuns: most, maxDepth: depth } = this.limits;
    const asked = { kind, body, argument, most, depth, large };
    if (this.isReadHere(body)) return readRunBody(asked);
    return (await this.readAside(tenant, asked)) as SentParts;
  }

  async readExamples(tenant: string, kind: ExamplesKind, body: Buffer, argument?: string): Promise<SentExamples> {
    const asked = { examples: kind, body, argument, depth: this.limits.maxDepth };
    if (this.isReadHere(body)) return readExamplesBody(asked);
    return (await this.readAside(tenant, asked)) as SentExamples;
  }

  private isReadHere(body: Buffer): boolean {
    return !this.compiled || body.length < LARGE_BYTES;
  }

  private async readAside(tenant: string, asked: AnyBody & { readonly body: Buffer }): Promise<unknown> {
    const giveBack = await this.turns.wait(tenant).catch((error: unknown) => {
      if (!(error instanceof NoPlace)) throw error;
      throw new TooManyRequests(1, 'Too many large requests of one workspace are being read.');
    });
    try {
      const { body: bytes } = asked;
      // Memory that is shared with other buffers cannot be handed over.
      const body = bytes.length === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
      return result(await this.ask({ ...asked, body }));
    } finally {
      giveBack();
    }
  }

  async stop(): Promise<void> {
    await this.worker?.terminate();
  }

  private ask(body: AnyBody): Promise<BodyRead> {
    const worker = this.running();
    return new Promise((resolve, reject) => {
      const settle = () => {
        worker.off('message', onMessage).off('exit', onExit);
      };
      const onMessage = (message: BodyRead) => {
        settle();
        resolve(message);
      };
      const onExit = () => {
        settle();
        reject(new Unavailable(1));
      };
      worker.on('message', onMessage).on('exit', onExit);
      worker.postMessage(body, [body.body.buffer as ArrayBuffer]);
    });
  }

  private running(): Worker {
    if (this.worker) return this.worker;
    const worker = new Worker(WORKER, { resourceLimits: { maxOldGenerationSizeMb: MOST_MEGABYTES } });
    worker.unref();
    // What was asked of it fails when it ends.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.worker === worker) this.worker = undefined;
    });
    return (this.worker = worker);
  }
}

function result(message: BodyRead): unknown {
  if ('read' in message) return message.read;
  if ('failure' in message) throw message.failure;
  const { status, detail, headers, members } = message.problem;
  throw new HttpProblem(status, detail, { headers, members });
}
