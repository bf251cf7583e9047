import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from './admission/admission';
import { sendProblem } from '@fairlead/api';
import { bringsBody } from './http/body-framing';
import { type Pace, watchPace } from './admission/body-pace';
import {
  FairShare,
  HttpProblem,
  parseJsonInTurns,
  PayloadTooLarge,
  RequestTimeout,
  Unauthorized,
  UnsupportedMediaType,
} from '@fairlead/schema';
import { HeldBytes } from './admission/held-bytes';
import { bodyHash } from './identity/identity';
import { dropRest } from './admission/lingering';
import { isJson } from '@fairlead/api';
import { type OnFinish, ownerOf } from './admission/request-context';

/** Limits of requests. */
export interface Limits extends Pace {
  /** Largest number of bytes of a body that is read before the handler runs. */
  readonly body: number;
  /** Largest number of levels of nesting in JSON. */
  readonly depth: number;
  /** Largest number of members and elements in JSON. */
  readonly values: number;
  /** Largest number of bytes of all bodies in memory together; at least a few times the largest single body. */
  readonly memory: number;
}

// A body beyond the limit is read and dropped this far, because many clients look for an answer only when all is sent.
const PATIENCE = 16 * 1024 * 1024;
/** Largest body that a gateway reads and signs; larger ones are streamed. */
const SIGNED_BYTES = 64 * 1024;

/**
 * Reads bodies after authentication. JSON becomes its value, another content type its text, no body undefined. Routes
 * that declare `stream` get `request.raw` unread, and so does a process that forwards a large body. A body that arrives
 * too slowly is answered 408, and one without memory for it 503. A request counts as running when its body has arrived.
 * Returns a hook that is to be called when a request has ended.
 */
export function readBodies(instance: FastifyInstance, limits: Limits, admission: Admission): OnFinish {
  instance.decorateRequest('limits', { getter: () => limits });
  const account = new FairShare(Math.max(limits.memory, 4 * limits.body));
  instance.removeAllContentTypeParsers();
  instance.addContentTypeParser('*', (request, _payload, done) => {
    const held = (request.requestContext.held = new HeldBytes(account, ownerOf(request)));
    const reading = held.hold(0).then(async () => {
      if (request.routeOptions.config.stream !== true) refuseLong(request, limits.body, 'BODY_MAX_BYTES');
      if (isReadHere(request)) return readBody(request, limits, held);
      if (isSigned(request)) request.readBody = await readBytes(request, limits, held);
      return undefined;
    });
    reading.then((body) => {
      done(null, body);
    }, done);
  });
  instance.addHook('preHandler', (request, reply, done) => {
    const { requestContext, raw } = request;
    if (!isReadHere(request) && request.readBody === undefined && bringsBody(raw)) {
      requestContext.complete = () => admission.complete(request);
      watchPace(request, limits, () => giveUp(request, reply));
      done();
      return;
    }
    const refusal = admission.complete(request);
    if (refusal) sendProblem(request, reply, refusal);
    else done();
  });
  return (_request, _reply, requestContext) => {
    requestContext.held?.release();
  };
}

/**
 * Refuses a request whose Content-Length is above `most` bytes, without reading its body. `setting`: name of the limit.
 * @throws PayloadTooLarge
 */
function refuseLong({ raw, headers }: FastifyRequest, most: number, setting?: string): void {
  if (!(Number(headers['content-length'] ?? 0) > most)) return;
  dropRest(raw);
  throw tooLong(most, setting);
}

function tooLong(most: number, setting?: string): PayloadTooLarge {
  const named = setting === undefined ? '' : ` (${setting})`;
  return new PayloadTooLarge(`The request body is larger than the limit of ${most} bytes${named}.`);
}

/** Returns whether the body is read before the handler runs. */
function isReadHere({ routeOptions: { config } }: FastifyRequest): boolean {
  return config.forward !== true && config.stream !== true;
}

/** Returns whether the whole body is read before the request is forwarded, so that its hash is signed. */
function isSigned({ headers, routeOptions: { config } }: FastifyRequest): boolean {
  const length = Number(headers['content-length']);
  return config.forward === true && config.stream !== true && length > 0 && length <= SIGNED_BYTES;
}

/** Answers 408 to a request whose body arrives too slowly, and ends its connection. */
function giveUp(request: FastifyRequest, reply: FastifyReply): void {
  const end = () => request.raw.destroy(new RequestTimeout());
  if (reply.sent) {
    end();
    return;
  }
  reply.raw.once('close', end);
  sendProblem(request, reply, new RequestTimeout());
}

async function readBody(request: FastifyRequest, limits: Limits, held: HeldBytes): Promise<unknown> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new UnsupportedMediaType('This path takes no Content-Encoding.');
  const bytes = await readBytes(request, limits, held);
  const { expectedBody } = request;
  if (expectedBody !== undefined && bodyHash(bytes) !== expectedBody) throw new Unauthorized();
  if (bytes.length === 0) return undefined;
  return isJson(request) ? parseJsonInTurns(bytes, limits.depth, limits.values) : bytes.toString('utf8');
}

/**
 * Returns a body of at most `most` bytes on a route that declares `stream`. The request counts as running from then on.
 * @throws PayloadTooLarge, RequestTimeout, Unavailable or TooManyRequests when there is no room
 */
export async function readStream(request: FastifyRequest, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bodyChunks(request, most)) {
    size += chunk.length;
    await request.requestContext.held?.hold(chunk.length);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size);
}

/** As `readStream`, but as it arrives: the caller counts what it holds in memory. */
export async function* bodyChunks(request: FastifyRequest, most: number): AsyncIterable<Buffer> {
  const { raw, requestContext } = request;
  refuseLong(request, most);
  let size = 0;
  try {
    for await (const chunk of raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) throw tooLong(most);
      yield chunk;
    }
  } catch (error) {
    throw raw.complete || error instanceof HttpProblem ? error : new RequestTimeout('The request ended early.');
  }
  const refusal = requestContext.complete?.();
  if (refusal) throw refusal;
}

function readBytes(request: FastifyRequest, limits: Limits, held: HeldBytes): Promise<Buffer> {
  const { raw } = request;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const endWatch = watchPace(request, limits, () => {
      finish(() => {
        reject(new RequestTimeout());
      });
    });
    const finish = (settle: () => void) => {
      endWatch();
      raw.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
      settle();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limits.body) {
        chunks.push(chunk);
        if (held.add(chunk.length)) return;
        raw.pause();
        held.hold(chunk.length).then(
          () => raw.resume(),
          (error: Error) => finish(() => reject(error)),
        );
      } else if (size > limits.body + PATIENCE) onEnd();
    };
    const onEnd = () => {
      finish(() => {
        if (size > limits.body) reject(tooLong(limits.body, 'BODY_MAX_BYTES'));
        else resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
      });
    };
    const onClose = () => {
      finish(() => {
        reject(new RequestTimeout('The request ended early.'));
      });
    };
    raw.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Limits of its body. */
    readonly limits: Limits;
  }
}
