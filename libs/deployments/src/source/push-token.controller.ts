import { Answers, Area, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import { BadRequest, type Infer } from '@fairlead/schema';
import { Controller, HttpCode, Post } from '@nestjs/common';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { pushToken } from '../deployment/deployment.answers.schema';
import { deploymentPath } from '../deployment/deployment.schema';
import { DeploymentsOptions } from '../model/deployments.options';

@Area('Sources')
@Controller('v2/deployments/:deployment_id/push-token')
export class PushTokenController {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly options: DeploymentsOptions,
  ) {}

  /** The operator's registry and a token with which a client can push an image there. */
  @Post()
  @Scope('write')
  @Describe({ summary: 'Get a token to push an image with' })
  @Answers({ 200: pushToken })
  @HttpCode(200)
  async issue(@Context() context: CommandContext, @Path(deploymentPath) path: Infer<typeof deploymentPath>) {
    const { state } = await this.commands.find(context.tenantId, path.deployment_id);
    // Clients look for this very sentence, so it keeps their name of the source.
    if (state.source !== 'internal_container') {
      throw new BadRequest("A push token is only available for 'internal_docker' source deployments.");
    }
    const { registry } = this.options;
    if (!registry)
      throw new BadRequest('No registry is configured: the operator sets REGISTRY_URL and REGISTRY_TOKEN.');
    return { token: registry.token, registry_url: registry.url };
  }
}
