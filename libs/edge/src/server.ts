import type { IncomingMessage } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Dialect } from '@fairlead/api';
import { ConnectionShares } from './address-connections';
import { Admission } from './admission/admission';
import { admit, type Authenticate, type Pages } from './admit';
import { answerTo, sendProblem } from '@fairlead/api';
import { answersClientErrors } from './client-error';
import { OnFinishHooks } from './on-finish';
import { canonicalUrl, readsWire } from './http/canonical-url';
import { Doors } from './doors';
import { continueWhenRead } from './http/expectation';
import { EDGE_DEFAULTS, type EdgeSettings } from './edge-settings';
import { loggedError } from './observability/logged-error';
import { countTurnedAway, type MetricsOptions, serveMetrics } from './observability/metrics';
import { NestLogger } from './observability/nest-logger';
import { oneAtATime } from './admission/pipelining';
import { ProblemFilter } from './problem-filter';
import { limitReads } from './read-requests';
import { type Limits, readBodies } from './request-body';
import { compressAnswers } from './headers/compression';
import { requestId } from './headers/request-id';
import { logRequests, logTurnedAway } from './observability/request-log';
import { type RefusedRequest, tellRefused } from './admission/refused';
import { DefaultHeaders } from './headers/default-headers';
import { MOST_VALUES } from '@fairlead/schema';
import { keepTable, StrictRoutesGuard, RouteTable } from '@fairlead/api';
import { endTrace } from './observability/request-tracing';
import { endSlowReaders } from './admission/slow-readers';
import { reportTurnedAway } from './admission/turned-away';
import { shedLoad } from './admission/load-shedding';
import { bookAnswers } from './admission/unread';
import { offerWebSockets } from './web-sockets';

export interface ServerOptions {
  readonly logger: Logger;
  readonly authenticate: Authenticate;
  /**
   * True: requests come from a gateway, which `authenticate` checks, also for public routes unless they are `direct`.
   */
  readonly behindGateway?: boolean;
  /** Names that answers use where the path does not decide. */
  readonly dialect?: Dialect;
  readonly limits?: Partial<ServerLimits>;
  /** Called for every request that was answered 401 or 403. */
  readonly refused?: (refused: RefusedRequest) => void;
  readonly edge?: Partial<EdgeSettings>;
  /** Settings of `GET /metrics`; absent: it is not served. */
  readonly metrics?: MetricsOptions;
  /** Number of further handles to listen on. Each handle accepts one connection in a turn of the event loop. */
  readonly doors?: number;
  /** True: makes a span for every request. Call `startTracing` before. */
  readonly traced?: boolean;
  /** True: requests for a WebSocket reach their routes as such. */
  readonly webSockets?: boolean;
  /** Returns the path below which requests for a host are served; undefined for the host of the server itself. */
  readonly hosted?: (host: string | undefined) => string | undefined;
  /** Answers browsers that ask for a page. */
  readonly pages?: Pages;
}

interface ServerLimits extends Limits {
  /** Time limit for the headers of a request (ms). */
  readonly headers: number;
  /** Time after which a client that reads nothing of its answer is disconnected (ms). */
  readonly reading: number;
  /** When the server stops: time that clients have to close idle connections (ms). */
  readonly drain: number;
}

const DEFAULTS: Omit<ServerLimits, 'rate' | 'memory'> = {
  body: 8 * 1024 * 1024,
  depth: 100,
  values: MOST_VALUES,
  idle: 30_000,
  headers: 60_000,
  reading: 30_000,
  drain: 0,
};
const GRACE = 10_000;
const LONGEST_PATH_PART = 1024;
/** Largest size of headers: a gateway adds to those of a request, of which Node accepts 16 KiB. */
const GATEWAY_HEADER_BYTES = 32 * 1024;
type Module = Parameters<typeof NestFactory.create>[0];
type Spelled = IncomingMessage & { dialect?: Dialect };

/**
 * Returns an application that is ready to listen: canonical paths, request ids, authentication by the scope of the
 * route, bodies that are read afterwards, and all errors in one form. @throws Error when a route declares no scope.
 */
