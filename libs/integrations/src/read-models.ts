import type { ReadModel } from '@fairlead/eventing';
import { integrationsProjection } from './integrations.projection';

/** The tables of this domain that can be made again from the log. */
export function integrationsReadModels(): ReadModel[] {
  return [{ name: 'integrations', tables: ['integrations'], projections: () => [integrationsProjection] }];
}
