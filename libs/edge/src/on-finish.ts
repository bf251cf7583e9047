import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OnFinish } from './admission/request-context';

/**
 * Runs its hooks once for each request: when the response has been sent or abandoned, or when the connection ends before
 * the response's turn has come, as for a pipelined request.
 */
export class OnFinishHooks {
  readonly hooks: OnFinish[] = [];
  private readonly leaving = new WeakMap<Socket, Set<() => void>>();

  watch(request: FastifyRequest, reply: FastifyReply): void {
    const waiting = this.of(request.raw.socket);
    const leave = () => {
      if (!waiting.delete(leave)) return;
      for (const hook of this.hooks) hook(request, reply, request.requestContext);
    };
    waiting.add(leave);
    reply.raw.once('close', leave);
  }

  private of(socket: Socket): Set<() => void> {
    const known = this.leaving.get(socket);
    if (known) return known;
    const waiting = new Set<() => void>();
    this.leaving.set(socket, waiting);
    socket.once('close', () => {
      for (const leave of waiting) leave();
    });
    return waiting;
  }
}
