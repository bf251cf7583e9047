import { createRequire } from 'node:module';

const load = createRequire(__filename);

/** Returns what uses the client of Kafka, 12 MB, which a process loads only when its settings name a cluster. */
export function kafka() {
  return load('./kafka') as typeof import('./kafka/index');
}
