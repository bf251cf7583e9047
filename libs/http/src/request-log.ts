import type { Level, Logger } from 'pino';
import { loggedAddress } from './logged-address';
import { reportTurnedAway } from './turned-away';
import { answeredStatus, type Departure } from './visit';

/**
 * One line per finished request. Failures of the service are errors, reads that went well are for debugging, the rest
 * is information; requests that were turned away are counted instead. No headers, no bodies, no queries that could hold
 * a secret.
 */
export function logRequests(logger: Logger): Departure {
  const turnedAway = reportTurnedAway(logger);
  return (request, reply, visit) => {
    if (visit.shed) turnedAway(visit.shed);
    const { method, raw } = request;
    const status = answeredStatus(reply);
    const level = levelOf(method, status, visit.shed !== undefined);
    if (!logger.isLevelEnabled(level)) return;
    const traceId = traceIdIn(request.headers.traceparent);
    logger[level](
      {
        requestId: request.id,
        ...(traceId !== undefined && { traceId }),
        method,
        route: request.routeOptions.url,
        path: loggedAddress(request.originalUrl),
        status,
        ms: Math.round((performance.now() - visit.startedAt) * 10) / 10,
        bytes: raw.socket.bytesWritten - visit.sentBefore,
        address: visit.address,
        ...(request.actor && { tenant: request.actor.tenantId, key: request.actor.keyId }),
        ...(visit.shed && { turnedAway: visit.shed }),
      },
      'request',
    );
  };
}

function levelOf(method: string, status: number, isTurnedAway: boolean): Level {
  if (isTurnedAway) return 'debug';
  if (status >= 500) return status === 503 ? 'warn' : 'error';
  return status < 400 && (method === 'GET' || method === 'HEAD') ? 'debug' : 'info';
}

/** The trace in a well-formed `traceparent`. */
function traceIdIn(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? /^[\da-f]{2}-([\da-f]{32})-/.exec(header)?.[1] : undefined;
}
