import { accessReadModels } from '@fairlead/access';
import { auditReadModels } from '@fairlead/audit';
import { authProvidersReadModels } from '@fairlead/auth-providers';
import { deploymentsReadModels } from '@fairlead/deployments';
import type { ReadModel } from '@fairlead/eventing';
import { evaluationReadModels } from '@fairlead/evaluation';
import { integrationsReadModels } from '@fairlead/integrations';
import { webhooksReadModels } from '@fairlead/webhooks';
import type { Installation } from './installation';

/** Every read model there is. */
export function readModels({ store, vault }: Installation): ReadModel[] {
  return [
    ...accessReadModels(),
    ...deploymentsReadModels(store),
    ...integrationsReadModels(),
    ...authProvidersReadModels(vault),
    ...evaluationReadModels(store),
    ...webhooksReadModels(),
    ...auditReadModels(),
  ];
}

/** Read models of the given names, all without any. @throws Error naming one that is not there */
export function chosen(models: readonly ReadModel[], names: readonly string[]): readonly ReadModel[] {
  for (const name of names) {
    if (models.some((model) => model.name === name)) continue;
    throw new Error(`There is no read model ${name}: ${models.map((model) => model.name).join(', ')}.`);
  }
  return names.length === 0 ? models : models.filter(({ name }) => names.includes(name));
}
