import { AsyncLocalStorage } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';

/** A request that does not only read: its statements run to their end. */
export interface Writing {
  /** The workspace whose share of the connections it uses. */
  readonly owner: string;
  /** Connections that it has or waits for. */
  connections: number;
  /** Its place among those of its workspace, while it has or waits for a connection. */
  place?: Promise<() => void>;
  /** True once it has had a place: it may have written something, so that it is not refused any more. */
  hasBegun?: boolean;
}

export interface Reading {
  /** The workspace whose share of the connections it uses. */
  readonly owner: string;
  /** Aborted when the client does not wait for the answer any more: its statements are cancelled. */
  readonly signal: AbortSignal;
}

const current = new AsyncLocalStorage<Reading | Writing | undefined>();

/** Runs `work` as part of a request that only reads; its statements are limited by the pool for requests. */
export function reading<T>(request: Reading, work: () => T): T {
  // One for each statement that runs or waits at the time.
  setMaxListeners(0, request.signal);
  return current.run(request, work);
}

/** Runs `work` as part of a request that does not only read, of which one workspace's share of connections is limited. */
export function writing<T>(owner: string, work: () => T): T {
  return current.run({ owner, connections: 0 }, work);
}

/** Runs `work` outside of the current request, because other requests need its result too. */
export function outsideRequest<T>(work: () => T): T {
  return current.run(undefined, work);
}

/**
 * Runs `work` for the current owner. It is not cancelled when the client goes away, because other requests wait for it
 * too.
 */
export function sharedReading<T>(work: () => T): T {
  const request = currentReading();
  return request ? reading({ owner: request.owner, signal: NEVER }, work) : work();
}

/** Returns the current request if it only reads; undefined otherwise. */
export function currentReading(): Reading | undefined {
  const request = current.getStore();
  return request && 'signal' in request ? request : undefined;
}

/** The request that the current code belongs to, when that does not only read. */
export function currentWriting(): Writing | undefined {
  const request = current.getStore();
  return request && 'connections' in request ? request : undefined;
}

const NEVER = new AbortController().signal;
