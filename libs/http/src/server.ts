import type { IncomingMessage } from 'node:http';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type Actor, allows, type Dialect } from './access';
import { answerTo, sendProblem } from './answer';
import { answerClientError } from './client-error';
import { canonicalUrl } from './dialects';
import { Forbidden, MethodNotAllowed, NotFound } from './errors';
import { NestLogger } from './nest-logger';
import { ProblemFilter } from './problem-filter';
import { type Limits, readBodies } from './request-body';
import { requestId } from './request-id';
import { logRequests } from './request-log';
import { type RefusedRequest, tellRefused } from './refused';
import { keepTable, RouteTable } from './routes';

export interface ServerOptions {
  readonly logger: Logger;
  /** Finds out who sends a request. @throws Unauthorized, or Forbidden */
  readonly authenticate: (request: FastifyRequest) => Promise<Actor>;
  /** The names that answers use where the path does not decide. */
  readonly dialect?: Dialect;
  readonly limits?: Partial<ServerLimits>;
  /** Told of every request that was answered 401 or 403. */
  readonly refused?: (refused: RefusedRequest) => void;
}

export interface ServerLimits extends Limits {
  /** Milliseconds for the head of a request. */
  readonly headers: number;
}

const DEFAULTS: ServerLimits = { body: 8 * 1024 * 1024, depth: 100, idle: 30_000, headers: 60_000 };
const GRACE = 10_000;
const LONGEST_PATH_PART = 1024;
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
};

type Module = Parameters<typeof NestFactory.create>[0];
type Spelled = IncomingMessage & { dialect?: Dialect };

/**
 * An application that is ready to listen: canonical paths, request ids, authentication by the scope of the route, bodies
 * read after it, every error answered in one shape.
 * @throws Error when a route declares no scope.
 */
export async function createServer(module: Module, options: ServerOptions): Promise<NestFastifyApplication> {
  const limits = { ...DEFAULTS, ...options.limits };
  const adapter = new FastifyAdapter({
    logger: false,
    skipMiddie: true,
    trustProxy: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    keepAliveTimeout: 65_000,
    requestTimeout: 0,
    http: {
      requireHostHeader: false,
      headersTimeout: limits.headers,
      connectionsCheckingInterval: Math.min(limits.headers, 5_000),
    },
    routerOptions: { maxParamLength: LONGEST_PATH_PART, ignoreTrailingSlash: true },
    genReqId: requestId,
    rewriteUrl(request: Spelled) {
      const { url, dialect } = canonicalUrl(request.url ?? '/', options.dialect);
      request.dialect = dialect;
      return url;
    },
    frameworkErrors(error: Error, request: FastifyRequest, reply: FastifyReply) {
      void reply.headers(HEADERS).header('x-request-id', request.id);
      sendProblem(request, reply, answerTo(error).problem);
    },
    clientErrorHandler: answerClientError,
  });
  const instance: FastifyInstance = adapter.getInstance();
  const table = new RouteTable(instance);
  admit(instance, table, options);
  readBodies(instance, limits);
  logRequests(instance, options.logger);
  const { refused } = options;
  if (refused) {
    instance.addHook('onResponse', (request, reply, done) => {
      tellRefused(request, reply, refused);
      done();
    });
  }
  closeInTime(instance);
  // An expectation that nobody knows may be ignored; Node's own refusal of it would carry no request id.
  instance.server.on('checkExpectation', (request, response) => instance.server.emit('request', request, response));

  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, {
    bodyParser: false,
    abortOnError: false,
    logger: new NestLogger(options.logger),
  });
  app.useGlobalFilters(new ProblemFilter(options.logger));
  await app.init();
  keepTable(app, table);
  return app;
}

/** Lets a request in: its id, its dialect, its actor; or no such path, no such method, no valid key, no scope. */
function admit(instance: FastifyInstance, table: RouteTable, options: ServerOptions): void {
  instance.decorateRequest('actor');
  instance.decorateRequest('dialect', 'specification');
  instance.addHook('onRequest', (request, reply, done) => {
    void reply.headers(HEADERS).header('x-request-id', request.id);
    request.dialect = (request.raw as Spelled).dialect ?? 'specification';
    const { scope } = request.routeOptions.config;
    if (scope === undefined) {
      const allowed = table.allowedAt(request.url.split('?', 1)[0] ?? '/');
      if (allowed.length === 0) done(new NotFound());
      else if (request.method !== 'OPTIONS') done(new MethodNotAllowed(allowed));
      else void reply.code(204).header('allow', allowed.join(', ')).send();
      return;
    }
    if (scope === 'public') {
      done();
      return;
    }
    options.authenticate(request).then((actor) => {
      request.actor = actor;
      if (allows(actor, scope)) done();
      else done(new Forbidden());
    }, done);
  });
}

/** Requests under way may finish while the server closes, but not for ever. */
function closeInTime(instance: FastifyInstance): void {
  instance.addHook('preClose', (done) => {
    setTimeout(() => {
      instance.server.closeAllConnections();
    }, GRACE).unref();
    done();
  });
}
