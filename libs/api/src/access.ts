import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig } from 'fastify';
import type { Described } from './describe';

/** What a key may do. `admin` includes `write`, which includes `read`; `secrets:read` and `tokens:read` stand alone. */
export type Scope = 'read' | 'write' | 'admin' | 'secrets:read' | 'tokens:read';

/** Who sent a request, as far as the key tells. */
export interface Actor {
  readonly keyId: string;
  readonly tenantId: string;
  readonly organizationId: string;
  readonly scopes: ReadonlySet<Scope>;
  /** True for the key of the operator of the installation, who may see what belongs to no tenant. */
  readonly operator?: boolean;
}

/** A key that was recognised, whether or not it may do what it was sent for. */
type Claimant = Pick<Actor, 'keyId'> & { readonly tenantId: string | null };

/** Which names answers use. */
export type Dialect = 'specification' | 'wire';

/**
 * What a request costs while it is under way: `upload` a lot; `wait` next to nothing, because it waits for something
 * outside the service. `vital` requests are never refused for the sake of others.
 */
export type Load = 'usual' | 'upload' | 'wait' | 'vital';

interface RouteOptions {
  /** The body is not read before the handler runs: `request.raw` is the stream. */
  readonly stream?: boolean;
  /** `usual` unless it says otherwise. */
  readonly load?: Load;
  /** Answered by a process behind a gateway to whoever asks, not only to the gateway. */
  readonly direct?: boolean;
  /**
   * The followers whose tables the handler reads, or decides by: it runs once they show all that its workspace had
   * written before the request came.
   */
  readonly views?: readonly string[];
  /** Only for the key of the operator of the installation. */
  readonly operator?: boolean;
  /** The views show what belongs to several workspaces, and all of it is waited for. */
  readonly acrossWorkspaces?: boolean;
}

/** What a route declares about itself. */
export interface RouteAccess extends RouteOptions {
  readonly scope: Scope | 'public';
}

const configs = new WeakMap<object, FastifyContextConfig>();

/** What the decorators of a handler and of its parameters have said about its route so far. */
export function configOf(handler: object): FastifyContextConfig {
  return configs.get(handler) ?? {};
}

/** Adds to what the decorators of a handler have said about its route so far. */
export function configureRoute(more: FastifyContextConfig): MethodDecorator {
  return (target, name, descriptor) => {
    const handler = descriptor.value as object;
    const config = { ...configOf(handler), ...more };
    configs.set(handler, config);
    return RouteConfig(config)(target, name, descriptor);
  };
}

/**
 * The scope that a key needs for this route; every route has one, or the server does not start. It is checked before
 * the body is read, by the gateway too when it forwards the request.
 */
export function Scope(scope: Scope | 'public', { stream = false, ...more }: RouteOptions = {}): MethodDecorator {
  return configureRoute({ scope, stream, ...more });
}

/** True when the actor's scopes cover `scope`. */
export function allows(actor: Actor, scope: Scope): boolean {
  const { scopes } = actor;
  if (scopes.has(scope)) return true;
  if (scope === 'read') return scopes.has('write') || scopes.has('admin');
  return scope === 'write' && scopes.has('admin');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on every route that is not public. */
    actor: Actor;
    /** Set as soon as the key is recognised: a refused request is told of by it. */
    claimant?: Claimant;
    /** A key or code in the body that was refused: a guess, as a wrong key in a header is. */
    guessed?: string;
    dialect: Dialect;
  }
  interface FastifyContextConfig {
    scope?: Scope | 'public';
    stream?: boolean;
    load?: Load;
    description?: Partial<Described>;
    direct?: boolean;
    views?: readonly string[];
    acrossWorkspaces?: boolean;
    operator?: boolean;
    /** Another process answers. */
    forward?: boolean;
  }
}
