import { brotliCompress, constants, gzip } from 'node:zlib';
import { takesCoding } from '@fairlead/api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

type Compress = (payload: Buffer | string, done: (error: Error | null, compressed: Buffer) => void) => void;

/** Codings, the preferred one first, at levels that take a few milliseconds for a hundred kilobytes. */
const CODINGS: readonly (readonly [name: string, compress: Compress])[] = [
  ['br', (payload, done) => brotliCompress(payload, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }, done)],
  ['gzip', (payload, done) => gzip(payload, { level: 1 }, done)],
];
/** Smaller answers fit into one packet. */
const LEAST_BYTES = 1400;
/** Larger answers would be in memory twice for long. */
const MOST_BYTES = 8 * 1024 * 1024;

/**
 * Compresses JSON answers of routes that declare it. `places` answers are compressed at a time, on threads beside the
 * event loop; while there is no place, answers are sent as they are, so that a busy server spends no more time on them.
 */
export function compressAnswers(instance: FastifyInstance, places = 2): void {
  let running = 0;
  instance.addHook('onSend', (request, reply, payload, done) => {
    if (request.routeOptions.config.compressed !== true) return done(null, payload);
    addVary(reply);
    const compress = isCompressible(reply, payload) && running < places ? codingFor(request) : undefined;
    if (!compress) return done(null, payload);
    running++;
    compress[1](payload as Buffer | string, (error, compressed) => {
      running--;
      if (error) return done(null, payload);
      void reply.header('content-encoding', compress[0]);
      done(null, compressed);
    });
  });
}

function codingFor({ headers }: FastifyRequest) {
  const accepted = headers['accept-encoding'];
  return CODINGS.find(([name]) => takesCoding(accepted, name));
}

/** A strong entity tag names the bytes of an answer, so such answers stay as they are. */
function isCompressible(reply: FastifyReply, payload: unknown): boolean {
  if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return false;
  if (payload.length < LEAST_BYTES || payload.length > MOST_BYTES || reply.statusCode !== 200) return false;
  const etag = reply.getHeader('etag');
  const isJson = String(reply.getHeader('content-type')).startsWith('application/json');
  return isJson && (etag === undefined || String(etag).startsWith('W/')) && !reply.hasHeader('content-encoding');
}

/** A gateway passes on answers that have it already. */
function addVary(reply: FastifyReply): void {
  const known = String(reply.getHeader('vary') ?? '');
  if (known.includes('accept-encoding')) return;
  void reply.header('vary', known === '' ? 'accept-encoding' : `${known}, accept-encoding`);
}
