import { type IncomingMessage, request as send } from 'node:http';
import type { Socket } from 'node:net';
import { TooManyRequests, Unavailable } from '@fairlead/schema';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Entered } from './running/serving.process';
import { type Kind, pathOf, requestHeaders, responseHeaders, settle } from './apps.http';

/** WebSockets of one workspace that are open at a time. */
const MOST_OF_WORKSPACE = 500;

/** The WebSockets between clients and programs. */
export class AppSockets {
  private readonly open = new Map<string, number>();

  constructor(private readonly most = MOST_OF_WORKSPACE) {}

  /**
   * Sends a request for a WebSocket on to a program, and joins both connections when the program accepts it; answers the
   * program's response otherwise. @throws TooManyRequests, Unavailable
   */
  async join(
    request: FastifyRequest,
    reply: FastifyReply,
    entered: Entered,
    to: Socket,
    tenantId: string,
    kind: Kind,
  ): Promise<IncomingMessage | undefined> {
    const count = this.open.get(tenantId) ?? 0;
    if (count >= this.most) {
      to.destroy();
      throw new TooManyRequests(1, `${this.most} WebSockets are open, which is the limit.`);
    }
    this.open.set(tenantId, count + 1);
    const { socket } = request.raw;
    socket.once('close', () => {
      const left = this.open.get(tenantId)! - 1;
      if (left > 0) this.open.set(tenantId, left);
      else this.open.delete(tenantId);
    });
    const { answer, program } = await offer(request, to, kind);
    if (!program) return answer;
    reply.hijack();
    reply.raw.statusCode = 101;
    reply.raw.detachSocket(socket);
    socket.write(headOf(answer, request.id, kind));
    connect(socket, program);
    if (socket.destroyed) program.destroy();
    const ended = entered.outlive(() => socket.destroy());
    socket.once('close', ended);
    return undefined;
  }
}

/** What a program answers, and the connection to it when it accepts. */
interface Offered {
  readonly answer: IncomingMessage;
  readonly program?: Socket;
}

/** Asks a program for a WebSocket. @throws Unavailable */
function offer({ raw, url }: FastifyRequest, to: Socket, kind: Kind): Promise<Offered> {
  return new Promise((resolve, reject) => {
    const outgoing = send({
      ...{ createConnection: () => to, path: pathOf(url) },
      headers: { ...requestHeaders(raw, kind), connection: 'Upgrade', upgrade: 'websocket' },
    });
    const { socket } = raw;
    const giveUp = () => outgoing.destroy();
    socket.once('close', giveUp);
    outgoing.once('response', (answer) => settle(answer, (accepted) => resolve({ answer: accepted }), reject));
    outgoing.once('upgrade', (answer, program: Socket, head) => {
      socket.off('close', giveUp);
      if (head.length > 0) program.unshift(head);
      resolve({ answer, program });
    });
    outgoing.on('error', () => reject(new Unavailable(1, 'The deployment closed the connection.')));
    outgoing.end();
  });
}

/** The head of the answer that accepts a WebSocket. */
function headOf(answer: IncomingMessage, id: string, kind: Kind): Buffer {
  const headers = { ...responseHeaders(answer, kind), connection: 'Upgrade', upgrade: 'websocket', 'x-request-id': id };
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}`),
  );
  return Buffer.from(['HTTP/1.1 101 Switching Protocols', ...lines, '', ''].join('\r\n'), 'latin1');
}

/** Passes on what comes, both ways, until one of them ends. */
function connect(client: Socket, program: Socket): void {
  for (const [from, to] of [
    [client, program],
    [program, client],
  ] as const) {
    from.on('error', () => from.destroy());
    from.once('close', () => to.destroySoon());
    from.pipe(to);
  }
}
