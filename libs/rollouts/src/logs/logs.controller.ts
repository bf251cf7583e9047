import { Answers, Area, Body, CommandContext, Context, Describe, Path, Scope } from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, HttpCode, Post } from '@nestjs/common';
import { logPath, logQuery, logs, revisionLogPath } from './log.schema';
import { LogQueries } from './log.queries';

/** The build and deploy logs of a deployment, which these paths call a project. */
@Area('Logs')
@Controller('v1/projects/:deployment_id')
export class LogsController {
  constructor(private readonly queries: LogQueries) {}

  @Post('revisions/:revision_id/build_logs')
  @Scope('read')
  @Describe({ summary: 'Read the build log of a revision' })
  @Answers({ 200: logs })
  @HttpCode(200)
  build(
    @Context() { tenantId }: CommandContext,
    @Path(revisionLogPath) path: Infer<typeof revisionLogPath>,
    @Body(logQuery) body: Infer<typeof logQuery>,
  ) {
    return this.queries.page(tenantId, { ...path, phase: 'build' }, body);
  }

  @Post('revisions/:revision_id/deploy_logs')
  @Scope('read')
  @Describe({ summary: 'Read the deploy log of a revision' })
  @Answers({ 200: logs })
  @HttpCode(200)
  deploy(
    @Context() { tenantId }: CommandContext,
    @Path(revisionLogPath) path: Infer<typeof revisionLogPath>,
    @Body(logQuery) body: Infer<typeof logQuery>,
  ) {
    return this.queries.page(tenantId, { ...path, phase: 'deploy' }, body);
  }

  /** Logs of all revisions together. */
  @Post('deploy_logs')
  @Scope('read')
  @Describe({ summary: 'Read the deploy logs of all revisions' })
  @Answers({ 200: logs })
  @HttpCode(200)
  async deployments(
    @Context() context: CommandContext,
    @Path(logPath) path: Infer<typeof logPath>,
    @Body(logQuery) body: Infer<typeof logQuery>,
  ) {
    return this.queries.page(context.tenantId, { ...path, phase: 'deploy' }, body);
  }
}
