import type { Socket } from 'node:net';
import type { ClientConfig } from 'pg';
import { CalmClient } from './calm-client';

interface WatchLimits {
  /** Time without a byte from the server after which it is asked whether it still runs the query (ms). */
  readonly silence: number;
  /** Time limit of this question (ms). */
  readonly patience: number;
  readonly interval: number;
}

const LIMITS: WatchLimits = { silence: 8000, patience: 5000, interval: 1000 };

interface Inside {
  readonly processID: number;
  readonly connection: { readonly stream: Socket };
  readonly _activeQuery: unknown;
}

/**
 * A class of clients for a pool: a query whose connection is dead fails, although no network says so, while one that
 * takes long goes on. The server is asked on a new connection what it is doing for the silent ones; those it does not
 * know, or has long answered, are broken off, and so are the silent ones when it cannot be asked.
 */
export function watchedClient(limits = LIMITS): typeof CalmClient {
  const watch = new Watch(limits);
  return class WatchedClient extends CalmClient {
    constructor(config?: ClientConfig) {
      super(config);
      this.once('connect', () => watch.add(new Watched(this as unknown as Inside), config));
    }
  };
}

class Watched {
  private bytes = 0;
  private heardAt = Date.now();

  constructor(private readonly client: Inside) {}

  get pid(): number {
    return this.client.processID;
  }

  get socket(): Socket {
    return this.client.connection.stream;
  }

  /** Returns how long a query has waited without a byte sent or received (ms). */
  silence(now: number): number {
    const bytes = this.socket.bytesRead + this.socket.bytesWritten;
    if (bytes !== this.bytes || !this.client._activeQuery) this.heardAt = now;
    this.bytes = bytes;
    return now - this.heardAt;
  }

  breakOff(): void {
    const error = new Error('The server gave no answer, and is not working on one.');
    this.socket.destroy(Object.assign(error, { code: 'ECONNRESET' }));
  }
}

class Watch {
  private readonly clients = new Set<Watched>();
  private asking = false;
  /** True when the server could not be asked: idle connections may be dead too. */
  private doubtful = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly limits: WatchLimits) {}

  add(client: Watched, config?: ClientConfig): void {
    this.clients.add(client);
    client.socket.once('close', () => {
      this.clients.delete(client);
      if (this.clients.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    });
    this.timer ??= setInterval(() => void this.look(config), this.limits.interval).unref();
  }

  private async look(config?: ClientConfig): Promise<void> {
    const silent = this.silent();
    if ((silent.size === 0 && !this.doubtful) || this.asking) return;
    this.asking = true;
    const asked = [...this.clients];
    const states = await this.ask(asked, config).catch(() => 'unreachable' as const);
    this.asking = false;
    this.doubtful = states === 'unreachable';
    const still = this.silent();
    for (const client of asked) {
      if (!this.clients.has(client)) continue;
      const waits = silent.has(client) && still.has(client);
      const lost = states === 'unreachable' ? waits : states && isLost(states.get(client.pid), waits);
      if (lost) client.breakOff();
    }
  }

  private silent(): ReadonlySet<Watched> {
    const now = Date.now();
    return new Set([...this.clients].filter((client) => client.silence(now) >= this.limits.silence));
  }

  /**
   * The server's state of each connection, by process id; undefined when something between us and it gives connections
   * other names.
   */
  private async ask(clients: readonly Watched[], config?: ClientConfig): Promise<Map<number, string> | undefined> {
    const { patience } = this.limits;
    const limits = { connectionTimeoutMillis: patience, query_timeout: patience };
    const client = new CalmClient({ ...config, ...limits, keepAlive: true });
    try {
      await client.connect();
      const { rows } = await client.query<{ pid: number; state: string }>(
        'select pid, state from pg_stat_activity where pid = any($1) or pid = pg_backend_pid()',
        [clients.map(({ pid }) => pid)],
      );
      const states = new Map(rows.map(({ pid, state }) => [pid, state]));
      return states.has((client as unknown as Inside).processID) ? states : undefined;
    } finally {
      void client.end().catch(() => undefined);
    }
  }
}

function isLost(state: string | undefined, waits: boolean): boolean {
  return state === undefined || (waits && state.startsWith('idle'));
}
