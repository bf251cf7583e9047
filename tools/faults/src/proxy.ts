import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Whoever is behind it will never hear of the other again. */
  lost: boolean;
  /** Actions that will reach the client, in order, each with its time. */
  readonly coming: { readonly at: number; readonly act: () => void }[];
}

type Mode = 'passing' | 'cut' | 'silent';

/** Stands before a port of this machine and does to its connections what networks do. */
export class Proxy {
  private readonly pairs = new Set<Pair>();
  private mode: Mode = 'passing';
  private latencyMs = 0;

  private constructor(
    private readonly server: Server,
    /** Where it passes connections on to. */
    public target: number,
  ) {
    server.on('connection', (client) => this.take(client));
  }

  static async start(target: number): Promise<Proxy> {
    // A client that has said all it wants still waits for the answer.
    const server = createServer({ allowHalfOpen: true });
    const proxy = new Proxy(server, target);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Answers come so much later from now on. */
  slow(ms: number): void {
    this.latencyMs = ms;
  }

  /** Resets every connection, and each new one until it is mended. */
  cut(): void {
    this.mode = 'cut';
    this.reset();
  }

  /**
   * Takes connections and what is sent, and passes nothing on until it is mended. Who was connected by then never hears
   * of the other side again, nor of its end; the other side sees the connection end.
   */
  silence(): void {
    this.mode = 'silent';
    for (const pair of this.pairs) this.lose(pair);
  }

  /** Resets every connection that there is. */
  reset(): void {
    for (const { client, server } of this.pairs) {
      reset(client);
      reset(server);
    }
  }

  /** Passes on at once whatever comes on new connections, and on those that were not lost. */
  mend(): void {
    this.mode = 'passing';
    this.latencyMs = 0;
  }

  async stop(): Promise<void> {
    const closed = new Promise((end) => this.server.close(end));
    this.reset();
    await closed;
  }

  private take(client: Socket): void {
    if (this.mode === 'cut') return reset(client.on('error', () => undefined));
    const server = connect({ port: this.target, host: '127.0.0.1', allowHalfOpen: true });
    const pair: Pair = { client, server, lost: false, coming: [] };
    this.pairs.add(pair);
    for (const socket of [client, server]) socket.setNoDelay().on('error', () => undefined);
    client.on('data', (data: Buffer) => pair.lost || server.write(data));
    client.on('end', () => pair.lost || server.end());
    client.on('close', () => {
      this.pairs.delete(pair);
      server.destroy();
    });
    server.on('data', (data: Buffer) => this.later(pair, () => client.write(data)));
    server.on('end', () => this.later(pair, () => client.end()));
    server.on('close', (hadError) => {
      if (hadError) this.later(pair, () => reset(client));
    });
    if (this.mode === 'silent') this.lose(pair);
  }

  private lose(pair: Pair): void {
    pair.lost = true;
    pair.server.destroy();
  }

  private later(pair: Pair, act: () => void): void {
    pair.coming.push({ at: Date.now() + this.latencyMs, act });
    if (pair.coming.length === 1) this.pass(pair);
  }

  private pass(pair: Pair): void {
    for (let [first] = pair.coming; first; [first] = pair.coming) {
      const wait = first.at - Date.now();
      if (wait > 0) return void setTimeout(() => this.pass(pair), wait);
      if (!pair.lost && !pair.client.destroyed) first.act();
      pair.coming.shift();
    }
  }
}

/** Node never ends a process in which a connection was reset whose end was being sent: that one is just closed. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
