import { AsyncResource } from 'node:async_hooks';
import { Readable } from 'node:stream';
import type { Actor } from '@fairlead/api';
import { reading, writing } from '@fairlead/postgres';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BadRequest, type HttpProblem } from '@fairlead/schema';

/** SQLSTATE of a cancelled statement. */
const QUERY_CANCELED = '57014';
/** Name of all readers without a key: together they have one share of the connections. */
const EVERYBODY = 'public';

/**
 * Limits requests that only read: to the share of their workspace, to the time limit for reads, and to as long as their
 * client waits. Their statements in the database end with them. Requests that write are limited to the share of their
 * workspace. Public routes have these limits where they declare it.
 */
export function limitReads(instance: FastifyInstance): void {
  instance.addHook('preHandler', (request, reply, done) => {
    if (!isServedHere(request)) {
      done();
      return;
    }
    if (!isRead(request)) {
      writing(request.actor.tenantId, done);
      return;
    }
    const gone = new AbortController();
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) gone.abort();
    });
    request.requestContext.reading = gone.signal;
    const { tenantId: owner } = (request.actor as Actor | undefined) ?? { tenantId: EVERYBODY };
    reading({ owner, signal: gone.signal }, done);
  });
  instance.addHook('onSend', (request, _reply, payload, done) => {
    if (request.method === 'HEAD' && payload instanceof Readable) {
      // Fastify would read all of it, and what is made for nobody takes places of those that read.
      payload.destroy();
      done(null, Readable.from([]));
      return;
    }
    // The pieces of a stream are made when the client has taken those before.
    if (request.requestContext.reading && payload instanceof Readable)
      payload._read = AsyncResource.bind(payload._read.bind(payload));
    done(null, payload);
  });
}

/**
 * Returns the answer when the database cancelled a statement of a read because it took too long; undefined for other
 * errors.
 */
export function tooExpensive({ requestContext }: FastifyRequest, error: unknown): HttpProblem | undefined {
  if (!requestContext.reading || (Object(error) as { code?: unknown }).code !== QUERY_CANCELED) return undefined;
  return new BadRequest(
    'This read took longer than the limit (READ_TIMEOUT): narrow its filter or its time range, or ask for fewer rows.',
  );
}

function isServedHere({ actor, routeOptions: { config } }: FastifyRequest): boolean {
  return (Boolean(actor as unknown) || config.reads === true) && config.forward !== true;
}

function isRead({ method, routeOptions: { config } }: FastifyRequest): boolean {
  return config.scope === 'read' || config.reads === true || method === 'GET' || method === 'HEAD';
}
