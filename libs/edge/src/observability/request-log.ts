import type { Level, Logger } from 'pino';
import { loggedAddress } from './logged-address';
import type { Report } from '../admission/turned-away';
import type { TurnedAway } from '../admission/load-shedding';
import { answeredStatus, type OnFinish } from '../admission/request-context';

/**
 * Returns a hook that logs one line for each finished request: failures of the service as errors, successful reads at
 * the level debug, all else as information. Requests that were refused because of overload are counted instead. The
 * lines contain no headers, no bodies, and no queries that may contain a secret.
 */
export function logRequests(logger: Logger, turnedAway: Report): OnFinish {
  return (request, reply, requestContext) => {
    if (requestContext.shed) turnedAway(requestContext.shed);
    const { method, raw } = request;
    const status = answeredStatus(reply);
    const level = levelOf(method, status, requestContext.shed !== undefined);
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
        ms: Math.round((performance.now() - requestContext.startedAt) * 10) / 10,
        bytes: raw.socket.bytesWritten - requestContext.sentBefore,
        address: requestContext.address,
        ...(request.actor && { tenant: request.actor.tenantId, key: request.actor.keyId }),
        ...(requestContext.shed && { turnedAway: requestContext.shed }),
      },
      'request',
    );
  };
}

/** Returns the same for a request that was refused when only its headers were known. */
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

/** Returns the trace id of a well-formed `traceparent`. */
function traceIdIn(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? /^[\da-f]{2}-([\da-f]{32})-/.exec(header)?.[1] : undefined;
}
