import { EventingModule, type EventingParts } from '@fairlead/eventing';
import { checkIdentity, IdentityKeys } from '@fairlead/edge';
import type { DynamicModule } from '@nestjs/common';
import { HealthModule } from './health/health.module';
import { services } from './services';
import type { Service } from './service';
import type { ServiceName, Settings } from './settings/settings';
import { DRAIN_MS, requireTogether, type Running, start } from './start';

/**
 * Starts one service in this process, behind a gateway, on the database that all services share.
 * @throws StartProblem, DatabaseProblem and other errors with one line for the operator.
 */
export async function startAlone(name: ServiceName, settings: Settings): Promise<Running> {
  requireTogether(settings, false);
  const service = await services[name](settings);
  let keys: IdentityKeys;
  return start(
    {
      name,
      migrations: [...service.migrations, ...(service.alone?.migrations ?? [])],
      entities: service.entities,
      module: (parts) => {
        keys = new IdentityKeys(parts.pool);
        return AloneModule.register(parts, service, settings);
      },
      server: () => ({ authenticate: (request) => checkIdentity(keys, name, request), behindGateway: true }),
      drain: DRAIN_MS,
    },
    settings,
  );
}

class AloneModule {
  static register(parts: EventingParts, { module, alone }: Service, settings: Settings): DynamicModule {
    const given = alone?.modules(settings) ?? [];
    return {
      module: AloneModule,
      imports: [EventingModule.forRoot(parts), ...given, module(settings), HealthModule.register(settings)],
    };
  }
}
