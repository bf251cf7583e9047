import { Answers, Area, CommandContext, Context, Describe, Idempotent, Path, Query, Scope } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, Get, HttpCode, Post } from '@nestjs/common';
import { IntegrationCommands } from '../integration/integration.commands';
import { ReportWaits } from '../integration/integration.errors';
import { integrationPath } from '../integration/integration.schema';
import { VerdictReportQueries } from './verdict-report.queries';
import { report, reportPath, reports, reportsQuery } from './verdict-reports.schema';
import { VerdictReportsStore } from './verdict-reports.store';

/** Serves what code hosts were told of the gates of revisions, and tells them again. */
@Area('Integrations', 'reports')
@Controller('v1/integrations/:integration_id')
export class VerdictReportsController {
  constructor(
    private readonly integrations: IntegrationCommands,
    private readonly queries: VerdictReportQueries,
    private readonly reports: VerdictReportsStore,
  ) {}

  @Get('reports')
  @Scope('read', { strict: true })
  @Describe({
    summary: 'List what the code host is told of gates',
    description:
      'Revisions of the repositories in `reports` of the integration, the newest first, with what the code host said. Pages follow `next_cursor`; it is null on the last one.',
  })
  @Answers({ 200: reports })
  async list(
    @Context() { tenantId }: CommandContext,
    @Path(integrationPath) { integration_id: id }: Infer<typeof integrationPath>,
    @Query(reportsQuery) query: Infer<typeof reportsQuery>,
  ) {
    await this.integrations.find(tenantId, id);
    return this.queries.list(tenantId, id, query);
  }

  @Post('reports/:revision_id/retry')
  @Scope('write', { strict: true })
  @Idempotent()
  @Describe({
    summary: 'Tell the code host again of the gates of a revision',
    description: 'For reports that were set aside, or that somebody has changed at the host.',
  })
  @Answers({ 202: report, 409: 'It is waiting already.' })
  @HttpCode(202)
  async retry(
    @Context() { tenantId, command }: CommandContext,
    @Path(reportPath) { integration_id: id, revision_id: revisionId }: Infer<typeof reportPath>,
  ) {
    await this.integrations.find(tenantId, id);
    await this.queries.find(tenantId, id, revisionId);
    const isNoted = await this.reports.retry(tenantId, id, revisionId);
    if (!isNoted && !command?.mayBeRepeated) throw new ReportWaits(revisionId);
    return this.queries.find(tenantId, id, revisionId);
  }
}
