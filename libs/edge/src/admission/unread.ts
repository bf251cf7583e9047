import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from './admission';
import { isShared, written } from '@fairlead/api';
import { FairShare, Unavailable } from '@fairlead/schema';
import { type OnFinish, ownerOf } from './request-context';

/** Bytes of all answers together that clients have not read yet. */
const MEMORY = 256 * 1024 * 1024;
/** Answers up to this size are not counted: the number of connections bounds them. */
const SHORT = 16 * 1024;
/** Bytes of a stream in memory. */
const STREAM = 256 * 1024;

/**
 * Counts the bytes of each answer until its client has read them, and frees the place of its request, because slow
 * clients are no overload. An answer beyond the fair share of its workspace, or of its address, becomes a 503. Returns
 * a hook that is to be called when a request has ended.
 */
export function bookAnswers(instance: FastifyInstance, admission: Admission, memory = MEMORY): OnFinish {
  const account = new FairShare(memory);
  instance.addHook('onSend', (request, reply, payload, done) => {
    const { requestContext } = request;
    const bytes = requestContext.unreadBytes === 0 ? bytesOf(payload) : 0;
    admission.depart(request);
    if (bytes === 0) {
      done(null, payload);
    } else if (account.take(ownerOf(request), bytes)) {
      requestContext.unreadOwner = ownerOf(request);
      requestContext.unreadBytes = bytes;
      done(null, payload);
    } else {
      requestContext.shed = 'capacity';
      if (payload instanceof Readable) payload.destroy();
      done(null, refusal(request, reply));
    }
  });
  return (_request, _reply, requestContext) => {
    if (requestContext.unreadBytes > 0) account.give(requestContext.unreadOwner!, requestContext.unreadBytes);
    requestContext.unreadBytes = 0;
  };
}

function bytesOf(payload: unknown): number {
  if (payload === null || payload === undefined) return 0;
  const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : STREAM;
  return bytes < SHORT || isShared(payload) ? 0 : bytes;
}

function refusal(request: FastifyRequest, reply: FastifyReply): Buffer {
  const problem = new Unavailable(1, 'Too many answers wait to be read, try again later.');
  const { type, text } = written(request, problem);
  void reply.code(problem.status).removeHeader('content-length').headers(problem.headers).header('content-type', type);
  return Buffer.from(text);
}
