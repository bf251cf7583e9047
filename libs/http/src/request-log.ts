import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** One line per finished request: writes and failures at info, the rest at debug. No headers, queries or bodies. */
export function logRequests(instance: FastifyInstance, logger: Logger): void {
  instance.addHook('onResponse', (request, reply, done) => {
    const { method } = request;
    const level = reply.statusCode >= 400 || (method !== 'GET' && method !== 'HEAD') ? 'info' : 'debug';
    if (logger.isLevelEnabled(level)) {
      logger[level](
        {
          requestId: request.id,
          method,
          path: request.originalUrl.split('?', 1)[0],
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime * 10) / 10,
          ...(request.actor && { tenant: request.actor.tenantId, key: request.actor.keyId }),
        },
        'request',
      );
    }
    done();
  });
}
