import { authProviders } from './auth-providers.service';
import { deployments } from './deployments.service';
import { experiments } from './experiments.service';
import { integrations } from './integrations.service';
import { rollouts } from './rollouts.service';
import type { Service } from './service';
import type { ServiceName, Settings } from './settings/settings';
import { webhooks } from './webhooks.service';

/**
 * Loads a service with its domain, so that a process loads only the services that it runs, and with what else it needs
 * of others as the settings say.
 */
type LoadService = (settings?: Settings) => Promise<Service>;

/** Every service except the gateway. */
export const services = {
  deployments,
  integrations,
  'auth-providers': authProviders,
  experiments,
  rollouts,
  webhooks,
} satisfies Readonly<Record<ServiceName, LoadService>>;
