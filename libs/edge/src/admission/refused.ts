import type { FastifyReply, FastifyRequest } from 'fastify';

/** A request that was answered 401 or 403. */
export interface RefusedRequest {
  /** Null when it named none that is known. */
  readonly tenantId: string | null;
  /** Id of the API key, null when it is not known. */
  readonly actor: string | null;
  /** Method and route, such as `GET /v2/deployments/:deployment_id`. */
  readonly request: string;
  readonly status: 401 | 403;
  readonly requestId: string;
  /** Where the request came from. */
  readonly address: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** Tells of a request that has been answered when it was refused. */
export function tellRefused(
  request: FastifyRequest,
  reply: FastifyReply,
  tell: (refused: RefusedRequest) => void,
): void {
  const status = reply.statusCode;
  if (status !== 401 && status !== 403) return;
  const { actor, claimant } = request;
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
