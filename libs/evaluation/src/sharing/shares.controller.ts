import { Answers, Area, Body, CommandContext, Context, Describe, Idempotency, Idempotent, Scope } from '@fairlead/api';
import { type Infer, note, nullable, object, uuid } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Post, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { removed, requireDataset } from '@fairlead/datasets';
import { EXPERIMENTS_VIEWS, found, Id, placeOfRun } from '@fairlead/runs';
import { ShareCommands } from './share.commands';
import { ShareQueries } from './share.queries';

const shareBody = object('ShareRunRequestBody', {
  session_id: note(uuid(), 'Session of the run.'),
  trace_id: note(uuid(), 'Trace of the run.'),
});
const unshareBody = object('UnshareRunRequestBody', { session_id: note(uuid(), 'Session of the run.') });
const share_token = note(uuid(), 'Part of the addresses at which it can be read without a key.');
const sharedRun = object('SharedRun', {
  run_id: note(uuid(), 'Run that is shared.'),
  share_token,
});
const sharedDataset = object('SharedDataset', {
  dataset_id: note(uuid(), 'Dataset that is shared.'),
  share_token,
});
const token = object('ShareToken', { share_token });
const VIEWS = { views: EXPERIMENTS_VIEWS };

@Area('Sharing')
@Controller()
export class SharesController {
  constructor(
    private readonly pool: Pool,
    private readonly commands: ShareCommands,
    private readonly queries: ShareQueries,
    private readonly idempotency: Idempotency,
  ) {}

  @Put('api/v1/runs/:run_id/share')
  @Scope('write', VIEWS)
  @Describe({
    summary: 'Share a run',
    description:
      'Whoever has the token may read the run and all runs below it, without a key. The token is made here, whatever the body says; a run that is shared already keeps its own.',
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({ 200: sharedRun, 400: 'The workspace shares too much.' })
  async shareRun(
    @Context() context: CommandContext,
    @Id('run_id') run_id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const share = () => this.share(context, 'run', run_id);
    await this.idempotency.run(request, reply, share);
    return { run_id, share_token: await this.tokenOf(context, 'run', run_id) };
  }

  @Get('api/v1/runs/:run_id/share')
  @Scope('read', VIEWS)
  @Describe({ summary: 'Get the token of a shared run', description: 'It is null when the run is not shared.' })
  @Answers({ 200: nullable(sharedRun) })
  async runToken(@Context() context: CommandContext, @Id('run_id') run_id: string) {
    const session = await this.sessionOf(context, run_id);
    found(session, 'Run ID', run_id);
    const share_token = (await this.queries.tokens(context.tenantId, 'run', [run_id])).get(run_id);
    return share_token === undefined ? null : { run_id, share_token };
  }

  @Delete('api/v1/runs/:run_id/share')
  @Scope('write', VIEWS)
  @Idempotent()
  @Describe({
    summary: 'End the sharing of a run',
    description: 'Its token gives nothing any more, and the next one is another. What is not shared stays so.',
    takes: ['x-reason'],
  })
  @Answers({ 200: removed })
  async unshareRun(@Context() context: CommandContext, @Id('run_id') run_id: string) {
    found(await this.sessionOf(context, run_id), 'Run ID', run_id);
    await this.commands.unshare(context, 'run', run_id);
    return { message: `Run ${run_id} is not shared any more` };
  }

  @Post('v2/runs/:run_id/share')
  @HttpCode(200)
  @Scope('write', VIEWS)
  @Describe({
    summary: 'Share the trace of a run (second version)',
    description: 'Shares the root of the trace, and so all its runs.',
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({ 200: token, 400: 'The workspace shares too much.' })
  async shareTrace(
    @Context() context: CommandContext,
    @Id('run_id') run_id: string,
    @Body(shareBody) { session_id, trace_id }: Infer<typeof shareBody>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const known = await this.sessionOf(context, run_id, trace_id);
    found(known === session_id || undefined, 'Run ID', run_id);
    const share = () => this.share(context, 'run', trace_id);
    await this.idempotency.run(request, reply, share);
    return { share_token: await this.tokenOf(context, 'run', trace_id) };
  }

  @Delete('v2/runs/:run_id/share')
  @HttpCode(204)
  @Scope('write', VIEWS)
  @Idempotent()
  @Describe({
    summary: 'End the sharing of a trace (second version)',
    description: 'The run is the root of the trace. What is not shared stays so.',
    takes: ['x-reason'],
  })
  @Answers({ 204: null })
  async unshareTrace(
    @Context() context: CommandContext,
    @Id('run_id') run_id: string,
    @Body(unshareBody) { session_id }: Infer<typeof unshareBody>,
  ): Promise<void> {
    found((await this.sessionOf(context, run_id)) === session_id || undefined, 'Run ID', run_id);
    await this.commands.unshare(context, 'run', run_id);
  }

  @Put('api/v1/datasets/:dataset_id/share')
  @Scope('write', VIEWS)
  @Describe({
    summary: 'Share a dataset',
    description:
      'Whoever has the token may read the dataset, its newest examples, and its experiments with their statistics, without a key. A dataset that is shared already keeps its token.',
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({ 200: sharedDataset, 400: 'The workspace shares too much.' })
  async shareDataset(
    @Context() context: CommandContext,
    @Id('dataset_id') dataset_id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const share = () => this.share(context, 'dataset', dataset_id);
    await this.idempotency.run(request, reply, share);
    return { dataset_id, share_token: await this.tokenOf(context, 'dataset', dataset_id) };
  }

  @Get('api/v1/datasets/:dataset_id/share')
  @Scope('read', VIEWS)
  @Describe({ summary: 'Get the token of a shared dataset' })
  @Answers({ 200: sharedDataset, 404: 'There is no such dataset, or it is not shared.' })
  async datasetToken(@Context() context: CommandContext, @Id('dataset_id') dataset_id: string) {
    return { dataset_id, share_token: await this.tokenOf(context, 'dataset', dataset_id) };
  }

  @Delete('api/v1/datasets/:dataset_id/share')
  @Scope('write', VIEWS)
  @Idempotent()
  @Describe({
    summary: 'End the sharing of a dataset',
    description: 'Its token gives nothing any more, and the next one is another. What is not shared stays so.',
    takes: ['x-reason'],
  })
  @Answers({ 200: removed })
  async unshareDataset(@Context() context: CommandContext, @Id('dataset_id') dataset_id: string) {
    await requireDataset(this.pool, context.tenantId, dataset_id);
    await this.commands.unshare(context, 'dataset', dataset_id);
    return { message: `Dataset ${dataset_id} is not shared any more` };
  }

  private async share(context: CommandContext, kind: 'run' | 'dataset', id: string): Promise<void> {
    const isThere = await this.commands.share(context, kind, id);
    found(isThere || undefined, kind === 'run' ? 'Run ID' : 'Dataset ID', id);
  }

  /** Returns the token of something shared. No stored answer to an Idempotency-Key contains it. */
  private async tokenOf({ tenantId }: CommandContext, kind: 'run' | 'dataset', id: string): Promise<string> {
    const share_token = (await this.queries.tokens(tenantId, kind, [id])).get(id);
    return found(share_token, `Share of ${kind} ID`, id);
  }

  private async sessionOf({ actor }: CommandContext, runId: string, trace?: string): Promise<string | undefined> {
    const place = await placeOfRun(this.pool, actor.tenantId, runId);
    return trace === undefined || place?.trace_id === trace ? place?.session_id : undefined;
  }
}
