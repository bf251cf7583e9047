import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Admission } from './admission';
import { written } from '@fairlead/api';
import { isShared } from '@fairlead/api';
import { Unavailable } from '@fairlead/schema';
import { FairShare } from './fair-share';
import { type OnFinish, ownerOf } from '../request-context';

/** Bytes of all answers together that clients have not read yet. */
const MEMORY = 256 * 1024 * 1024;
/** Shorter answers are bounded by the number of connections. */
const SHORT = 16 * 1024;
/** What a stream may have in memory. */
const STREAM = 256 * 1024;

/**
 * Books the bytes of each answer on one account until its client has read them, and gives its place among the requests
 * under way back: clients that read slowly are no overload. For an answer that is beyond the fair share of its workspace,
 * or without one its address, it is 503. The answer is to be told when a request has ended.
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
  if (payload === null || payload === undefined || isShared(payload)) return 0;
  const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.length : STREAM;
  return bytes < SHORT ? 0 : bytes;
}

function refusal(request: FastifyRequest, reply: FastifyReply): Buffer {
  const problem = new Unavailable(1, 'Too many answers wait to be read, try again later.');
  const { type, text } = written(request, problem);
  void reply.code(problem.status).removeHeader('content-length').headers(problem.headers).header('content-type', type);
  return Buffer.from(text);
}
