import type { INestApplication } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import type { RouteAccess } from './access';
import type { Described } from './describe';

/** A route of a server, as its controller declared it. */
export interface Route extends RouteAccess {
  readonly method: string;
  readonly path: string;
  readonly description?: Described;
}

/** A route with a description. */
export type DescribedRoute = Route & { readonly description: Described };

/** All routes of a server instance. */
export class RouteTable {
  readonly routes: Route[] = [];
  private readonly unusual: Route[] = [];
  private readonly patterns = new Map<string, RegExp>();

  /** Collects the routes of an instance as they are added. A route without a scope makes the server fail to start. */
  constructor(instance: FastifyInstance) {
    instance.addHook('onRoute', ({ method, url, config }) => {
      for (const one of [method].flat()) {
        const scope = config?.scope;
        if (scope === undefined) throw new Error(`The route ${one} ${url} declares no scope: add @Scope(…).`);
        const { stream = false, load, description, views, acrossWorkspaces, strict } = config!;
        const route = {
          method: one,
          path: url,
          scope,
          stream,
          ...(load && { load }),
          ...(isDescribed(description) && { description }),
          ...(views && { views }),
          ...(acrossWorkspaces && { acrossWorkspaces }),
          ...(strict && { strict }),
        };
        this.routes.push(route);
        if (load !== undefined && load !== 'usual') this.unusual.push(route);
        this.patterns.set(url, toPattern(url));
      }
    });
  }

  /** Returns false when the route declares another load than `usual`. `url` is the canonical address. */
  isUsual(method: string, url: string): boolean {
    const path = url.split('?', 1)[0]!;
    return !this.unusual.some((route) => route.method === method && this.patterns.get(route.path)!.test(path));
  }

  /** Returns the methods of the routes for a path in alphabetical order; empty when there is no such path. */
  allowedAt(path: string): string[] {
    const matching = this.routes.filter((route) => this.patterns.get(route.path)?.test(path));
    const literal = matching.filter((route) => !/[:*]/.test(route.path));
    // A router prefers the path itself to one with parameters that would take it as well.
    const found = literal.length > 0 ? literal : matching;
    const methods = new Set(found.map((route) => route.method));
    return methods.size === 0 ? [] : [...methods.add('OPTIONS')].sort();
  }
}

/** Returns whether `@Describe` is among the decorators of the route. */
function isDescribed(description: Partial<Described> | undefined): description is Described {
  return description?.summary !== undefined;
}

function toPattern(url: string): RegExp {
  const source = url
    .split('/')
    .map((part) => {
      if (part.startsWith(':')) return '[^/]+';
      return part === '*' ? '.*' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('/');
  return new RegExp(`^${source}/?$`);
}

const tables = new WeakMap<object, RouteTable>();

/** Stores the table of an application for `routes`. */
export function keepTable(instance: FastifyInstance, table: RouteTable): void {
  tables.set(instance, table);
}

/** Returns every route of an application that `createServer` made, without the HEAD routes of GET routes. */
export function routes(app: Pick<INestApplication, 'getHttpAdapter'>): Route[] {
  const table = tables.get(app.getHttpAdapter().getInstance() as FastifyInstance);
  return (table?.routes ?? []).filter((route) => route.method !== 'HEAD');
}
