import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { Injectable } from '@nestjs/common';
import { ExperimentLimits } from './experiment-limits';
import { LocalChecker, RemoteChecker, type UploadChecker } from './upload-checker';
import type { Job } from './upload.worker';
import { LocalDecoder, RemoteDecoder, type ZstdDecoder } from './zstd-decoder';

const WORKER = join(__dirname, 'upload.worker.js');

/**
 * One thread that checks large uploads and decodes zstd, so that neither ever holds up other requests. Where the compiled
 * worker is not beside this file (sources run directly), both happen on the calling thread.
 */
@Injectable()
export class UploadThread {
  private worker: Worker | undefined;
  private readonly compiled = existsSync(WORKER);

  constructor(private readonly limits: ExperimentLimits) {}

  /** Starts the thread ahead of the first large upload. */
  start(): void {
    if (this.compiled) this.running();
  }

  checker(fills: boolean): UploadChecker {
    if (!this.compiled) return new LocalChecker(this.limits, fills);
    return new RemoteChecker(this.portFor(fills ? 'fill' : 'check'));
  }

  zstd(limits: ExperimentLimits = this.limits): ZstdDecoder {
    return this.compiled ? new RemoteDecoder(this.portFor('zstd', limits)) : new LocalDecoder(limits);
  }

  async stop(): Promise<void> {
    await this.worker?.terminate();
  }

  private portFor(work: Job['work'], limits = this.limits): MessagePort {
    const { port1, port2 } = new MessageChannel();
    const job: Job = { port: port2, limits: { ...limits }, work };
    this.running().postMessage(job, [port2]);
    return port1;
  }

  private running(): Worker {
    if (this.worker) return this.worker;
    const worker = new Worker(WORKER);
    worker.unref();
    const ended = () => {
      if (this.worker === worker) this.worker = undefined;
    };
    worker.on('error', ended);
    worker.on('exit', ended);
    return (this.worker = worker);
  }
}
