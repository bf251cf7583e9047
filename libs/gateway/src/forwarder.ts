import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import replyFrom from '@fastify/reply-from';
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

/** Data of one request that the library carries in its headers. */
const TRIP = Symbol('trip');

interface Trip {
  readonly target: string;
  readonly request: FastifyRequest;
  readonly raw: IncomingMessage;
  readonly gone: AbortSignal;
  readonly patience: number;
  readonly complete: RequestContext['complete'];
}

/** A request as the library passes it; its address is not used. */
interface Sent {
  readonly method: Dispatcher.HttpMethod;
  readonly headers: IncomingHttpHeaders & { [TRIP]?: Trip };
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
 * Cookies of console sessions, which are not forwarded (their names: `console-cookie.http.ts` of the access library).
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
    void instance.register(async (scope) => {
      const undici = {
        request: (sent: Sent, done: (error: Error | null, answer?: Dispatcher.ResponseData) => void) => {
          this.send(sent).then((answer) => done(null, answer), done);
        },
      };
      await scope.register(replyFrom, { undici: undici as unknown as Agent, disableRequestLogging: true });
      for (const { method, path, ...access } of routes) {
        const config = { ...access, forward: true };
        scope.route({ method, url: path, config, handler: (request, reply) => this.forward(request, reply) });
      }
      scope.addHook('onClose', () => this.agent.destroy());
    });
  }

  private async forward(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const gone = untilGone(reply);
    const { complete } = request.requestContext;
    const trip = {
      ...{ target: request.originalUrl, request, raw: request.raw },
      ...{ gone, patience: patience(request), complete },
    };
    return reply.from('/', {
      getUpstream: () => 'http://service',
      rewriteRequestHeaders: (_, headers) => ({ ...headersFor(request, headers), [TRIP]: trip }),
      rewriteHeaders: (headers) => headersBack(headers),
      // Whether a request can be sent again is decided where it is sent.
      retryDelay: () => null,
      onError: (_, { error }) => this.fail(request, reply, (error.cause as Error | undefined) ?? error),
    });
  }

  /** Returns the answer of the first process that gives one. */
  private async send({ method, headers: { [TRIP]: trip, ...headers } }: Sent): Promise<Dispatcher.ResponseData> {
    const { target: path, request, raw, gone: signal, patience, complete } = trip!;
    const { service, keys } = this.remote;
    let failure: unknown;
    // Once more than there are addresses: one address may stand for several processes.
    const order = this.replicas.order();
    for (const url of [...order, ...order.slice(0, 1)]) {
      const streamed = () => (bringsBody(raw) ? Readable.from(chunksOf(raw, complete), { objectMode: false }) : null);
      const body = request.readBody ?? streamed();
      try {
        // One for each attempt: a process takes an identity once.
        headers[IDENTITY_HEADER] = await issueIdentity(keys, service, request);
        const limits = { headersTimeout: patience, bodyTimeout: patience };
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

  private fail(request: FastifyRequest, reply: FastifyReply, error: Error): void {
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
function headersFor(request: FastifyRequest, given: IncomingHttpHeaders): IncomingHttpHeaders {
  const entries = Object.entries(given).filter(([name]) => !OWN_HEADERS.has(name));
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
