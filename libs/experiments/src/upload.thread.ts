import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { Injectable } from '@nestjs/common';
import { ExperimentLimits } from './limits';
import { LocalChecker, RemoteChecker, type UploadChecker } from './upload.checker';

const WORKER = join(__dirname, 'upload.worker.js');

/**
 * One thread that checks large uploads, so that parsing never holds up other requests. Where the compiled worker is
 * not beside this file (sources run directly), uploads are checked on the calling thread.
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

  checker(): UploadChecker {
    if (!this.compiled) return new LocalChecker(this.limits);
    const { port1, port2 } = new MessageChannel();
    this.running().postMessage({ port: port2, limits: { ...this.limits } }, [port2]);
    return new RemoteChecker(port1);
  }

  async stop(): Promise<void> {
    await this.worker?.terminate();
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
