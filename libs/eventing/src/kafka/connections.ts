import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectEncrypted } from 'node:tls';
import type { ISocketFactory, ISocketFactoryArgs } from 'kafkajs';

type Target = Pick<ISocketFactoryArgs, 'host' | 'port' | 'ssl'>;

interface Request {
  readonly api: number;
  readonly at: number;
}

interface Connection extends Target {
  readonly socket: Socket;
  /** When the broker last sent something. */
  heardAt: number;
  /** The first request since then. */
  unanswered?: Request;
  timer?: NodeJS.Timeout;
}

const KEEP_ALIVE_MS = 60_000;
/** Of every request: where its number is that says what is asked for. */
const API_BYTE = 5;
/** JoinGroup and SyncGroup: a broker answers them only when the other members have come. */
const WAITS_FOR_OTHERS = new Set([11, 14]);
/** ApiVersions 0 without a client's name, which a broker answers to everybody at once. */
const PROBE = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 0, 255, 255]);
const TIMES_MS = { patience: 2000, probe: 1000, pause: 200 };

/**
 * Opens the connections of a cluster's clients and ends those that are dead: the broker gives no answer on them for
 * some time, and answers at once on a new one. Clients then connect again and are still who they were. A broker that
 * takes long for what it is asked is waited for twice as long the next time; one that answers nobody is left alone.
 */
export class KafkaConnections {
  private readonly connections = new Set<Connection>();
  private readonly probes = new Map<string, Promise<boolean>>();
  /** Longer than at first: by what is asked for. */
  private readonly patience = new Map<number, number>();

  constructor(private readonly timesMs = TIMES_MS) {}

  /** What the library calls for each connection. */
  readonly open: ISocketFactory = ({ onConnect, ...target }) => {
    const socket = connect(target, onConnect);
    const connection: Connection = { ...target, socket, heardAt: Date.now() };
    this.connections.add(connection);
    const write = socket.write.bind(socket) as (data: Buffer, encoding?: BufferEncoding) => boolean;
    // The library writes each request at once.
    const writeRequest: typeof write = (data, encoding) => {
      this.ask(connection, data[API_BYTE] ?? 0);
      return write(data, encoding);
    };
    socket.on('data', () => this.hear(connection));
    socket.on('close', () => {
      this.connections.delete(connection);
      clearTimeout(connection.timer);
    });
    return Object.assign(socket, { write: writeRequest });
  };

  private ask(connection: Connection, api: number): void {
    if (connection.unanswered) return;
    const request = { api, at: Date.now() };
    connection.unanswered = request;
    if (WAITS_FOR_OTHERS.has(api)) return;
    connection.timer = setTimeout(() => void this.suspect(connection, request), this.patienceFor(api)).unref();
  }

  private hear(connection: Connection): void {
    const { unanswered } = connection;
    connection.heardAt = Date.now();
    connection.unanswered = undefined;
    if (!unanswered) return;
    clearTimeout(connection.timer);
    this.patience.set(unanswered.api, 2 * (connection.heardAt - unanswered.at));
  }

  /** Once the broker answers others, ends a connection that still has no answer. */
  private async suspect(connection: Connection, request: Request): Promise<void> {
    const waits = () => connection.unanswered === request && !connection.socket.destroyed;
    while (waits() && !(await this.answers(connection))) await delay(this.timesMs.pause, undefined, { ref: false });
    if (!waits()) return;
    this.patience.set(request.api, 2 * this.patienceFor(request.api));
    const { host, port } = connection;
    for (const other of this.connections) {
      const toSameBroker = other.host === host && other.port === port;
      if (other !== connection && !(toSameBroker && this.isQuiet(other))) continue;
      other.socket.destroy(new Error(`no answer from ${host}:${port}, which answers others`));
    }
  }

  /** Whether it may have died with another: when it is idle, its next request would be the first to notice. */
  private isQuiet({ heardAt, unanswered }: Connection): boolean {
    return heardAt < Date.now() - this.timesMs.patience && !WAITS_FOR_OTHERS.has(unanswered?.api ?? 0);
  }

  private patienceFor(api: number): number {
    return Math.max(this.timesMs.patience, this.patience.get(api) ?? 0);
  }

  /** Whether a broker answers at once on a new connection; several ask at a time. */
  private answers(target: Target): Promise<boolean> {
    const address = `${target.host}:${target.port}`;
    const known = this.probes.get(address);
    if (known) return known;
    const probe = probed(target, this.timesMs.probe).finally(() => this.probes.delete(address));
    this.probes.set(address, probe);
    return probe;
  }
}

function connect({ host, port, ssl }: Target, onConnect: () => void): Socket {
  const servername = isIP(host) ? undefined : host;
  const socket = ssl
    ? connectEncrypted({ host, port, servername, ...ssl }, onConnect)
    : connectPlain({ host, port }, onConnect);
  return socket.setKeepAlive(true, KEEP_ALIVE_MS);
}

function probed(target: Target, ms: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(target, () => socket.write(PROBE));
    const timer = setTimeout(() => end(false), ms);
    const end = (answered: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      settle(answered);
    };
    socket.once('data', () => end(true));
    socket.on('error', () => end(false));
    socket.once('close', () => end(false));
  });
}
