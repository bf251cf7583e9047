import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cors } from './cors';
import type { EdgeSettings } from './edge-settings';
import { securityHeaders } from './security-headers';

/** What every answer says, however it comes about: its request's id, how browsers treat it, whose scripts may read it. */
export class Greeting {
  private readonly headers: Readonly<Record<string, string>>;
  private readonly cors?: Cors;

  constructor({ https, cors }: EdgeSettings) {
    this.headers = securityHeaders(https);
    if (cors) this.cors = new Cors(cors);
  }

  /** Answers whether scripts of the request's origin may read the answer. */
  give(request: FastifyRequest, reply: FastifyReply): boolean {
    void reply.headers(this.headers).header('x-request-id', request.id);
    return this.cors?.mark(request, reply) ?? false;
  }

  /** Answers OPTIONS: what is allowed, and to a browser that may go on, that it may. */
  options(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[], mayRead: boolean): void {
    const asked = request.headers['access-control-request-method'] !== undefined;
    if (mayRead && asked) this.cors?.preflight(request, reply, allowed);
    void reply.code(204).header('allow', allowed.join(', ')).send();
  }
}
