import {
  Answers,
  Area,
  Body,
  CommandContext,
  Context,
  Describe,
  etag,
  Idempotent,
  Path,
  Scope,
  Spelling,
} from '@fairlead/api';
import type { Infer } from '@fairlead/schema';
import { Controller, Get, HttpCode, Post, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { revision } from '../deployment/deployment.answers.schema';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { deploymentPath, revisionPath } from '../deployment/deployment.schema';
import { revisionRecord } from '../deployment/record';
import { RevisionCommands } from '../revision/revision.commands';
import { gates } from '../model/gates.schema';

/** Declares the gates of deployments, and lets revisions through that they hold. */
@Area('Revisions')
@Controller('v2/deployments/:deployment_id')
export class GatesController {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly revisions: RevisionCommands,
  ) {}

  @Get('gates')
  @Scope('read')
  @Describe({ summary: 'Get the gates of a deployment', gives: ['ETag'] })
  @Answers({ 200: gates })
  async find(
    @Context() { tenantId }: CommandContext,
    @Path(deploymentPath) path: Infer<typeof deploymentPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { state } = await this.commands.find(tenantId, path.deployment_id);
    reply.header('etag', etag(state.edition));
    return { gates: state.gates ?? [] };
  }

  @Put('gates')
  @Scope('write')
  @Idempotent()
  @Describe({
    summary: 'Replace the gates of a deployment',
    description:
      'They hold revisions that are made later. Adding a gate takes the scope `write`; changing or removing one takes `admin` and a reason in `x-reason`.',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: gates, 409: 'It is being deleted.' })
  async declare(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Infer<typeof deploymentPath>,
    @Body(gates) sent: Infer<typeof gates>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { state } = await this.commands.declareGates(context, path.deployment_id, sent.gates);
    reply.header('etag', etag(state.edition));
    return { gates: state.gates ?? [] };
  }

  @Post('revisions/:revision_id/override')
  @Scope('admin')
  @Idempotent(Spelling)
  @Describe({
    summary: 'Deploy a revision whatever its gates say',
    description: 'The reason in `x-reason` is required, and is kept with the change.',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: revision, 409: 'It has ended, or no gate holds it.' })
  @HttpCode(200)
  async override(
    @Context() context: CommandContext,
    @Path(revisionPath) path: Infer<typeof revisionPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { state, revision } = await this.revisions.override(context, path);
    reply.header('etag', etag(state.edition));
    return revisionRecord(revision);
  }
}
