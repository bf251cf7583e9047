import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';
import type { ClaimedCommand } from './command';

/** Every scope that a key can have. */
export const SCOPES = ['read', 'write', 'admin', 'invoke', 'secrets:read', 'tokens:read'] as const;

/**
 * A permission of a key. `admin` includes `write`, which includes `read` and `invoke`; `secrets:read` and `tokens:read`
 * stand alone.
 */
export type Scope = (typeof SCOPES)[number];

const INCLUDED: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  write: ['write', 'read', 'invoke'],
  admin: ['admin', 'write', 'read', 'invoke'],
  invoke: ['invoke'],
  'secrets:read': ['secrets:read'],
  'tokens:read': ['tokens:read'],
};

/** The sender of a request: its key, workspace and scopes. */
export interface Actor {
  readonly keyId: string;
  readonly tenantId: string;
  readonly organizationId: string;
  readonly scopes: ReadonlySet<Scope>;
  /** True for the admin key of the installation, which may see what belongs to no workspace. */
  readonly operator?: boolean;
  /** The only tracing project that it may send runs to and see, by its name: it may do nothing else. */
  readonly project?: string;
}

/** A key that was recognised, whether or not it may do what the request asks for. */
type Claimant = Pick<Actor, 'keyId'> & { readonly tenantId: string | null };

/** The names that an answer uses: those of Fairlead (`specification`) or those of LangSmith (`wire`). */
export type Dialect = 'specification' | 'wire';

/**
 * The load of a running request. `upload`: heavy. `wait`: light, because it waits for something outside the service.
 * `vital`: never refused because of other requests.
 */
export type Load = 'usual' | 'upload' | 'wait' | 'vital';

interface RouteOptions {
  /** True: the handler reads the body itself, from the stream `request.raw`. */
  readonly stream?: boolean;
  /** Default: `usual`. */
  readonly load?: Load;
  /** True: a process behind a gateway answers this route to everybody, not only to the gateway. */
  readonly direct?: boolean;
  /** The views that the handler reads. It runs once they contain what its workspace had written before the request. */
  readonly views?: readonly string[];
  /** True: shows one value on request. `secrets:read` of the key behind a session of the console counts too. */
  readonly single?: boolean;
  /** True: a session of the console opens this route too, although the route has the scope `invoke`. */
  readonly console?: boolean;
  /** True: only for the admin key of the installation. */
  readonly operator?: boolean;
  /**
   * True: a JSON answer is compressed for clients that take it. Not for answers with secrets or signed addresses: beside
   * text that somebody else chose, their size would tell of them.
   */
  readonly compressed?: boolean;
  /** True: programs of deployments may use the route, for their tracing project only. Their keys open no other route. */
  readonly programs?: boolean;
  /** True: a public route that only reads the database, so that it has the limits of reads. */
  readonly reads?: boolean;
  /** True: a 401 to whoever sends neither a key nor a session answers a question, and is no refused attempt. */
  readonly anonymous?: boolean;
  /** True: the handler reads several workspaces, so it waits for the events of all of them. */
  readonly acrossWorkspaces?: boolean;
  /**
   * True: a query parameter that the schema does not name is refused, so that no misspelt filter passes. For routes that
   * exist in Fairlead only: the others ignore unknown parameters, as LangSmith does.
   */
  readonly strict?: boolean;
  /** True: about a key and its organisation, so a key of an organisation needs to name no workspace. */
  readonly organization?: boolean;
}

/** The declaration of a route. */
export interface RouteAccess extends RouteOptions {
  readonly scope: Scope | 'public';
}

const configs = new WeakMap<object, FastifyContextConfig>();

/** Returns what the decorators of a handler and of its parameters have declared so far. */
export function configOf(handler: object): FastifyContextConfig {
  return configs.get(handler) ?? {};
}

/** Adds to what the decorators of a handler have declared. */
export function configureRoute(more: FastifyContextConfig): MethodDecorator {
  return (target, name, descriptor) => {
    const handler = descriptor.value as object;
    const config = { ...configOf(handler), ...more };
    configs.set(handler, config);
    return RouteConfig(config)(target, name, descriptor);
  };
}

/**
 * Declares the scope that a key needs for the route. The server does not start with a route without one. The scope is
 * checked before the body is read, and the gateway checks it for forwarded requests too.
 */
export function Scope(scope: Scope | 'public', { stream = false, ...more }: RouteOptions = {}): MethodDecorator {
  return configureRoute({ scope, stream, ...more });
}

/** Returns whether the actor's scopes include `scope`. */
export function allows({ scopes }: Actor, scope: Scope): boolean {
  return scopes.has(scope) || [...scopes].some((held) => INCLUDED[held].includes(scope));
}

const effective = new WeakMap<readonly Scope[], ReadonlySet<Scope>>();

/** Returns scopes with those that they include. The set of an array is made once. */
export function effectiveScopes(scopes: readonly Scope[]): ReadonlySet<Scope> {
  let known = effective.get(scopes);
  if (!known) effective.set(scopes, (known = new Set(scopes.flatMap((scope) => INCLUDED[scope]))));
  return known;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route that is not public. */
    actor: Actor;
    /** Set as soon as the key is recognised, so that a refused request can be logged with it. */
    claimant?: Claimant;
    /** A wrong key or code in the body. It counts as a guess, like a wrong key in a header. */
    guessed?: string;
    /** True: it was sent without a key and without a session. */
    unidentified?: boolean;
    dialect: Dialect;
    /** Set while the handler of a route with an Idempotency-Key runs. */
    command?: ClaimedCommand;
  }
  interface FastifyContextConfig {
    scope?: Scope | 'public';
    stream?: boolean;
    load?: Load;
    direct?: boolean;
    single?: boolean;
    console?: boolean;
    views?: readonly string[];
    compressed?: boolean;
    reads?: boolean;
    acrossWorkspaces?: boolean;
    strict?: boolean;
    organization?: boolean;
    operator?: boolean;
    programs?: boolean;
    anonymous?: boolean;
    /** True when another process answers the request. */
    forward?: boolean;
  }
}
