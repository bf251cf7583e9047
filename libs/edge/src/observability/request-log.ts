import type { Level, Logger } from 'pino';
import { loggedAddress } from './logged-address';
import type { Report } from '../admission/turned-away';
import type { TurnedAway } from '../admission/turnstile';
import { answeredStatus, type Departure } from '../visit';

/**
 * One line per finished request. Failures of the service are errors, reads that went well are for debugging, the rest
 * is information; requests that were turned away are counted instead. No headers, no bodies, no queries that could hold
 * a secret.
 */
export function logRequests(logger: Logger, turnedAway: Report): Departure {
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

/** The same for a request that was refused before more than its head was known. */
export function logTurnedAway(logger: Logger, turnedAway: Report): (refused: TurnedAway) => void {
  return ({ request: { method, url = '' }, requestId, status, startedAt }) => {
    turnedAway('capacity');
    const level = levelOf(method ?? '', status, true);
    if (!logger.isLevelEnabled(level)) return;
    const ms = Math.round((performance.now() - startedAt) * 10) / 10;
    logger[level]({ requestId, method, path: loggedAddress(url), status, ms, turnedAway: 'capacity' }, 'request');
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
