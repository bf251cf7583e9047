import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cors } from './cors';
import type { EdgeSettings } from '../edge-settings';
import { securityHeaders } from './security-headers';

/** The headers of every response, also of those written before the framework sees the request: security, CORS, request id. */
export class DefaultHeaders {
  private readonly headers: Readonly<Record<string, string>>;
  private readonly cors?: Cors;

  constructor({ https, cors }: EdgeSettings) {
    this.headers = securityHeaders(https);
    if (cors) this.cors = new Cors(cors);
  }

  /** Returns the headers of the response to a request of this origin and id. */
  for({ origin }: IncomingHttpHeaders, id: string): Readonly<Record<string, string>> {
    return { ...this.headers, ...this.cors?.headers(origin), 'x-request-id': id };
  }

  /** Answers OPTIONS with the allowed methods, and a preflight of an allowed origin with its permission. */
  options(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): void {
    const { origin, 'access-control-request-method': asked } = request.headers;
    if (asked !== undefined && this.cors?.allows(origin)) this.cors.preflight(request, reply, allowed);
    void reply.code(204).header('allow', allowed.join(', ')).send();
  }
}
