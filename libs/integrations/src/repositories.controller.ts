import { EventStore, load, streamName } from '@fairlead/eventing';
import { Access, Area, Describe, path, shape } from '@fairlead/api';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { integrationModel, owned } from './integration';
import { installation, repository } from './integrations.answers.schema';
import { integrationPath } from './integrations.schema';
import { INTEGRATIONS_VIEW, IntegrationsView } from './integrations.view';
import { installRecord, repositoryRecord } from './record';
import { Repositories } from './repositories.service';

/** The listings that deployments are made from; the managed ones are the same here, where every integration is ours. */
@Area('Integrations')
@Controller('v1/integrations')
export class RepositoriesController {
  constructor(
    private readonly store: EventStore,
    private readonly view: IntegrationsView,
    private readonly repositories: Repositories,
  ) {}

  /** Every integration of the tenant, not paged. */
  @Get(['codehost/install', 'managed/codehost/install'])
  @Access('read', { views: [INTEGRATIONS_VIEW] })
  @Describe({ summary: 'List integrations to choose from', answers: { 200: shape.list(installation) } })
  async install(@Req() request: FastifyRequest) {
    const { items } = await this.view.list(request.actor.tenantId);
    return items.map(installRecord);
  }

  /** Every repository that the integration can see, not paged. A list that is not of now carries `Warning: 110`. */
  @Get(['codehost/:integration_id/repos', 'managed/codehost/:integration_id/repos'])
  @Access('read', { load: 'wait' })
  @Describe({
    summary: 'List the repositories of an integration',
    description: 'All of them, not paged.',
    path: integrationPath,
    answers: { 200: shape.list(repository) },
    gives: ['Age', 'Warning'],
  })
  async list(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { integration_id: id } = path(integrationPath, request);
    const { state, version } = await load(this.store, integrationModel, streamName('integration', id));
    const integration = owned(request.actor.tenantId, id, (found) => found)(state);
    const { repositories, age, stale } = await this.repositories.list(integration, version);
    reply.header('age', String(Math.floor(age / 1000)));
    if (stale !== undefined) reply.header('warning', `110 - "Response is Stale: ${stale}"`);
    return repositories.map((repository) => repositoryRecord(id, repository));
  }
}
