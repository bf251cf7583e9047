import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A request as it goes over the wire. */
export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly body?: string | Buffer;
}

/** Connections of an attacker to one server, all of which end with `signal`. */
export class Connections {
  constructor(
    private readonly port: number,
    private readonly signal: AbortSignal,
  ) {}

  /** A connection on which something can be written; it is destroyed at the end. */
  open(): Socket {
    const socket = connect({ port: this.port, host: '127.0.0.1' });
    const end = () => socket.destroy();
    this.signal.addEventListener('abort', end, { once: true });
    socket.on('error', end).on('close', () => this.signal.removeEventListener('abort', end));
    return socket;
  }

  /** Sends a request, reads the answer to its end and answers its status; 0 when the connection ended without one. */
  async send(request: RawRequest, patienceMs = 60_000): Promise<number> {
    const socket = this.open();
    socket.setTimeout(patienceMs, () => socket.destroy());
    let head = '';
    socket.on('data', (bytes: Buffer) => {
      if (head.length < 64) head += bytes.toString('latin1', 0, 64);
    });
    socket.write(headOf(request, 'close'));
    if (request.body !== undefined) socket.write(request.body);
    await closed(socket);
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
  }

  /** Sends the head and then a byte of the body every `everyMs`, until the server closes the connection. */
  async trickle(request: RawRequest, length: number, everyMs: number): Promise<void> {
    const socket = this.open();
    socket.resume();
    const headers = { ...request.headers, 'content-length': length };
    socket.write(headOf({ ...request, headers }, 'keep-alive'));
    while (!socket.destroyed && !this.signal.aborted) {
      await delay(everyMs, undefined, { signal: this.signal }).catch(() => undefined);
      if (!socket.destroyed) socket.write(' ');
    }
  }

  /** Sends many requests at once on one connection and reads nothing of the answers for a while. */
  async pipelineUnread(request: RawRequest, times: number, forMs: number): Promise<void> {
    const socket = this.open();
    socket.pause();
    socket.write(`${headOf(request, 'keep-alive')}${(request.body ?? '').toString()}`.repeat(times));
    await delay(forMs, undefined, { signal: this.signal }).catch(() => undefined);
    socket.destroy();
  }
}

function headOf({ method = 'GET', path, headers = {}, body }: RawRequest, connection: string): string {
  const all = {
    host: '127.0.0.1',
    connection,
    ...(body !== undefined && { 'content-length': body.length }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

async function closed(socket: Socket): Promise<void> {
  if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
}
