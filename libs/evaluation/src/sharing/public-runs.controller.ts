import { Readable } from 'node:stream';
import { Answers, Area, asText, Body, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import {
  BadRequest,
  datetime,
  type Infer,
  int,
  list,
  literal,
  note,
  NotFound,
  object,
  optional,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, Header, HttpCode, Post } from '@nestjs/common';
import { Pool } from 'pg';
import {
  decodeCursor,
  findRun,
  findRunPage,
  found,
  Id,
  JSON_TEXT,
  oneOrMany,
  pageV2,
  queryRuns,
  renderRunsV2,
  run,
  RUN_SELECT,
  type RunFilter,
  runsPage,
  runV2,
  sent,
  V2_SELECTS,
} from '@fairlead/runs';
import { PublicReading } from './public-reading.service';
import type { SharedRun } from './share.queries';

const MOST_RUNS = 100;
const MOST_RUNS_V2 = 10_000;
const TOO_MANY = 'The trace has more than 10,000 runs: POST /api/v1/public/{run_token}/runs/query gives them in pages.';
const runPath = object({
  run_token: note(uuid(), 'Token of a shared run.'),
  run_id: note(uuid(), 'The shared run, or a run below it.'),
});
const queryBody = object('PublicRunsQuery', {
  id: note(optional(list(uuid())), 'Only these runs.'),
  cursor: note(optional(str()), 'The `cursors.next` of the previous page; absent: the first page.'),
  limit: note(optional(int({ ge: 1, le: MOST_RUNS }), MOST_RUNS), 'Largest number of runs in the answer.'),
  order: note(optional(literal(['asc', 'desc']), 'desc'), '`desc`: the newest first.'),
  select: note(
    optional(list(literal(RUN_SELECT))),
    'Members to answer. The others are null, but for those that clients always need. Default: all.',
  ),
});
const selects = oneOrMany(literal(V2_SELECTS));
const v2Query = object({
  selects: note(optional(selects, ['ID']), 'Members to answer; repeatable.'),
  start_time: note(optional(datetime()), 'Accepted because clients send it; it changes nothing.'),
});
const v2Body = object('PublicRunsQueryV2', {
  selects: note(optional(list(literal(V2_SELECTS)), ['ID']), 'Members to answer.'),
});
const v2Runs = object('PublicRunsV2', {
  items: note(list(runV2), 'The shared run and the runs below it.'),
});
const PUBLIC = { description: 'No key is needed: the token stands for one. Attachments are not part of it.' };

const noLinks = () => Promise.resolve(new Map<string, never>());

@Area('Sharing')
@Controller()
export class PublicRunsController {
  constructor(
    private readonly pool: Pool,
    private readonly reading: PublicReading,
  ) {}

  @Get('api/v1/public/:run_token/run')
  @Header(...JSON_TEXT)
  @Scope('public', { reads: true })
  @Describe({ summary: 'Get a shared run', ...PUBLIC })
  @Answers({ 200: asText(run) })
  async top(@Context() context: CommandContext, @Id('run_token') runToken: string): Promise<string> {
    const { tenant, id, session } = await this.reading.run(context, runToken);
    return found(await findRun(this.pool, tenant, id, noLinks, session), 'Run ID', id);
  }

  @Get('api/v1/public/:run_token/run/:run_id')
  @Header(...JSON_TEXT)
  @Scope('public', { reads: true })
  @Describe({ summary: 'Get a run below a shared one', ...PUBLIC })
  @Answers({ 200: asText(run) })
  async one(@Context() context: CommandContext, @Path(runPath) path: Infer<typeof runPath>): Promise<string> {
    const shared = await this.reading.run(context, path.run_token);
    await this.mustBeBelow(shared, path.run_id);
    return found(await findRun(this.pool, shared.tenant, path.run_id, noLinks, shared.session), 'Run ID', path.run_id);
  }

  @Post('api/v1/public/:run_token/runs/query')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('public', { reads: true })
  @Describe({ summary: 'List a shared run and the runs below it', ...PUBLIC })
  @Answers({ 200: asText(runsPage) })
  async query(
    @Context() context: CommandContext,
    @Id('run_token') runToken: string,
    @Body(queryBody) body: Infer<typeof queryBody>,
  ): Promise<string | Readable> {
    const shared = await this.reading.run(context, runToken);
    const cursor = decodeCursor(body.cursor);
    const select = body.select?.length ? body.select : undefined;
    const page = { order: body.order, limit: body.limit, cursor, select, skipPrevious: true };
    return sent(await queryRuns(this.pool, shared.tenant, filterOf(shared, body.id), page, noLinks));
  }

  @Get('v2/public/:run_token/run/:run_id')
  @Header(...JSON_TEXT)
  @Scope('public', { reads: true })
  @Describe({ summary: 'Get a run below a shared one (second version)', ...PUBLIC })
  @Answers({ 200: asText(runV2) })
  async oneV2(
    @Context() context: CommandContext,
    @Path(runPath) path: Infer<typeof runPath>,
    @Query(v2Query) query: Infer<typeof v2Query>,
  ): Promise<string> {
    const shared = await this.reading.run(context, path.run_token);
    await this.mustBeBelow(shared, path.run_id);
    const rendering = { pool: this.pool, tenantId: shared.tenant, selects: query.selects, links: noLinks };
    return found((await renderRunsV2(rendering, [path.run_id]))[0], 'Run ID', path.run_id);
  }

  @Post('v2/public/:run_token/runs/query')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('public', { reads: true })
  @Describe({
    summary: 'List a shared run and the runs below it (second version)',
    description: `In the order of their start. ${PUBLIC.description}`,
  })
  @Answers({ 200: asText(v2Runs), 400: 'There are more than 10,000: the first version gives them in pages.' })
  async queryV2(
    @Context() context: CommandContext,
    @Id('run_token') runToken: string,
    @Body(v2Body) body: Infer<typeof v2Body>,
  ): Promise<Readable> {
    const shared = await this.reading.run(context, runToken);
    const page = { order: 'asc', limit: MOST_RUNS_V2, skipPrevious: true } as const;
    const { keys, next } = await findRunPage(this.pool, shared.tenant, filterOf(shared), page);
    if (next !== null) throw new BadRequest(TOO_MANY);
    const rendering = { pool: this.pool, tenantId: shared.tenant, selects: body.selects, links: noLinks };
    return Readable.from(pageV2(rendering, keys));
  }

  private async mustBeBelow(shared: SharedRun, id: string): Promise<void> {
    const page = { order: 'asc', limit: 1, skipPrevious: true } as const;
    const { keys } = await findRunPage(this.pool, shared.tenant, filterOf(shared, [id]), page);
    if (keys.length === 0) throw new NotFound(`Run ID ${id} not found.`);
  }
}

function filterOf({ id, session, trace }: SharedRun, ids?: readonly string[]): RunFilter {
  return { id: ids, session: [session], trace, below: id, filters: [] };
}
