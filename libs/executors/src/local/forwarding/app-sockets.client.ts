import { type IncomingMessage, request as send } from 'node:http';
import type { Socket } from 'node:net';
import { TooManyRequests, Unavailable } from '@fairlead/schema';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Entered } from '../running/serving';
import { type Kind, pathOf, type Reached, requestHeaders, responseHeaders, type Through } from './app-headers.client';
import { settle } from './app-requests.client';
import { closeFrame, FrameFollower, PING, SERVICE_RESTART } from './frame-follower';

interface Limits {
  readonly ofWorkspace: number;
  readonly ofDeployment: number;
  /** Time without data before a client is pinged; after the same time again its connection is dropped (ms). */
  readonly silent: number;
}

const LIMITS: Limits = { ofWorkspace: 500, ofDeployment: 250, silent: 30_000 };
/** Time for one side to take the data that the other one sent before its end (ms). */
const END_MS = 2000;

interface Wanted {
  readonly entered: Entered;
  readonly to: Socket;
  readonly id: string;
  readonly tenantId: string;
  readonly kind: Kind;
  readonly reached: Reached;
  readonly through?: Through;
}

export class AppSockets {
  private readonly open = new Map<string, number>();
  private readonly limits: Limits;

  constructor(limits: Partial<Limits> = {}) {
    this.limits = { ...LIMITS, ...limits };
  }

  /**
   * Sends a request for a WebSocket on to a program, and joins both connections when the program accepts it; answers the
   * program's response otherwise. @throws TooManyRequests, Unavailable
   */
  async join(request: FastifyRequest, reply: FastifyReply, wanted: Wanted): Promise<IncomingMessage | undefined> {
    const { entered, to, kind, reached } = wanted;
    const { socket } = request.raw;
    const gone = goneOf(socket);
    gone.add(this.enter(wanted));
    const { answer, program } = await offer(request, wanted, gone);
    if (!program) return answer;
    reply.hijack();
    reply.raw.statusCode = 101;
    reply.raw.detachSocket(socket);
    socket.write(headOf(answer, request.id, kind, reached));
    const isGone = socket.destroyed;
    const close = connect(socket, program, this.limits.silent, gone);
    gone.add(entered.outlive(close));
    if (isGone) to.destroy();
    return undefined;
  }

  /** Takes a place of the workspace and of the deployment; returns what gives it back. @throws TooManyRequests */
  private enter({ id, tenantId, to }: Wanted): () => void {
    const { ofDeployment, ofWorkspace } = this.limits;
    const shares = [
      { of: `deployment ${id}`, most: ofDeployment, whose: 'of this deployment' },
      { of: `workspace ${tenantId}`, most: ofWorkspace, whose: 'of this workspace' },
    ];
    const full = shares.find(({ of, most }) => (this.open.get(of) ?? 0) >= most);
    if (full) {
      to.destroy();
      throw new TooManyRequests(1, `${full.most} WebSockets ${full.whose} are open, which is the limit.`);
    }
    for (const { of } of shares) this.open.set(of, (this.open.get(of) ?? 0) + 1);
    return () => {
      for (const { of } of shares) {
        const left = this.open.get(of)! - 1;
        if (left > 0) this.open.set(of, left);
        else this.open.delete(of);
      }
    };
  }
}

/** Functions that are called once when a client is gone, and at once when it is gone already. */
interface Gone {
  readonly add: (work: () => void) => void;
  readonly delete: (work: () => void) => void;
}

/** Uses a single listener: an `EventEmitter` warns of more than ten, and the server has several for each connection. */
function goneOf(socket: Socket): Gone {
  const all = new Set<() => void>();
  socket.once('close', () => {
    for (const work of all) work();
  });
  return {
    add: (work) => (socket.destroyed ? work() : void all.add(work)),
    delete: (work) => void all.delete(work),
  };
}

interface Offered {
  readonly answer: IncomingMessage;
  readonly program?: Socket;
}

function offer({ raw, url }: FastifyRequest, { to, kind, reached, through }: Wanted, gone: Gone): Promise<Offered> {
  return new Promise((resolve, reject) => {
    const outgoing = send({
      ...{ createConnection: () => to, path: pathOf(url, through) },
      headers: { ...requestHeaders(raw, kind, reached, through), connection: 'Upgrade', upgrade: 'websocket' },
    });
    const giveUp = () => outgoing.destroy();
    outgoing.once('response', (answer) => settle(answer, (accepted) => resolve({ answer: accepted }), reject));
    outgoing.once('upgrade', (answer, program: Socket, head) => {
      gone.delete(giveUp);
      if (head.length > 0) program.unshift(head);
      resolve({ answer, program });
    });
    outgoing.on('error', () => reject(new Unavailable(1, 'The deployment closed the connection.')));
    outgoing.end();
    gone.add(giveUp);
  });
}

function headOf(answer: IncomingMessage, id: string, kind: Kind, reached: Reached): Buffer {
  const ours = { connection: 'Upgrade', upgrade: 'websocket', 'x-request-id': id };
  const headers = { ...responseHeaders(answer, kind, reached), ...ours };
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  );
  return Buffer.from(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'), 'latin1');
}

/**
 * Passes on what comes, both ways, until one of them ends, its half of the connection included: a WebSocket has no halves.
 * A client that does not answer a ping is taken for gone. Returns a function that closes the WebSocket because its
 * program ends.
 */
function connect(client: Socket, program: Socket, silent: number, gone: Gone): () => void {
  const frames = new FrameFollower();
  let isClosing = false;
  let isAsked = false;
  let isOver = false;
  let heard = client.bytesRead;
  const say = (frame: Buffer) => {
    if (frames.isBetween && !frames.hasClosed && !isOver) client.write(frame);
  };
  const look = () => {
    if (isOver) return;
    const isSilent = client.bytesRead === heard;
    heard = client.bytesRead;
    if (isSilent && isAsked) client.destroy();
    isAsked = isSilent && !client.isPaused();
    if (isAsked) say(PING);
  };
  // What has come while this process stood still is read first.
  const timer = setInterval(() => setImmediate(look), silent).unref();
  /** Ends both, once what was sent before has been taken. */
  const end = () => {
    if (isOver) return;
    isOver = true;
    clearInterval(timer);
    client.unpipe(program);
    for (const socket of [client, program]) {
      // With bytes that nobody has read, closing would take back what was sent last.
      socket.resume().end();
      const late = setTimeout(() => socket.destroy(), END_MS).unref();
      const isClosed = () => clearTimeout(late);
      if (socket === client) gone.add(isClosed);
      else socket.once('close', isClosed);
    }
  };
  const close = () => {
    say(closeFrame(SERVICE_RESTART));
    end();
  };
  program.on('data', (bytes: Buffer) => {
    if (isOver) return;
    frames.take(bytes);
    if (!client.write(bytes)) program.pause();
    if (isClosing && frames.isBetween) close();
  });
  client.on('drain', () => program.resume());
  client.pipe(program);
  for (const socket of [client, program]) socket.on('error', () => socket.destroy()).once('end', end);
  program.once('close', end);
  gone.add(end);
  return () => {
    isClosing = true;
    if (frames.isBetween || isOver) close();
    else setTimeout(end, END_MS).unref();
  };
}
