import { setTimeout as delay } from 'node:timers/promises';
import { ErrorType, EventStoreDBClient, isCommandError, type StreamingRead } from '@eventstore/db-client';
import type { Channel } from '@grpc/grpc-js';

/** Milliseconds that one attempt may be without progress, and after which no further attempt is made. */
export interface TimeLimits {
  readonly attempt: number;
  readonly total: number;
}

const LIMITS: TimeLimits = { attempt: 3000, total: 8000 };
const PAUSE_MS = { first: 20, most: 250 };
/** Nothing is won by asking again. */
const FINAL = new Set<string>([
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.STREAM_NOT_FOUND,
  ErrorType.STREAM_DELETED,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.ACCESS_DENIED,
]);

/** The event store does not answer; what was asked may be asked again. */
export class EventStoreUnreachable extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(cause: unknown) {
    super(`The event store cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}.`, { cause });
    this.name = 'EventStoreUnreachable';
  }
}

/** A client of an EventStoreDB server or cluster that is replaced when it gets no answers. */
export class EventStoreDbConnection {
  private client: EventStoreDBClient;
  private connected = 0;

  constructor(
    private readonly url: string,
    readonly limits: TimeLimits = LIMITS,
  ) {
    this.client = this.connect();
  }

  /**
   * Runs `work`, again when the server was away or no leader: it must be safe to repeat. `work` calls `alive` when it
   * makes progress, and stops when `signal` aborts. `more` milliseconds are added to the limit of an attempt.
   * @throws EventStoreUnreachable when there is no answer in time; what cannot succeed is thrown as it is.
   */
  async call<T>(
    work: (client: EventStoreDBClient, signal: AbortSignal, alive: () => void) => Promise<T>,
    more = 0,
  ): Promise<T> {
    const end = Date.now() + this.limits.total;
    for (let pause = PAUSE_MS.first; ; pause = Math.min(pause * 2, PAUSE_MS.most)) {
      const { client } = this;
      try {
        return await inTime(this.limits.attempt + more, (signal, alive) => work(client, signal, alive));
      } catch (error) {
        if (FINAL.has(typeOf(error) ?? '')) throw error;
        if (Date.now() + pause > end) throw new EventStoreUnreachable(error);
        if (isSilence(error)) this.replace(client);
        await delay(pause);
      }
    }
  }

  /** Closes the channel; calls under way may end. */
  close(): void {
    closeChannel(this.client);
  }

  /** A new channel: the old one may hang on a connection that is dead, or wait longer and longer between attempts. */
  private replace(silent: EventStoreDBClient): void {
    if (this.client !== silent) return;
    this.client = this.connect();
    closeChannel(silent);
  }

  private connect(): EventStoreDBClient {
    // Channels of equal options share their connection, so each gets an interval of its own.
    const keepAlive = `keepAliveInterval=${10_000 + (this.connected++ % 1000)}`;
    const client = EventStoreDBClient.connectionString(`${this.url}${this.url.includes('?') ? '&' : '?'}${keepAlive}`);
    // Appends as calls of their own, each with a deadline. The client's batches have none, and one that breaks forgets
    // the appends of every other client in the process, whose answers then end the process.
    Object.assign(client, { supports: () => Promise.resolve(false) });
    return client;
  }
}

/** What a reading gives; the call ends when `signal` aborts or the consumer has enough. */
export async function* reading<T>(stream: StreamingRead<T>, signal: AbortSignal): AsyncGenerator<T> {
  const stop = () => void stream.cancel().catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  // What fails after the consumer has gone concerns nobody, and would end the process.
  stream.on('error', () => undefined);
  try {
    // Not destroyed but read to its end: the client keeps a call whose end it has not seen.
    for await (const item of stream.iterator({ destroyOnReturn: false })) yield item as T;
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
    stream.resume();
  }
}

/** Rejects when `work` has neither ended nor shown life for so long. */
async function inTime<T>(ms: number, work: (signal: AbortSignal, alive: () => void) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Silence(ms));
      stop.abort();
    }, ms);
  });
  try {
    return await Promise.race([work(stop.signal, () => timer?.refresh()), late]);
  } finally {
    clearTimeout(timer);
  }
}

class Silence extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

function isSilence(error: unknown): boolean {
  return error instanceof Silence || typeOf(error) === ErrorType.DEADLINE_EXCEEDED;
}

function typeOf(error: unknown): string | undefined {
  return error instanceof Error && isCommandError(error) ? error.type : undefined;
}

/**
 * The client itself has no way to do it. A call that waited for the channel as well begins first: on a closed one it would
 * fail where nobody hears it.
 */
function closeChannel(client: EventStoreDBClient): void {
  (client as unknown as { getChannel(): Promise<Channel> }).getChannel().then(
    (channel) => void setImmediate(() => channel.close()),
    () => undefined,
  );
}
