import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  BadRequest,
  errorCode,
  GatewayTimeout,
  HttpProblem,
  isConnectionLost,
  NotFound,
  PayloadTooLarge,
  type Problem,
  Unavailable,
} from '@fairlead/schema';

/** The answer to an error, and the level at which it is logged. */
interface Answer {
  readonly problem: HttpProblem;
  readonly log?: 'warn' | 'error';
}

const SQLSTATE = /^[0-9A-Z]{5}$/;
/**
 * SQLSTATEs of a server or a transaction that cannot go on right now: no room, a server that only reads, a transaction
 * that failed or waited too long, a prepared statement that is gone, a key that a newer version has replaced, objects in
 * another state, a disk that fails, a catalogue that another process changes at the same moment.
 */
const OF_SERVER = /^(?:53...|25006|25P0[234]|26000|42P10|55006|58...|XX000)$/;
/** Message of a prepared statement on a table that has changed; the connection prepares it anew. */
const CHANGED = /cached plan must not change result type/;
/** Codes of an operating system that is out of memory, room, files or threads, and of an allocation that it refused. */
const OUT_OF = /^(?:ENOMEM|ENOSPC|EMFILE|ENFILE|EAGAIN|Z_MEM_ERROR|ERR_(?:MEMORY_ALLOCATION|WORKER_INIT)_FAILED)$/;

/**
 * Returns the answer to any thrown value: errors that define one, errors of the framework and the database, and 500 for
 * all others.
 */
export function answerTo(error: unknown): Answer {
  if (error instanceof HttpProblem) return { problem: error, ...(error.status >= 500 && { log: 'warn' as const }) };
  if (error instanceof HttpException) return { problem: fromStatus(error.getStatus()) };
  return fromFramework(error) ?? fromDatabase(error) ?? { problem: fromStatus(500), log: 'error' };
}

function fromStatus(status: number): HttpProblem {
  return status === 404 ? new NotFound() : new HttpProblem(status, STATUS_CODES[status] ?? 'Error');
}

function fromFramework(error: unknown): Answer | undefined {
  const { code, statusCode } = Object(error) as { code?: unknown; statusCode?: unknown };
  if (typeof code !== 'string' || !code.startsWith('FST_') || typeof statusCode !== 'number') return undefined;
  if (code === 'FST_ERR_BAD_URL') return { problem: new BadRequest('The path is not validly percent-encoded.') };
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return { problem: new HttpProblem(414, 'A part of the path is too long.') };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return { problem: new PayloadTooLarge('The request body is too large.') };
  return statusCode < 500 ? { problem: fromStatus(statusCode) } : undefined;
}

function fromDatabase(error: unknown): Answer | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = errorCode(error);
  const ofSocket = 'syscall' in error && /^(?:connect|read|write)$/.test(String(error.syscall));
  const ofServer = isConnectionLost(error) || OF_SERVER.test(code) || CHANGED.test(error.message);
  if (ofSocket || ofServer || OUT_OF.test(code) || isOutOfMemory(error)) {
    return { problem: new Unavailable(), log: 'error' };
  }
  if (code === '57014' || /query read timeout/i.test(error.message)) {
    return { problem: new GatewayTimeout(), log: 'error' };
  }
  if (!SQLSTATE.test(code)) return undefined;
  // Lost a race against another transaction: the same request can succeed at once.
  if (/^40|^55P03/.test(code)) return { problem: new Unavailable(1), log: 'warn' };
  // A value that passed the checks but that PostgreSQL has no room for.
  if (/^22(?:003|008|021|P05)$/.test(code)) {
    return { problem: new BadRequest('A value of the request is outside the range that can be stored.'), log: 'warn' };
  }
  return undefined;
}

/** Returns whether memory for a buffer was refused; this error has no code. */
function isOutOfMemory(error: Error): boolean {
  return error.name === 'RangeError' && error.message === 'Array buffer allocation failed';
}

/** The parts of a request that decide the form of an error; the path is the one that controllers declare. */
interface Asked {
  readonly headers: Pick<IncomingHttpHeaders, 'accept'>;
  readonly url: string;
  readonly id: string;
}

export function sendProblem(request: FastifyRequest, reply: FastifyReply, problem: HttpProblem): void {
  const { type, text } = written(request, problem);
  // As bytes, or the framework adds a charset, which these types do not have.
  void reply.code(problem.status).headers(problem.headers).type(type).send(Buffer.from(text));
}

/**
 * Returns a problem as `{"detail": …}`, or in the form of RFC 9457 when the client accepts it or the path is in the
 * second run API.
 */
export function written(asked: Asked, problem: HttpProblem): { type: string; text: string } {
  if (wantsProblemJson(asked)) {
    return { type: 'application/problem+json', text: JSON.stringify(describe(asked.id, problem)) };
  }
  return { type: 'application/json', text: JSON.stringify({ ...problem.members, detail: problem.detail }) };
}

function wantsProblemJson({ headers, url }: Asked): boolean {
  return (headers.accept?.includes('application/problem+json') ?? false) || /^\/v2\/(?:runs|datasets)\b/.test(url);
}

function describe(requestId: string, problem: HttpProblem) {
  const { status, detail, members } = problem;
  const problems = typeof detail === 'string' ? [] : detail;
  return {
    ...members,
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: typeof detail === 'string' ? detail : 'The request does not fit its schema.',
    request_id: requestId,
    ...(problems.length > 0 && { errors: problems.map(pointTo) }),
  };
}

/** Returns a problem with its JSON pointer within one part of the request. */
function pointTo({ type, loc, msg, input, ctx }: Problem) {
  const [part, ...members] = loc;
  const steps = type === 'json_invalid' ? [] : members;
  const pointer = steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  return { detail: msg, in: part, pointer: `#${pointer}`, type, input, ...(ctx && { ctx }) };
}

/** Returns a signal that aborts when the client closes its connection. */
export function untilClosed({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = () => gone.abort(new Error('The client closed the connection.'));
  // The client may have gone while its key was looked at: then its connection closes no more.
  if (raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
