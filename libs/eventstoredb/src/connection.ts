import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ErrorType, EventStoreDBClient, isCommandError, type StreamingRead } from '@eventstore/db-client';
import { OlderLog, StreamDeleted } from '@fairlead/eventing';
import { Unavailable } from '@fairlead/schema';
import type { Channel } from '@grpc/grpc-js';
import { NotCarriedOut } from './batches';
import { IncompleteStream } from './continuity';
import { findLeader, NoLeader, nodesOf } from './leader';

/** Time limits (ms): of one attempt without progress, and of all attempts together. */
export interface TimeLimits {
  readonly attempt: number;
  readonly total: number;
}

const LIMITS: TimeLimits = { attempt: 3000, total: 8000 };
const PAUSE_MS = { first: 20, most: 250 };
/**
 * Time without an answer after which the nodes of a cluster are asked for the leader, and the interval of this question
 * (ms).
 */
const DOUBT_MS = 1000;
/** Shortest interval of keep-alives, and the range that is added to it (ms). */
const KEEP_ALIVE_MS = { first: 10_000, span: 1000 };
const FINAL = new Set<string>([
  ErrorType.WRONG_EXPECTED_VERSION,
  ErrorType.STREAM_NOT_FOUND,
  ErrorType.STREAM_DELETED,
  ErrorType.MAXIMUM_APPEND_SIZE_EXCEEDED,
  ErrorType.MISSING_REQUIRED_METADATA_PROPERTY,
  ErrorType.INVALID_ARGUMENT,
  ErrorType.ACCESS_DENIED,
]);

const NEEDS_ANOTHER = [NoLeader, IncompleteStream, NotCarriedOut];

/** The event store does not answer. The request may be repeated. */
export class EventStoreUnreachable extends Error {
  readonly code = 'ETIMEDOUT';

  constructor(cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`The event store cannot be reached: ${reason.replace(/\.$/, '')}.`, { cause });
    this.name = 'EventStoreUnreachable';
  }
}

export function isAddress(url: string): boolean {
  try {
    EventStoreDBClient.connectionString(url);
    return true;
  } catch {
    return false;
  }
}

interface Line {
  readonly client: EventStoreDBClient;
  readonly replaced: AbortController;
  node?: string;
}

/**
 * A connection to an EventStoreDB server or cluster. The client is replaced when it gets no answers, or when another
 * node leads the cluster; waiting calls are repeated at once.
 */
export class EventStoreDbConnection {
  private readonly nodes: readonly string[];
  private line: Line;
  private connected = 0;
  private asking: Promise<void> | undefined;
  /** Since when each node that was asked had an older log (ms since 1970). */
  private olderSince: number | undefined;

