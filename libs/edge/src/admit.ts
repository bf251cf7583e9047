import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Actor, allows, type Dialect, type Scope } from '@fairlead/api';
import type { ConnectionShares } from './address-connections';
import type { Admission } from './admission/admission';
import { sendProblem } from '@fairlead/api';
import type { OnFinishHooks } from './on-finish';
import { BadRequest, Forbidden, HttpProblem, MethodNotAllowed, NotFound } from '@fairlead/schema';
import type { DefaultHeaders } from './headers/default-headers';
import { linger } from './admission/lingering';
import { checkReason } from '@fairlead/api';
import { leftOut } from './left-out';
import { traceRequest } from './observability/request-tracing';
import type { RouteTable } from '@fairlead/api';
import type { RequestContext } from './admission/request-context';

/**
 * Returns the sender of a request; undefined when a gateway says that none is needed. @throws Unauthorized, or
 * Forbidden
 */
export type Authenticate = (request: FastifyRequest) => Promise<Actor | undefined>;

/** Returns a function that answers with the page that a request asks for; undefined when it asks for none. */
export type Pages = (request: FastifyRequest) => ((reply: FastifyReply) => void) | undefined;

type Done = (error?: Error) => void;

interface Gatekeepers {
  readonly table: RouteTable;
  readonly defaultHeaders: DefaultHeaders;
  readonly admission: Admission;
  readonly authenticate: Authenticate;
  /** True when requests are traced. */
  readonly traced: boolean;
  /** True behind a gateway: then public routes, too, are answered only to the gateway, unless they are `direct`. */
  readonly behindGateway: boolean;
  readonly pages?: Pages;
  /** Undefined behind a gateway, which shares its connections itself. */
  readonly shares?: ConnectionShares;
}

/**
 * Admits a request: sets its id, its dialect and its actor, or refuses it because there is no room, no such path or
 * method, no valid key, or no scope. `onFinish` runs its hooks at the end.
 */
export function admit(instance: FastifyInstance, keepers: Gatekeepers, onFinish: OnFinishHooks): void {
  const { defaultHeaders, admission } = keepers;
  instance.decorateRequest('actor');
  instance.decorateRequest('requestContext');
  instance.decorateRequest('dialect', 'specification');
  instance.addHook('onRequest', (request, reply, done) => {
    request.requestContext = begin(request);
    onFinish.watch(request, reply);
    linger(request.raw, reply.raw);
    void reply.headers(defaultHeaders.for(request.headers, request.url, request.id));
    const { dialect } = request.raw as IncomingMessage & { dialect?: Dialect };
    if (dialect !== undefined) request.dialect = dialect;
    const { load = 'usual' } = request.routeOptions.config;
    const refusal = admission.arrive(request, reply, load);
    const way = () => {
      letIn(request, reply, done, keepers);
    };
    if (refusal) sendProblem(request, reply, refusal);
    else if (namesNoHost(request)) sendProblem(request, reply, new BadRequest('The request has no Host header.'));
    else if (keepers.traced && load !== 'vital') traceRequest(request, way);
    else way();
  });
}

function letIn(request: FastifyRequest, reply: FastifyReply, done: Done, keepers: Gatekeepers): void {
  const { table, defaultHeaders, admission, behindGateway } = keepers;
  const { scope, direct = false } = request.routeOptions.config;
  const page = keepers.pages?.(request);
  const refusal = request.method === 'OPTIONS' ? undefined : leftOut(request.url);
  if (page) {
    goOn(admission.anonymous(request), request, reply, () => page(reply));
  } else if (refusal) {
    done(refusal);
  } else if (scope === undefined) {
    const allowed = table.allowedAt(request.url.split('?', 1)[0] ?? '/');
    if (allowed.length === 0) done(new NotFound());
    else if (request.method !== 'OPTIONS') done(new MethodNotAllowed(allowed));
    else defaultHeaders.options(request, reply, allowed);
  } else if (scope === 'public' && (direct || !behindGateway)) {
    goOn(admission.anonymous(request), request, reply, done);
  } else {
    recognise(request, reply, done, scope, keepers);
  }
}

/** Returns whether the Host header is missing, which RFC 9112 requires in HTTP/1.1. */
function namesNoHost({ raw }: FastifyRequest): boolean {
  return raw.headers.host === undefined && raw.httpVersion === '1.1';
}

function begin(request: FastifyRequest): RequestContext {
  return {
    startedAt: performance.now(),
    address: request.ip ?? '',
    sentBefore: request.raw.socket.bytesWritten,
    unreadBytes: 0,
  };
}

function recognise(
  request: FastifyRequest,
  reply: FastifyReply,
  done: Done,
  scope: Scope | 'public',
  { admission, authenticate, shares }: Gatekeepers,
): void {
  authenticate(request).then(
    (actor) => {
      if (actor) {
        request.actor = actor;
        shares?.show(request.raw.socket, actor.tenantId);
      }
      if (scope === 'public') goOn(admission.anonymous(request), request, reply, done);
      else if (actor && mayEnter(actor, scope, request))
        goOn(admission.recognised(request, reply), request, reply, done);
      else done(actor && !allows(actor, scope) ? Forbidden.without(scope) : new Forbidden());
    },
    (error: Error) => {
      const limited = admission.refused(request, error);
      if (limited) sendProblem(request, reply, limited);
      else done(error);
    },
  );
}

/** Returns whether a key may use the route of a request. */
function mayEnter(actor: Actor, scope: Scope, { routeOptions: { config } }: FastifyRequest): boolean {
  if (actor.project !== undefined) return config.programs === true;
  return allows(actor, scope) && (config.operator !== true || actor.operator === true);
}

function goOn(refusal: HttpProblem | undefined, request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const problem = refusal ?? reasonFault(request);
  if (problem) sendProblem(request, reply, problem);
  else done();
}

function reasonFault(request: FastifyRequest): HttpProblem | undefined {
  try {
    checkReason(request);
    return undefined;
  } catch (error) {
    if (error instanceof HttpProblem) return error;
    throw error;
  }
}
