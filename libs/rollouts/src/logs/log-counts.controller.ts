import { Answers, Area, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, Get } from '@nestjs/common';
import { LogCountQueries } from './log-count.queries';
import { logCounts, logCountsQuery, logPath } from './log.schema';

@Area('Logs')
@Controller('v2/deployments/:deployment_id/log_counts')
export class LogCountsController {
  constructor(private readonly queries: LogCountQueries) {}

  @Get()
  @Scope('read', { strict: true })
  @Describe({
    summary: 'Count the lines of a log over time',
    description: 'The last 100,000 lines of the log at most.',
  })
  @Answers({ 200: logCounts })
  find(
    @Context() { tenantId }: CommandContext,
    @Path(logPath) { deployment_id }: Infer<typeof logPath>,
    @Query(logCountsQuery) query: Infer<typeof logCountsQuery>,
  ) {
    return this.queries.counts(tenantId, deployment_id, query);
  }
}
