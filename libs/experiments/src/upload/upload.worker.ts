import { type MessagePort, parentPort } from 'node:worker_threads';
import type { ExperimentLimits } from '../limits';
import { serveCheck } from './upload.checker';
import { serveZstd } from './upload.zstd';

/** Work for the thread: one upload to check, or to decode, at a port of its own. */
export interface Job {
  readonly port: MessagePort;
  readonly limits: ExperimentLimits;
  readonly work: 'check' | 'zstd';
}

// The file that runs on the thread: each message brings one job.
parentPort?.on('message', ({ port, limits, work }: Job) => {
  if (work === 'check') serveCheck(port, limits);
  else serveZstd(port, limits);
});
