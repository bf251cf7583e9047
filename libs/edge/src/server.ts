import type { IncomingMessage } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Dialect } from '@fairlead/api';
import { limitConnections } from './address-connections';
import { Admission } from './admission/admission';
import { admit, type Authenticate, type Pages } from './admission/admit';
import { answerTo, sendProblem } from '@fairlead/api';
import { answersClientErrors } from './client-error';
import { OnFinishHooks } from './on-finish';
import { canonicalUrl, readsWire } from '@fairlead/api';
import { Doors } from './doors';
import { continueWhenRead } from './expectation';
import { EDGE_DEFAULTS, type EdgeSettings } from './edge-settings';
import { loggedError } from './observability/logged-error';
import { countTurnedAway, type MetricsOptions, serveMetrics } from './observability/metrics';
import { NestLogger } from './observability/nest-logger';
import { oneAtATime } from './admission/pipelining';
import { ProblemFilter } from './problem-filter';
import { limitReads } from './read-requests';
import { type Limits, readBodies } from './request-body';
import { requestId } from './headers/request-id';
import { logRequests, logTurnedAway } from './observability/request-log';
import { type RefusedRequest, tellRefused } from './admission/refused';
import { DefaultHeaders } from './headers/default-headers';
import { MOST_VALUES } from '@fairlead/schema';
import { keepTable, RouteTable } from '@fairlead/api';
import { endTrace } from './observability/request-tracing';
import { endSlowReaders } from './admission/slow-readers';
import { reportTurnedAway } from './admission/turned-away';
import { shedLoad } from './admission/load-shedding';
import { bookAnswers } from './admission/unread';

export interface ServerOptions {
  readonly logger: Logger;
  readonly authenticate: Authenticate;
  /** Requests come from a gateway, which `authenticate` makes sure of; also for public routes, unless they are direct. */
  readonly behindGateway?: boolean;
  /** The names that answers use where the path does not decide. */
  readonly dialect?: Dialect;
  readonly limits?: Partial<ServerLimits>;
  /** Told of every request that was answered 401 or 403. */
  readonly refused?: (refused: RefusedRequest) => void;
  readonly edge?: Partial<EdgeSettings>;
  /** Serves `GET /metrics`. */
  readonly metrics?: MetricsOptions;
  /** Handles on which it listens beside the first: of each, one connection is taken in a turn of the event loop. */
  readonly doors?: number;
  /** Makes a span of every request: after `startTracing`. */
  readonly traced?: boolean;
  /** Answers requests of browsers that ask for a page. */
  readonly pages?: Pages;
}

interface ServerLimits extends Limits {
  /** Milliseconds for the head of a request. */
  readonly headers: number;
  /** Milliseconds after which a client that reads nothing of its answer is given up. */
  readonly reading: number;
  /** Milliseconds, when the server stops, in which connections on which nothing comes are left for the client to close. */
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
/** A gateway adds to the headers of a request, of which Node takes 16 KiB. */
const GATEWAY_HEADER_BYTES = 32 * 1024;
type Module = Parameters<typeof NestFactory.create>[0];
type Spelled = IncomingMessage & { dialect?: Dialect };

/**
 * An application that is ready to listen: canonical paths, request ids, authentication by the scope of the route, bodies
 * read after it, every error answered in one shape.
 * @throws Error when a route declares no scope.
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
      const fallback = readsWire(request.headers) ? 'wire' : options.dialect;
      const { url, dialect } = canonicalUrl(request.url ?? '/', fallback);
      request.dialect = dialect;
      return url;
    },
    frameworkErrors(error: Error, request: FastifyRequest, reply: FastifyReply) {
      void reply.headers(defaultHeaders.for(request.headers, request.id));
      sendProblem(request, reply, answerTo(error).problem);
    },
    clientErrorHandler: answersClientErrors(edge.https),
  });
  const instance: FastifyInstance = adapter.getInstance();
  const table = new RouteTable(instance);
  // The gateway has counted what comes from it.
  const admission = new Admission(options.behindGateway ? { ...edge, rates: {} } : edge);
  const { authenticate, traced = false, behindGateway = false, pages } = options;
  const onFinish = new OnFinishHooks();
  admit(instance, { table, defaultHeaders, admission, authenticate, traced, behindGateway, pages }, onFinish);
  limitReads(instance);
  const { hooks } = onFinish;
  const report = reportTurnedAway(logger);
  const doors = new Doors(instance.server, edge.connections);
  if (!behindGateway) limitConnections(instance.server, edge);
  hooks.push((request) => admission.depart(request), bookAnswers(instance, admission));
  hooks.push(readBodies(instance, limits, admission), logRequests(logger, report));
  const { refused } = options;
  if (refused) hooks.push((request, reply) => tellRefused(request, reply, refused));
  if (options.metrics) hooks.push(serveMetrics(instance, admission, doors, options.metrics));
  if (traced) hooks.push(endTrace);
  const { dialect } = options;
  const turnedAway = [logTurnedAway(logger, report), ...(options.metrics ? [countTurnedAway] : [])];
  const open = shedLoad(instance.server, { admission, table, defaultHeaders, dialect, told: turnedAway });
  oneAtATime(instance.server);
  // An answer that the framework gives while it closes says that its connection closes.
  instance.addHook('preClose', (done) => {
    open();
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
  app.useGlobalFilters(new ProblemFilter(logger, admission));
  await app.init();
  keepTable(instance, table);
  return app;
}

/** Which proxies' word is taken for where a request comes from. */
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
 * Requests under way may finish while the server closes, but not for ever. Before connections on which nothing comes are
 * closed here, clients have `drain` milliseconds to close them: what they send meanwhile is answered, and the answer says
 * that the connection ends with it.
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
