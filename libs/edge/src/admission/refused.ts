import type { FastifyReply, FastifyRequest } from 'fastify';

/** A request that was answered 401 or 403. */
export interface RefusedRequest {
  /** Id of the workspace; null when it is not known. */
  readonly tenantId: string | null;
  /** Id of the API key, null when it is not known. */
  readonly actor: string | null;
  /** Method and route, such as `GET /v2/deployments/:deployment_id`. */
  readonly request: string;
  readonly status: 401 | 403;
  readonly requestId: string;
  /** Network address of the client. */
  readonly address: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Reports a request when it was answered 401 or 403, unless nobody tried anything with it. */
export function tellRefused(
  request: FastifyRequest,
  reply: FastifyReply,
  tell: (refused: RefusedRequest) => void,
): void {
  const status = reply.statusCode;
  if (status !== 401 && status !== 403) return;
  const { actor, claimant } = request;
  if (request.unidentified && request.routeOptions.config.anonymous) return;
  tell({
    tenantId: actor?.tenantId ?? claimant?.tenantId ?? null,
    actor: actor?.keyId ?? claimant?.keyId ?? null,
    request: `${request.method} ${request.routeOptions.url ?? 'unknown'}`,
    status,
    requestId: request.id,
    address: request.requestContext.address,
    time: Date.now(),
  });
}
