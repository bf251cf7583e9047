import { Access, Area, Describe, validateRequest } from '@fairlead/api';
import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { logs } from './log.answers.schema';
import type { LogPhase } from './log.book';
import { LogQueries } from './log.queries';
import { logPath, logQuery, revisionLogPath } from './log.schema';

/** The build and deploy logs of a deployment, which these paths call a project. */
@Area('Logs')
@Controller('v1/projects/:deployment_id')
export class LogsController {
  constructor(private readonly queries: LogQueries) {}

  @Post('revisions/:revision_id/build_logs')
  @Access('read')
  @Describe({
    summary: 'Read the build log of a revision',
    path: revisionLogPath,
    body: logQuery,
    answers: { 200: logs },
  })
  @HttpCode(200)
  build(@Req() request: FastifyRequest) {
    return this.ofRevision(request, 'build');
  }

  @Post('revisions/:revision_id/deploy_logs')
  @Access('read')
  @Describe({
    summary: 'Read the deploy log of a revision',
    path: revisionLogPath,
    body: logQuery,
    answers: { 200: logs },
  })
  @HttpCode(200)
  deploy(@Req() request: FastifyRequest) {
    return this.ofRevision(request, 'deploy');
  }

  /** Of all revisions together. */
  @Post('deploy_logs')
  @Access('read')
  @Describe({ summary: 'Read the deploy logs of all revisions', path: logPath, body: logQuery, answers: { 200: logs } })
  @HttpCode(200)
  async deployments(@Req() request: FastifyRequest) {
    const { path, body } = validateRequest(request, { path: logPath, body: logQuery });
    return this.queries.page(request.actor.tenantId, { ...path, phase: 'deploy' }, body);
  }

  private async ofRevision(request: FastifyRequest, phase: LogPhase) {
    const { path, body } = validateRequest(request, { path: revisionLogPath, body: logQuery });
    return this.queries.page(request.actor.tenantId, { ...path, phase }, body);
  }
}