export async function createServer(module: Module, options: ServerOptions): Promise<NestFastifyApplication> {
  const edge = { ...EDGE_DEFAULTS, ...options.edge };
  const limits = { ...DEFAULTS, rate: edge.bodyRate, memory: edge.bodyMemory, ...options.limits };
  const logger = options.logger.child({}, { serializers: { err: loggedError } });
  const defaultHeaders = new DefaultHeaders(edge);
  const adapter = new FastifyAdapter({
    logger: false,
    skipMiddie: true,
    trustProxy: options.behindGateway ?? believed(edge.trustProxy),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    keepAliveTimeout: 65_000,
    requestTimeout: 0,
    http: {
      requireHostHeader: false,
      headersTimeout: limits.headers,
      ...(options.behindGateway && { maxHeaderSize: GATEWAY_HEADER_BYTES }),
      connectionsCheckingInterval: Math.min(limits.headers, 5_000),
    },
    routerOptions: { maxParamLength: LONGEST_PATH_PART, ignoreTrailingSlash: true },
    genReqId: requestId,
    rewriteUrl(request: Spelled) {
      const below = options.hosted?.(request.headers.host);
      if (below !== undefined) return below + pathOf(request.url ?? '/');
      const fallback = readsWire(request.headers) ? 'wire' : options.dialect;
      const { url, dialect } = canonicalUrl(request.url ?? '/', fallback);
      request.dialect = dialect;
      return url;
    },
    frameworkErrors(error: Error, request: FastifyRequest, reply: FastifyReply) {
      void reply.headers(defaultHeaders.for(request.headers, request.url, request.id));
      sendProblem(request, reply, answerTo(error).problem);
    },
    clientErrorHandler: answersClientErrors(edge.https),
  });
  const instance: FastifyInstance = adapter.getInstance();
  const table = new RouteTable(instance);
  // The gateway has counted what comes from it.
  const admission = new Admission(options.behindGateway ? { ...edge, rates: {} } : edge);
  const { authenticate, traced = false, behindGateway = false, hosted } = options;
  const pages: Pages = (request) =>
    hosted?.(request.headers.host) === undefined ? options.pages?.(request) : undefined;
  const onFinish = new OnFinishHooks();
  const shares = behindGateway ? undefined : new ConnectionShares(instance.server, edge, logger);
  admit(instance, { table, defaultHeaders, admission, authenticate, traced, behindGateway, pages, shares }, onFinish);
  limitReads(instance);
  const { hooks } = onFinish;
  const report = reportTurnedAway(logger);
  const doors = new Doors(instance.server, edge.connections);
  compressAnswers(instance);
  hooks.push((request) => admission.depart(request), bookAnswers(instance, admission));
  hooks.push(readBodies(instance, limits, admission), logRequests(logger, report));
  const { refused } = options;
  if (refused) hooks.push((request, reply) => tellRefused(request, reply, refused));
  if (options.metrics) hooks.push(serveMetrics(instance, admission, doors, options.metrics));
  if (traced) hooks.push(endTrace);
  const { dialect } = options;
  const turnedAway = [logTurnedAway(logger, report), ...(options.metrics ? [countTurnedAway] : [])];
  const open = shedLoad(instance.server, { admission, table, defaultHeaders, dialect, told: turnedAway });
  const isAnswering = oneAtATime(instance.server);
  const endWebSockets = options.webSockets ? offerWebSockets(instance.server, isAnswering) : () => undefined;
  // An answer that the framework gives while it closes says that its connection closes.
  instance.addHook('preClose', (done) => {
    open();
    endWebSockets();
    done();
  });
  if (options.doors !== undefined) openDoors(doors, options.doors, instance.server, logger);
  closeInTime(instance, limits.drain, doors);
  endSlowReaders(instance.server, limits.reading);
  continueWhenRead(instance.server);
  // An expectation that nobody knows may be ignored; Node's own refusal of it would carry no request id.
  instance.server.on('checkExpectation', (request, response) => instance.server.emit('request', request, response));

  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    abortOnError: false,
    logger: new NestLogger(logger),
  });
  app.useGlobalGuards(new StrictRoutesGuard());
  app.useGlobalFilters(new ProblemFilter(logger, admission));
  await app.init();
  keepTable(instance, table);
  return app;
}

/** Returns the path of a request, which may name the whole address. */
function pathOf(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}

/** Returns which proxies are trusted to report the address of a client. */
function believed(proxies: EdgeSettings['trustProxy']) {
  if (typeof proxies === 'number') return (_address: string, hop: number) => hop < proxies;
  return proxies ? [...proxies] : false;
}

function openDoors(doors: Doors, count: number, server: NetServer, logger: Logger): void {
  server.once('listening', () => {
    doors.open(count).catch((error: unknown) => {
      logger.warn({ err: error }, 'Under load new connections may have to wait');
    });
  });
}

/**
 * Closes the server within a time limit. Running requests may finish. Clients have `drain` milliseconds to close idle
 * connections; requests on them are still answered, with `connection: close`.
 */
function closeInTime(instance: FastifyInstance, drain: number, doors: Doors): void {
  const { server } = instance;
  instance.addHook('onClose', () => doors.empty());
  instance.addHook('preClose', async () => {
    doors.close();
    setTimeout(() => server.closeAllConnections(), GRACE).unref();
    if (drain === 0) return;
    // Not the method of an HTTP server, which would close those connections at once.
    const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
    await Promise.race([Promise.all([closed, doors.empty()]), delay(drain, undefined, { ref: false })]);
  });
}
