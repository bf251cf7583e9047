import { type DynamicModule, Module, type ModuleMetadata, type ValueProvider } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { createServer, type ServerOptions } from '..';
import { authenticateCaller } from './callers';

/** Makes one server of these modules, for the callers of the tests. Each line that it logs is added to `log`. */
export function startModules(
  imports: ModuleMetadata['imports'],
  log: string[] = [],
  options: Partial<ServerOptions> = {},
): Promise<NestFastifyApplication> {
  @Module({ imports })
  class StartedModule {}
  const logger = pino({ level: 'trace' }, { write: (line: string) => void log.push(line) });
  return createServer(StartedModule, { logger, authenticate: authenticateCaller, ...options });
}

/** Returns a module that provides values to all others, as that of another library does. */
export function provided(...providers: readonly ValueProvider[]): DynamicModule {
  @Module({})
  class ProvidedModule {}
  const names = providers.map(({ provide }) => provide);
  return { module: ProvidedModule, global: true, providers: [...providers], exports: names };
}
