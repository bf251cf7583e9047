import type { Route } from '@fairlead/api';
import type { EventingParts } from '@fairlead/eventing';
import { edgeModule } from './edge.module';
import type { Service } from './service';
import { services } from './services';
import { readSettings, SERVICE_NAMES, type ServiceName } from './settings/settings';

/** Returns all routes that clients reach, as their controllers declare them. Nothing is started. */
export async function apiRoutes(): Promise<Route[]> {
  const loaded = new Map<ServiceName, Service>();
  for (const name of SERVICE_NAMES) loaded.set(name, await services[name]());
  const { declaredRoutes } = await import('@fairlead/gateway');
  const moduleOf = await edgeModule(loaded);
  return declaredRoutes(moduleOf({} as EventingParts, readSettings({}), () => undefined));
}
