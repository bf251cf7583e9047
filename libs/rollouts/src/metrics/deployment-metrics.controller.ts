import { Answers, Area, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { logPath } from '../logs/log.schema';
import { RolloutReports } from '../rollout/rollout-reports.service';
import { metrics, metricsQuery } from './metrics.schema';
import { MetricsStore } from './metrics.store';

@Area('Deployments', 'metrics')
@Controller('v2/deployments/:deployment_id/metrics')
export class DeploymentMetricsController {
  constructor(
    private readonly reports: RolloutReports,
    private readonly store: MetricsStore,
  ) {}

  @Get()
  @Scope('read', { compressed: true })
  @Describe({
    summary: 'Read what a deployment did and used over time',
    description:
      'Requests, errors, latency, memory and restarts. With the executor `local` all are measured; with `kubernetes` memory, where the cluster has a metrics server, and restarts; with others nothing.',
  })
  @Answers({ 200: metrics })
  async find(
    @Context() { tenantId }: CommandContext,
    @Path(logPath) { deployment_id }: Infer<typeof logPath>,
    @Query(metricsQuery) { period }: Infer<typeof metricsQuery>,
  ) {
    await this.reports.owned(tenantId, deployment_id);
    return { deployment_id, period, points: await this.store.points(tenantId, deployment_id, period) };
  }
}
