import { OutboundPolicy } from '@fairlead/outbound';
import type { Service } from './service';

export async function authProviders(): Promise<Service> {
  const { authProvidersEntities, authProvidersMigrations, AuthProvidersModule, AuthProvidersOptions } =
    await import('@fairlead/auth-providers');
  return {
    migrations: authProvidersMigrations,
    entities: authProvidersEntities,
    module: ({ outboundAllow, publicUrl }) =>
      AuthProvidersModule.register(new AuthProvidersOptions(new OutboundPolicy(outboundAllow), publicUrl)),
  };
}
