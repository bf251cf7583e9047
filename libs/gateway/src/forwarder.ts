import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Agent, type Dispatcher } from 'undici';
import { sendProblem } from '@fairlead/api';
import { bringsBody } from '@fairlead/edge';
import { HttpProblem } from '@fairlead/schema';
import { forwardingProblem, mayRepeat } from './forwarding.errors';
import { IDENTITY_HEADER, issueIdentity } from '@fairlead/edge';
import type { SigningKeys } from '@fairlead/edge';
import { Replicas } from './replicas';
import type { Route } from '@fairlead/api';
import type { RequestContext } from '@fairlead/edge';

/** One or several other processes that run a service. */
export interface Remote {
  /** The service for which the identity of a request is signed. */
  readonly service: string;
  readonly urls: readonly string[];
  readonly keys: SigningKeys;
}

const CONNECT_MS = 2000;
/** Time limit for an answer (ms): longer than the longest statement after which a service answers 504 itself. */
const ANSWER_MS = 130_000;
const LONGEST_WAIT_S = 300;
/**
 * Time for which an unused connection is kept (ms): shorter than the time that a stopping service waits before it
 * closes idle connections.
 */
const KEEP_ALIVE_MS = 4000;

/** Headers that are not forwarded: they are for one connection, or for the gateway only. */
const OWN_HEADERS = new Set([
  ...['connection', 'expect', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['host', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
  ...['authorization', 'x-api-key', 'x-tenant-id', IDENTITY_HEADER],
  ...['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-request-id'],
]);

/**
 * Cookies of console sessions, which are not forwarded (their names: `console-cookie.ts` of the access library).
 */
const SESSION_COOKIE = /^(?:__Host-fairlead|fairlead-\d+)=/;

/**
 * Streams requests to the processes of a service, and their answers back. A request that reached no process is sent to
 * another one. So is a request that only reads, when its process ends before it answers.
 */
export class Forwarder {
  private readonly replicas: Replicas;
  private readonly agent = new Agent({
    connect: { timeout: CONNECT_MS },
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });

  constructor(private readonly remote: Remote) {
    this.replicas = new Replicas(remote.urls);
  }

  /** Adds these routes to an instance once it is ready. */
  register(instance: FastifyInstance, routes: readonly Route[]): void {
    void instance.register((scope, _, done) => {
      for (const { method, path, ...access } of routes) {
        const config = { ...access, forward: true };
        scope.route({ method, url: path, config, handler: (request, reply) => this.forward(request, reply) });
      }
      scope.addHook('onClose', () => this.agent.destroy());
      done();
    });
  }

  private async forward(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const gone = untilGone(reply);
    try {
      const { statusCode, headers, body } = await this.send(request, gone);
      if (gone.aborted) {
        body.destroy();
        return reply;
      }
      void reply.code(statusCode).headers(headersBack(headers));
      // A connection cannot be used again before the request on it has been read.
      if (!request.raw.complete) void reply.header('connection', 'close');
      void reply.send(body);
    } catch (error) {
      this.fail(request, reply, error);
    }
    return reply;
  }

  /** Returns the answer of the first process that gives one. */
  private async send(request: FastifyRequest, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { service, keys } = this.remote;
    const { raw, method, originalUrl: path } = request;
    const { complete } = request.requestContext;
    const headers = headersFor(request);
    const limit = patience(request);
    let failure: unknown;
    // Once more than there are addresses: one address may stand for several processes.
    const order = this.replicas.order();
    for (const url of [...order, ...order.slice(0, 1)]) {
      const streamed = () => (bringsBody(raw) ? Readable.from(chunksOf(raw, complete), { objectMode: false }) : null);
      const body = request.readBody ?? streamed();
      try {
        // One for each attempt: a process takes an identity once.
        headers[IDENTITY_HEADER] = await issueIdentity(keys, service, request);
        const limits = { headersTimeout: limit, bodyTimeout: limit };
        const answer = await this.agent.request({ origin: url, path, method, headers, body, signal, ...limits });
        this.replicas.answered(url);
        // Nobody else listens until the answer is sent on; when the client goes before that, the error would end the process.
        answer.body.on('error', () => undefined);
        // An answer may come before the request is complete: what is left of it is of no use then.
        if (body instanceof Readable) body.once('close', () => raw.resume());
        return answer;
      } catch (error) {
        if (signal.aborted || isCutOff(raw) || error instanceof HttpProblem) throw error;
        failure = error;
        this.replicas.failed(url);
        if (!mayRepeat(error, method)) break;
      }
    }
    throw failure;
  }

  private fail(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
    const { raw } = request;
    if (reply.raw.destroyed || isCutOff(raw)) {
      reply.raw.destroy();
      return;
    }
    if (!raw.complete) void reply.header('connection', 'close');
    raw.resume();
    sendProblem(request, reply, error instanceof HttpProblem ? error : forwardingProblem(error));
  }
}

/**
 * Returns the headers of a forwarded request: without those for the gateway, and with those that the service trusts the
 * gateway for, which come first.
 */
function headersFor(request: FastifyRequest): IncomingHttpHeaders {
  const given = request.raw.headers;
  // RFC 9110, section 7.6.1: these are for one connection, too.
  const named = new Set(given.connection?.split(',').map((name) => name.trim().toLowerCase()));
  const entries = Object.entries(given).filter(([name]) => !OWN_HEADERS.has(name) && !named.has(name));
  const headers: IncomingHttpHeaders = {
    'x-request-id': request.id,
    'x-forwarded-for': request.ip,
    'x-forwarded-host': request.host,
    'x-forwarded-proto': request.protocol,
    ...Object.fromEntries(entries),
  };
  if (!bringsBody(request.raw)) delete headers['content-length'];
  const cookie = withoutSession(given.cookie ?? '');
  if (cookie === '') delete headers.cookie;
  else headers.cookie = cookie;
  return headers;
}

/** Returns the cookies without those of console sessions: the service learns the sender from the identity. */
function withoutSession(cookies: string): string {
  const pairs = cookies.split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => !SESSION_COOKIE.test(pair)).join('; ');
}

/**
 * Returns the headers of the answer. When the service closes its connection because it did not read the whole request,
 * so does the gateway.
 */
function headersBack(answered: IncomingHttpHeaders): IncomingHttpHeaders {
  const { connection, ...headers } = answered;
  delete headers['keep-alive'];
  return connection === 'close' ? { ...headers, connection } : headers;
}

/**
 * Yields the pieces of a body, which may be left unread or read in part, and read again later. The end is sent only
 * when there is room for the request, so that a service does not carry out what the gateway refuses. @throws
 * HttpProblem
 */
async function* chunksOf(raw: IncomingMessage, complete: RequestContext['complete']): AsyncIterable<Buffer> {
  let last: Buffer | undefined;
  for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
    if (last) yield last;
    last = chunk as Buffer;
  }
  const refusal = complete?.();
  if (refusal) throw refusal;
  if (last) yield last;
}

/** Returns whether the client left before its request was complete. */
function isCutOff(raw: IncomingMessage): boolean {
  return raw.destroyed && !raw.complete;
}

/** Returns how long an answer may take (ms): longer when the client asks the service to wait. */
function patience({ query }: FastifyRequest): number {
  const wait = Number((query as { timeout?: unknown }).timeout);
  return ANSWER_MS + (wait > 0 ? Math.min(wait, LONGEST_WAIT_S) * 1000 : 0);
}

/** Returns a signal that aborts when the client leaves before its answer is complete. */
function untilGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}
