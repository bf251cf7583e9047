import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cors } from './cors';
import type { EdgeSettings } from '../edge-settings';
import { securityHeaders } from './security-headers';

/** What every answer says, however it comes about: its request's id, how browsers treat it, whose scripts may read it. */
export class Greeting {
  private readonly headers: Readonly<Record<string, string>>;
  private readonly cors?: Cors;

  constructor({ https, cors }: EdgeSettings) {
    this.headers = securityHeaders(https);
    if (cors) this.cors = new Cors(cors);
  }

  /** To a request with the headers `headers` and the id `id`. */
  to({ origin }: IncomingHttpHeaders, id: string): Readonly<Record<string, string>> {
    return { ...this.headers, ...this.cors?.headers(origin), 'x-request-id': id };
  }

  /** Answers OPTIONS: what is allowed, and to a browser that may go on, that it may. */
  options(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): void {
    const { origin, 'access-control-request-method': asked } = request.headers;
    if (asked !== undefined && this.cors?.allows(origin)) this.cors.preflight(request, reply, allowed);
    void reply.code(204).header('allow', allowed.join(', ')).send();
  }
}
