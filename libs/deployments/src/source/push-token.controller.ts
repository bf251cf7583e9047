import { EventStore, load, streamName } from '@fairlead/eventing';
import { Access, Area, Describe, validateRequest } from '@fairlead/api';
import { BadRequest } from '@fairlead/schema';
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { deploymentModel, owned } from '../deployment/deployment';
import { pushToken } from '../deployment/deployment.answers.schema';
import { deploymentPath } from '../deployment/deployment.schema';
import { DeploymentsOptions } from '../deployments.options';

@Area('Sources')
@Controller('v2/deployments/:deployment_id/push-token')
export class PushTokenController {
  constructor(
    private readonly store: EventStore,
    private readonly options: DeploymentsOptions,
  ) {}

  /** What a client needs to push an image: the operator's registry and its token. */
  @Post()
  @Access('write')
  @Describe({ summary: 'Get a token to push an image with', path: deploymentPath, answers: { 200: pushToken } })
  @HttpCode(200)
  async issue(@Req() request: FastifyRequest) {
    const { path } = validateRequest(request, { path: deploymentPath });
    const { state } = await load(this.store, deploymentModel, streamName('deployment', path.deployment_id));
    const { source } = owned(request.actor.tenantId, path.deployment_id, (deployment) => deployment)(state);
    // Clients look for this very sentence, so it keeps their name of the source.
    if (source !== 'internal_container') {
      throw new BadRequest("A push token is only available for 'internal_docker' source deployments.");
    }
    const { registry } = this.options;
    if (!registry)
      throw new BadRequest('No registry is configured: the operator sets REGISTRY_URL and REGISTRY_TOKEN.');
    return { token: registry.token, registry_url: registry.url };
  }
}
