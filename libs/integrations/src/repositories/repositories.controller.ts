import { Answers, Area, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import { type Infer, list } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { IntegrationCommands } from '../integration/integration.commands';
import { installation, integrationPath, repository } from '../integration/integration.schema';
import { INTEGRATIONS_VIEW } from '../integration/integration.projection';
import { IntegrationQueries } from '../integration/integration.queries';
import { installRecord, repositoryRecord } from '../integration/record';
import { Repositories } from './repositories.service';

/** Serves the lists that deployments are made from. The managed ones are the same. */
@Area('Integrations')
@Controller('v1/integrations')
export class RepositoriesController {
  constructor(
    private readonly commands: IntegrationCommands,
    private readonly queries: IntegrationQueries,
    private readonly repositories: Repositories,
  ) {}

  /** Every integration of the tenant, not paged. */
  @Get(['codehost/install', 'managed/codehost/install'])
  @Scope('read', { views: [INTEGRATIONS_VIEW] })
  @Describe({ summary: 'List integrations to choose from' })
  @Answers({ 200: list(installation) })
  async install(@Context() context: CommandContext) {
    const { items } = await this.queries.list(context.tenantId);
    return items.map(installRecord);
  }

  /** Lists every repository that the integration can see, not paged. An old list has the header `Warning: 110`. */
  @Get(['codehost/:integration_id/repos', 'managed/codehost/:integration_id/repos'])
  @Scope('read', { load: 'wait' })
  @Describe({
    summary: 'List the repositories of an integration',
    description: 'All of them, not paged.',
    gives: ['Age', 'Warning'],
  })
  @Answers({ 200: list(repository) })
  async list(
    @Context() context: CommandContext,
    @Path(integrationPath) { integration_id: id }: Infer<typeof integrationPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { state: integration, version } = await this.commands.find(context.tenantId, id);
    const { repositories, age, stale } = await this.repositories.list(integration, version);
    reply.header('age', String(Math.floor(age / 1000)));
    if (stale !== undefined) reply.header('warning', `110 - "Response is Stale: ${stale}"`);
    return repositories.map((repository) => repositoryRecord(id, repository));
  }
}
