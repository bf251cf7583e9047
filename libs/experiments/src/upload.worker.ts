import { type MessagePort, parentPort } from 'node:worker_threads';
import type { ExperimentLimits } from './limits';
import { serveCheck } from './upload.checker';

// The file that runs on the thread: each message brings the port of one upload.
parentPort?.on('message', ({ port, limits }: { port: MessagePort; limits: ExperimentLimits }) => {
  serveCheck(port, limits);
});
