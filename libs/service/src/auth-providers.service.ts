import { authProvidersMigrations, AuthProvidersModule, AuthProvidersOptions } from '@fairlead/auth-providers';
import { OutboundPolicy } from '@fairlead/outbound';
import type { Service } from './service';

export const authProviders: Service = {
  migrations: authProvidersMigrations,
  module: ({ outboundAllow, publicUrl }) =>
    AuthProvidersModule.with(new AuthProvidersOptions(new OutboundPolicy(outboundAllow), publicUrl)),
};
