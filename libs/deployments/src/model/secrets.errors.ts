import { NotFound } from '@fairlead/schema';

export class SecretNotFound extends NotFound {
  constructor(deploymentId: string, name: string) {
    super(`Secret '${name}' of deployment ${deploymentId} not found.`);
  }
}
