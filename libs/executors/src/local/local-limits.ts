import { totalmem } from 'node:os';
import type { LogLimits } from './running/app-logs';
import type { DiskLimits } from './isolation/disk-watch.worker';
import type { RunLimits } from './running/replica-set';

export interface LocalLimits extends RunLimits {
  readonly awake: number;
  /** Milliseconds without a request after which a program is ended until the next one. */
  readonly sleepAfter: number;
  readonly source: number;
  readonly disk: number;
  readonly diskWatch?: Omit<DiskLimits, 'most'>;
  readonly logs: LogLimits;
  /** Where clients reach the server; undefined: where they say. */
  readonly publicUrl?: string;
}

/** Memory of the machine for each process that runs (bytes): twice what the LangGraph server takes when it does nothing. */
const MEMORY_OF_ONE = 768 * 1024 ** 2;

/** Number of processes that a machine with this much memory (bytes) runs at a time. */
export function awakeWithin(memory: number): number {
  const own = process.constrainedMemory();
  return Math.max(2, Math.floor(Math.min(memory, own > 0 ? own : memory) / MEMORY_OF_ONE));
}

export const DEFAULTS: LocalLimits = {
  awake: awakeWithin(totalmem()),
  sleepAfter: 1_800_000,
  ready: 120_000,
  hold: 60_000,
  restart: { first: 500, most: 60_000 },
  trial: 30_000,
  looks: { every: 10_000, closed: 3, silent: 6, busy: 60, wait: 5000 },
  source: 1024 ** 3,
  disk: 4 * 1024 ** 3,
  logs: { bytes: 1024 ** 2, rate: 500 },
};
