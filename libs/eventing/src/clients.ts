import { createRequire } from 'node:module';

const load = createRequire(__filename);

/**
 * Returns what uses the client of EventStoreDB. A process loads that client, which takes 22 MB of memory, only when its
 * settings name such a log.
 */
export function eventStoreDb() {
  return load('./eventstoredb') as typeof import('./eventstoredb/index');
}

/** Returns what uses the client of Kafka, 12 MB, which a process loads only when its settings name a cluster. */
export function kafka() {
  return load('./kafka') as typeof import('./kafka/index');
}
