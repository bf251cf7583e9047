import type { INestApplication } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import type { RouteAccess } from './access';
import type { Described } from './describe';

/** One route of a server, as its controller declared it. */
export interface Route extends RouteAccess {
  readonly method: string;
  readonly path: string;
  readonly description?: Described;
}

/** A route with a description. */
export type DescribedRoute = Route & { readonly description: Described };

/** All routes of an instance; finds what is allowed at a path. */
export class RouteTable {
  readonly routes: Route[] = [];
  private readonly unusual: Route[] = [];
  private readonly patterns = new Map<string, RegExp>();

  /** Watches an instance for new routes. One that declares no scope makes the server fail to start. */
  constructor(instance: FastifyInstance) {
    instance.addHook('onRoute', ({ method, url, config }) => {
      for (const one of [method].flat()) {
        const scope = config?.scope;
        if (scope === undefined) throw new Error(`The route ${one} ${url} declares no scope: add @Scope(…).`);
        const { stream = false, load, description, views, acrossWorkspaces } = config!;
        const route = {
          method: one,
          path: url,
          scope,
          stream,
          ...(load && { load }),
          ...(isDescribed(description) && { description }),
          ...(views && { views }),
          ...(acrossWorkspaces && { acrossWorkspaces }),
        };
        this.routes.push(route);
        if (load !== undefined && load !== 'usual') this.unusual.push(route);
        this.patterns.set(url, toPattern(url));
      }
    });
  }

  /** False for a request, by its canonical address, whose route says that it costs more or less than others. */
  isUsual(method: string, url: string): boolean {
    const path = url.split('?', 1)[0]!;
    return !this.unusual.some((route) => route.method === method && this.patterns.get(route.path)!.test(path));
  }

  /** Methods that routes for this path have, in order of the alphabet; empty when there is no such path. */
  allowedAt(path: string): string[] {
    const matching = this.routes.filter((route) => this.patterns.get(route.path)?.test(path));
    const literal = matching.filter((route) => !/[:*]/.test(route.path));
    // A router prefers the path itself to one with parameters that would take it as well.
    const found = literal.length > 0 ? literal : matching;
    const methods = new Set(found.map((route) => route.method));
    return methods.size === 0 ? [] : [...methods.add('OPTIONS')].sort();
  }
}

/** True when `@Describe` is among the decorators that have said something about the route. */
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

/** Remembers the table of an application for `routes`. */
export function keepTable(instance: FastifyInstance, table: RouteTable): void {
  tables.set(instance, table);
}

/** Every route of an application made by `createServer`, without the HEAD routes that come with GET. */
export function routes(app: Pick<INestApplication, 'getHttpAdapter'>): Route[] {
  const table = tables.get(app.getHttpAdapter().getInstance() as FastifyInstance);
  return (table?.routes ?? []).filter((route) => route.method !== 'HEAD');
}
