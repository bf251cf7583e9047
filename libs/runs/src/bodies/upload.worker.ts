import { type MessagePort, parentPort } from 'node:worker_threads';
import type { ExperimentLimits } from './experiment-limits';
import { serveCheck } from './upload-checker';
import { serveZstd } from './zstd-decoder';

export interface Job {
  readonly port: MessagePort;
  readonly limits: ExperimentLimits;
  /** `fill`: check the rows of a fill. */
  readonly work: 'check' | 'fill' | 'zstd';
}

parentPort?.on('message', ({ port, limits, work }: Job) => {
  if (work === 'zstd') serveZstd(port, limits);
  else serveCheck(port, limits, work === 'fill');
});
