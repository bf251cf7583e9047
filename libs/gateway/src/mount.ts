import { type DynamicModule, Module, type OnModuleInit, RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { HttpAdapterHost } from '@nestjs/core';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import type { FastifyInstance } from 'fastify';
import type { RouteAccess } from '@fairlead/api';
import { Forwarder, type Remote } from './forwarder';
import type { Route } from '@fairlead/api';

type ModuleLike = Type | DynamicModule;

/**
 * Returns a module that runs in this process or, with `remote`, one that forwards the requests for its routes. Routes,
 * scopes and errors are the same for clients.
 */
export function mount(module: ModuleLike, remote?: Remote): ModuleLike {
  if (!remote) return module;
  const forwarding = { provide: Forwarding, useFactory: forwardingTo(module, remote), inject: [HttpAdapterHost] };
  return { module: ForwardingModule, providers: [forwarding] };
}

/**
 * Returns the routes of the controllers of a module and of those that it imports, as they declare them. A module that
 * several others import counts once, as it does for NestJS.
 */
export function declaredRoutes(module: ModuleLike): Route[] {
  return [...new Set(controllersOf(module))].flatMap((controller) => {
    const prototype = controller.prototype as Record<string, unknown>;
    const handlers = Object.getOwnPropertyNames(prototype).map((name) => prototype[name] as object);
    return handlers.flatMap((handler) => routesOf(pathsOf(controller), handler));
  });
}

class Forwarding implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly routes: readonly Route[],
    private readonly remote: Remote,
  ) {}

  onModuleInit(): void {
    const instance = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    new Forwarder(this.remote).register(instance, this.routes);
  }
}

@Module({})
class ForwardingModule {}

function forwardingTo(module: ModuleLike, remote: Remote) {
  return (adapterHost: HttpAdapterHost) => new Forwarding(adapterHost, declaredRoutes(module), remote);
}

function controllersOf(module: ModuleLike): Type[] {
  const dynamic = 'module' in module ? module : undefined;
  const type = dynamic?.module ?? (module as Type);
  const declared = <T>(key: string) => (Reflect.getMetadata(key, type) ?? []) as T[];
  const imports = [...declared<ModuleLike>(MODULE_METADATA.IMPORTS), ...((dynamic?.imports ?? []) as ModuleLike[])];
  return [
    ...declared<Type>(MODULE_METADATA.CONTROLLERS),
    ...(dynamic?.controllers ?? []),
    ...imports.flatMap(controllersOf),
  ];
}

function routesOf(bases: readonly string[], handler: object): Route[] {
  if (typeof handler !== 'function' || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod];
  const access = Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as RouteAccess;
  const paths = bases.flatMap((base) => pathsOf(handler).map((path) => joined(base, path)));
  return paths.map((path) => ({ ...access, method, path }));
}

function pathsOf(declaring: object): string[] {
  return [Reflect.getMetadata(PATH_METADATA, declaring) as string | string[]].flat();
}

function joined(...parts: string[]): string {
  return `/${parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/')}`;
}