  constructor(
    private readonly url: string,
    readonly limits: TimeLimits = LIMITS,
    /** Called whenever the connection is replaced, because another server may answer then. */
    private readonly lost: () => void = () => undefined,
  ) {
    allowAddressesAsNames();
    this.nodes = nodesOf(url);
    this.line = this.connect();
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
      const { line } = this;
      const { client, replaced } = line;
      const doubt = () => this.doubt(line);
      try {
        const attempt = this.limits.attempt + more;
        const result = await inTime(attempt, replaced.signal, doubt, (signal, alive) => work(client, signal, alive));
        if (this.line === line) this.olderSince = undefined;
        return result;
      } catch (error) {
        if (FINAL.has(typeOf(error) ?? '') || error instanceof StreamDeleted || error instanceof Unavailable)
          throw error;
        if (error instanceof OlderLog) {
          if (this.isOlderForGood()) throw error;
          // Another node may have the newer log: this one led before, hung and does not know yet.
          this.replace(line);
        }
        this.lost();
        if (Date.now() + pause > end) throw new EventStoreUnreachable(error);
        // A client that found no leader does not look again.
        if (isSilence(error) || NEEDS_ANOTHER.some((kind) => error instanceof kind)) this.replace(line);
        await delay(pause);
      }
    }
  }

  /** Closes the channel. Running calls may finish. */
  close(): void {
    closeChannel(this.line.client);
  }

  /** Returns whether the log of a single server is older, or that of a cluster has been for the time limit. */
  private isOlderForGood(): boolean {
    this.olderSince ??= Date.now();
    const isCluster = this.nodes.length > 0 || this.url.startsWith('esdb+discover:');
    return !isCluster || Date.now() - this.olderSince >= this.limits.total;
  }

  /** Opens a new channel. The old one may hang on a dead connection, or wait longer and longer between attempts. */
  private replace(silent: Line): void {
    if (this.line !== silent) return;
    this.lost();
    this.line = this.connect();
    closeChannel(silent.client);
    silent.replaced.abort();
  }

  /** Asks the nodes for the leader, unless that is under way, and leaves a node that does not lead. */
  private doubt(line: Line): void {
    if (this.nodes.length === 0 || line.node === undefined || this.line !== line) return;
    this.asking ??= this.leader()
      .then((leader) => {
        if (leader !== line.node) this.replace(line);
      })
      // Nobody leads: it is asked again for as long as something waits.
      .catch(() => undefined)
      .finally(() => (this.asking = undefined));
  }

  private connect(): Line {
    const client = this.clientOf(this.url);
    const line: Line = { client, replaced: new AbortController() };
    setMaxListeners(0, line.replaced.signal);
    // The client asks one node after the other and waits five seconds for each.
    const resolveUri = async () => (line.node = await this.leader());
    if (this.nodes.length > 0) Object.assign(client, { resolveUri });
    return line;
  }

  private async leader(): Promise<string> {
    const clients = this.nodes.map((node) => this.clientOf(node));
    try {
      return await findLeader(clients);
    } finally {
      clients.forEach(closeChannel);
    }
  }

  private clientOf(url: string): EventStoreDBClient {
    // Channels of equal options share their connection, so each gets an interval of its own.
    const keepAliveInterval = KEEP_ALIVE_MS.first + (this.connected++ % KEEP_ALIVE_MS.span);
    const options = `keepAliveInterval=${keepAliveInterval}${/[?&]gossipTimeout=/i.test(url) ? '' : '&gossipTimeout=1'}`;
    const client = EventStoreDBClient.connectionString(`${url}${url.includes('?') ? '&' : '?'}${options}`);
    // After each broken call, the client looks at its channel, which may have failed, where nobody hears it.
    const { handleError } = client as unknown as { handleError: (...failed: unknown[]) => Promise<void> };
    Object.assign(client, { handleError: (...failed: unknown[]) => handleError(...failed).catch(() => undefined) });
    return client;
  }
}

/** Yields the items of a read. The call ends when `signal` aborts or the consumer stops. */
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

/**
 * Rejects when `work` has neither ended nor made progress within the time limit, or when its client was replaced.
 * `doubt` is called meanwhile.
 */
async function inTime<T>(
  ms: number,
  replaced: AbortSignal,
  doubt: () => void,
  work: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let doubting: NodeJS.Timeout | undefined;
  let leave = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = (reason: Error) => {
      reject(reason);
      stop.abort();
    };
    timer = setTimeout(() => giveUp(new Silence(ms)), ms);
    doubting = setInterval(doubt, DOUBT_MS);
    leave = () => giveUp(new Error('another node leads'));
    if (replaced.aborted) leave();
    else replaced.addEventListener('abort', leave, { once: true });
  });
  try {
    const alive = () => {
      timer?.refresh();
      doubting?.refresh();
    };
    return await Promise.race([work(stop.signal, alive), late]);
  } finally {
    clearTimeout(timer);
    clearInterval(doubting);
    replaced.removeEventListener('abort', leave);
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

let namesAllowed = false;

/** A node that is named by its IP address has that as its TLS name; Node.js would warn of it once. */
function allowAddressesAsNames(): void {
  if (namesAllowed) return;
  namesAllowed = true;
  const emit = process.emitWarning.bind(process) as (...warning: unknown[]) => void;
  const emitOthers = (...warning: unknown[]) => {
    const [, options, code] = warning;
    if (code !== 'DEP0123' && (options as { code?: unknown } | undefined)?.code !== 'DEP0123') emit(...warning);
  };
  process.emitWarning = emitOthers;
}
