import { Answers, Area, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { logPath } from '../logs/log.schema';
import { health } from './health.schema';
import { HealthQueries } from './health.queries';

@Area('Deployments', 'health')
@Controller('v2/deployments/:deployment_id/health')
export class DeploymentHealthController {
  constructor(private readonly queries: HealthQueries) {}

  @Get()
  @Scope('read')
  @Describe({
    summary: 'Tell what runs of a deployment',
    description: 'Asks the executor now: processes, what they use, and why a revision has failed or waits.',
  })
  @Answers({ 200: health })
  find(@Context() { tenantId }: CommandContext, @Path(logPath) { deployment_id }: Infer<typeof logPath>) {
    return this.queries.of(tenantId, deployment_id);
  }
}
