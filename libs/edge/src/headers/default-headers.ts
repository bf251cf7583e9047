import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cors, type CorsOrigins } from './cors';
import { securityHeaders } from './security-headers';

export interface HeaderSettings {
  readonly cors?: CorsOrigins;
  /** The same for the programs of deployments, at /apps; those of `cors` when absent. */
  readonly appsCors?: CorsOrigins;
  /** True when clients reach the service over https. */
  readonly https: boolean;
}

/** The headers of every response, also of those written before the framework sees the request: security, CORS, request id. */
export class DefaultHeaders {
  private readonly headers: Readonly<Record<string, string>>;
  private readonly cors?: Cors;
  /** For the programs of deployments. */
  private readonly appsCors?: Cors;

  constructor({ https, cors, appsCors = cors }: HeaderSettings) {
    this.headers = securityHeaders(https);
    if (cors) this.cors = new Cors(cors);
    if (appsCors) this.appsCors = new Cors(appsCors);
  }

  /** Returns the headers of the response to a request of this origin, address and id. */
  for({ origin }: IncomingHttpHeaders, url: string, id: string): Readonly<Record<string, string>> {
    return { ...this.headers, ...this.corsOf(url)?.headers(origin), 'x-request-id': id };
  }

  /** Answers OPTIONS with the allowed methods, and a preflight of an allowed origin with its permission. */
  options(request: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): void {
    const { origin, 'access-control-request-method': asked } = request.headers;
    const cors = this.corsOf(request.url);
    if (asked !== undefined && cors?.allows(origin)) cors.preflight(request, reply, allowed);
    void reply.code(204).header('allow', allowed.join(', ')).send();
  }

  private corsOf(url: string): Cors | undefined {
    return url.startsWith('/apps/') ? this.appsCors : this.cors;
  }
}
