import { authProviders } from './auth-providers.service';
import { deployments } from './deployments.service';
import { experiments } from './experiments.service';
import { integrations } from './integrations.service';
import { rollouts } from './rollouts.service';
import type { Service } from './service';
import { webhooks } from './webhooks.service';

/** Loads a service with its domain, which a process that does not run it never needs. */
type LoadService = () => Promise<Service>;

/** Every service but the gateway, which is the door to them. */
export const services = {
  deployments,
  integrations,
  'auth-providers': authProviders,
  experiments,
  rollouts,
  webhooks,
} satisfies Readonly<Record<string, LoadService>>;

export type ServiceName = keyof typeof services;

export const SERVICE_NAMES = Object.keys(services) as ServiceName[];

/** The setting that says where a service runs. */
export function urlVariable(name: ServiceName): string {
  return `${name.toUpperCase().replace('-', '_')}_URL`;
}
