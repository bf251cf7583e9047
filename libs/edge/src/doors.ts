import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/** Program of a process that sends each listening socket back: what comes back is another handle of the same socket. */
const ECHO = `process.on('message', (message, handle) => process.send(message, handle))`;

/** Time limit for the process that sends them back (ms). */
const PATIENCE_MS = 10_000;

/** A server with its handle, for which Node has no type. */
type Listening = Server & { readonly _handle: { readonly fd?: number } | null };

/**
 * Further handles on which a server listens on its socket. Node accepts one connection from each handle in a turn of
 * its event loop. With a single handle, new connections wait for seconds under load, however quickly requests are
 * answered.
 */
export class Doors {
  private readonly doors: Server[] = [];
  private readonly inside = new Set<Socket>();
  private all = 0;
  private closed = false;
  private echo?: ChildProcess;
  private gone: Promise<unknown> = Promise.resolve();

  /** `most`: largest number of connections; further ones are closed at once. */
  constructor(
    private readonly server: Server,
    private readonly most: number,
  ) {
    server.maxConnections = most;
    server.on('connection', (socket: Socket) => {
      this.all++;
      socket.once('close', () => {
        this.all--;
        if (this.inside.delete(socket)) this.share();
      });
    });
  }

  /** Number of open connections. */
  get connections(): number {
    return this.all;
  }

  /**
   * Opens `count` further handles once the server listens; none on Windows, and where replicas share a socket.
   * @throws Error when fewer could be opened.
   */
  async open(count: number): Promise<void> {
    const { _handle: handle } = this.server as Listening;
    if (process.platform === 'win32' || this.closed || !handle || !(Number(handle.fd) >= 0)) return;
    const echo = spawn(process.execPath, ['-e', ECHO], {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      timeout: PATIENCE_MS,
    });
    this.echo = echo;
    this.gone = once(echo, 'exit').catch(() => undefined);
    echo.on('message', (_, door) => {
      this.add(door as unknown as Server);
      if (this.doors.length === count) echo.disconnect();
    });
    for (let n = 0; n < count; n++) echo.send(n, handle as unknown as Server, () => undefined);
    await this.gone;
    const { length } = this.doors;
    if (length < count && !this.closed) throw new Error(`Only ${length} of ${count} doors opened.`);
  }

  /** Accepts no more connections; open ones stay. */
  close(): void {
    this.closed = true;
    // As long as it is there, the socket is open.
    this.echo?.kill('SIGKILL');
    for (const door of this.doors) door.close();
  }

  /** Resolves, after `close`, when the last connection of these handles has ended. */
  async empty(): Promise<void> {
    await this.gone;
    await Promise.all([...this.inside].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  }

  private add(handle: Server): void {
    // As an HTTP server makes its own.
    const door = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      if (this.all >= this.most) socket.destroy();
      else this.take(socket);
    });
    this.doors.push(door);
    door.on('error', () => undefined).listen(handle);
    if (this.closed) door.close();
  }

  private take(socket: Socket): void {
    this.inside.add(socket);
    this.share();
    this.server.emit('connection', socket);
  }

  /** Adapts the limit of the server, which counts only connections of its own handle. */
  private share(): void {
    this.server.maxConnections = Math.max(1, this.most - this.inside.size);
  }
}
