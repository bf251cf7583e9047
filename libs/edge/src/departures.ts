import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Departure } from './visit';

/**
 * Tells of the end of each request, once: when its answer has been sent or given up, or when its connection ends before
 * the answer's turn has come, as that of a pipelined request.
 */
export class Departures {
  readonly told: Departure[] = [];
  private readonly leaving = new WeakMap<Socket, Set<() => void>>();

  watch(request: FastifyRequest, reply: FastifyReply): void {
    const waiting = this.of(request.raw.socket);
    const leave = () => {
      if (!waiting.delete(leave)) return;
      for (const depart of this.told) depart(request, reply, request.visit);
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
