import type { Admin, Consumer, Producer, RequestTimeoutEvent } from 'kafkajs';

/** The members that all kinds of clients have; the library declares them for each kind separately. */
interface Listened {
  readonly events: { readonly REQUEST_TIMEOUT: string };
  readonly on: (event: string, listener: (event: RequestTimeoutEvent) => void) => void;
}

/**
 * Rejects when a request of this client has had no response within its timeout. The connection may be dead, and the library
 * would go on using it: callers race their work against this promise and then replace the client.
 */
export function silence(client: Admin | Consumer | Producer): Promise<never> {
  const silent = new Promise<never>((_, reject) => {
    const { events, on } = client as unknown as Listened;
    on(events.REQUEST_TIMEOUT, ({ payload }) => reject(new Error(`no answer from ${payload.broker} in time`)));
  });
  silent.catch(() => undefined);
  return silent;
}

/** @throws Error when the work takes longer. */
export async function within<T>(ms: number, work: Promise<T> | undefined): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Ends a client's connections, in order as far as there is time: for a broker that is gone the library would wait for ever. */
export async function disconnect(client: Admin | Consumer | Producer | undefined, ms = 1000): Promise<void> {
  await within(ms, client?.disconnect()).catch(() => undefined);
}
