import {
  Answers,
  Area,
  asText,
  CommandContext,
  Context,
  counting,
  Describe,
  Idempotency,
  Idempotent,
  Query,
  Scope,
  tellTotal,
  unlessKnown,
  validateRequest,
} from '@fairlead/api';
import {
  bool,
  datetime,
  fixed,
  type Infer,
  instant,
  list,
  literal,
  note,
  object,
  optional,
  rawDict,
  requireSame,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Delete, Get, Header, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { v4 as newId } from 'uuid';
import {
  array,
  digestOf,
  EXPERIMENTS_VIEWS,
  found,
  Id,
  idPath,
  JSON_TEXT,
  oneOrMany,
  type OpaqueBody,
  pageOf100,
  readOpaqueBody,
  searchedObject,
  type SessionChanges,
  SessionCommands,
  type SessionCreated,
} from '@fairlead/runs';
import { DatasetCommands, removed, requireDataset } from '@fairlead/datasets';
import { plainSession, session } from './sessions.answers.schema';
import { countSessions, createdSession, findPlainSession, findSession, listSessions } from './sessions.queries';

const SORTS = [
  'name',
  'start_time',
  'last_run_start_time',
  'latency_p50',
  'latency_p99',
  'error_rate',
  'feedback',
  'runs_count',
] as const;
const TIERS = ['longlived', 'shortlived'] as const;
const MOST_NAME = 512;

const ALWAYS = 'Accepted because clients send it; statistics over all runs are part of every answer.';
const listQuery = object({
  reference_free: note(
    optional(bool()),
    'True: only tracing projects. False: only experiments, which have a reference dataset.',
  ),
  reference_dataset: note(optional(oneOrMany(uuid())), 'Only experiments on these datasets; repeatable.'),
  id: note(optional(oneOrMany(uuid())), 'Only these sessions; repeatable.'),
  name: note(optional(str()), 'Only the session of exactly this name.'),
  name_contains: note(optional(str()), 'Only sessions whose name contains this text, in upper or lower case.'),
  dataset_version: note(optional(str()), 'Only sessions whose metadata have this `dataset_version`.'),
  sort_by: note(
    optional(literal(SORTS), 'start_time'),
    'What the list is sorted by; `feedback` needs `sort_by_feedback_key`.',
  ),
  sort_by_desc: note(optional(bool(), true), 'True: the largest or newest first.'),
  metadata: note(optional(str()), 'Only sessions whose metadata contain this JSON object.'),
  sort_by_feedback_key: note(optional(str()), 'With `sort_by=feedback`: the key whose mean score counts.'),
  sort_by_feedback_source: note(
    optional(literal(['session', 'run'])),
    'With `sort_by=feedback`: feedback on runs, which is the default, or on the session.',
  ),
  offset: pageOf100.offset,
  limit: pageOf100.limit,
  tag_value_id: note(
    optional(oneOrMany(uuid())),
    'Only sessions with one of these tags: none, because sessions have no tags here.',
  ),
  facets: note(optional(bool(), false), 'Accepted because clients send it; `run_facets` is always null.'),
  filter: note(optional(str()), 'Only sessions for which this expression is true, such as `eq(name, "a")`.'),
  // Statistics are part of every answer, computed once over all runs: these members are checked and change nothing.
  include_stats: note(optional(bool(), false), ALWAYS),
  use_approx_stats: note(optional(bool(), false), ALWAYS),
  stats_start_time: note(optional(datetime()), ALWAYS),
  stats_select: note(optional(oneOrMany(str())), ALWAYS),
  stats_filter: note(optional(str()), ALWAYS),
  ...counting,
});
const oneQuery = object({
  include_stats: note(optional(bool(), false), ALWAYS),
  stats_start_time: note(optional(datetime()), ALWAYS),
});
const sessionPath = idPath('session_id');
const createQuery = object({
  upsert: note(optional(bool(), false), 'True: change the session of this name when there is one, instead of 409.'),
});
const changeable = {
  end_time: note(optional(datetime()), 'End of the session.'),
  extra: note(optional(rawDict()), 'Further facts; the member `metadata` can be filtered by. Any members.'),
  name: note(
    optional(str({ min: 1, max: MOST_NAME })),
    'Name of the session, unique in the workspace (409). Default for a new one: generated.',
  ),
  description: note(optional(str()), 'What the session is about.'),
  default_dataset_id: note(
    optional(uuid()),
    'Dataset that examples of this session are added to by clients; kept and answered.',
  ),
  trace_tier: note(
    optional(literal(TIERS)),
    'How long a hosted service keeps the runs; kept and answered, nothing is deleted here. Default `longlived`.',
  ),
};
const createBody = object('TracerSessionCreate', {
  start_time: note(optional(datetime()), 'Start of the session. Default: the time of the request.'),
  ...changeable,
  reference_dataset_id: note(
    optional(uuid()),
    'Dataset that the session is an experiment on; absent: a tracing project.',
  ),
  id: note(optional(uuid()), 'Identifier that the session gets, unused so far (409); absent: the service makes one.'),
});
const patchBody = object('TracerSessionUpdate', {
  ...changeable,
  id: fixed(uuid()),
  start_time: fixed(datetime()),
  reference_dataset_id: fixed(uuid()),
});

@Area('Experiments')
@Controller('api/v1/sessions')
export class SessionsController {
  constructor(
    private readonly pool: Pool,
    private readonly sessions: SessionCommands,
    private readonly datasets: DatasetCommands,
    private readonly idempotency: Idempotency,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, programs: true })
  @Describe({
    summary: 'List sessions: experiments and tracing projects',
    takes: ['If-None-Match'],
    gives: ['ETag', 'X-Pagination-Total'],
  })
  @Answers({ 200: asText(list(session)), 304: null })
  async list(
    @Context() { tenantId, actor: { project } }: CommandContext,
    @Query(listQuery) asked: Infer<typeof listQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    // SDKs look up their workspace in the first session: the program of a deployment finds its own tracing project.
    const own = project === undefined ? {} : { name: project, reference_free: true };
    const query = { ...asked, ...own, metadata: searchedObject('metadata', asked.metadata) };
    if (asked.count) tellTotal(reply, await countSessions(this.pool, tenantId, query));
    return unlessKnown(reply, array(await listSessions(this.pool, tenantId, query)));
  }

  @Get(':session_id')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get a session with its statistics', takes: ['If-None-Match'], gives: ['ETag'] })
  @Answers({ 200: asText(session), 304: null })
  async one(
    @Context() context: CommandContext,
    @Query(oneQuery) _: Infer<typeof oneQuery>,
    @Id('session_id') id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return unlessKnown(reply, found(await findSession(this.pool, context.tenantId, id), 'Session ID', id));
  }

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Create a session',
    description: 'With `upsert`, one that has this name is changed instead.',
    query: createQuery,
    body: createBody,
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({
    200: asText(plainSession),
    404: 'There is no such dataset.',
    409: 'There is a session of this name.',
  })
  async create(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { query, body } = validateRequest(request, { query: createQuery, body: createBody });
    const create = () => this.createFrom(context, sent, body, query.upsert);
    return this.idempotency.run(request, reply, create, digestOf(request, sent.bytes));
  }

  private async createFrom(
    context: CommandContext,
    sent: OpaqueBody,
    given: Infer<typeof createBody>,
    upsert: boolean,
  ): Promise<string> {
    const { tenantId } = context;
    const id = given.id ?? context.command?.idFor('session') ?? newId();
    const data = dataOf(sent, given, given.name ?? `session-${id.slice(0, 8)}`);
    await this.requireDatasets(tenantId, given.reference_dataset_id, given.default_dataset_id);
    const existing = upsert ? await this.sessions.named(tenantId, data.name) : undefined;
    if (existing) return this.change(context, existing, changesIn(sent, { ...given, name: undefined }));
    const { reference_dataset_id: dataset } = data;
    const numbered = dataset === null ? undefined : () => this.datasets.numberOf(context, dataset, id);
    await this.sessions.create(context, id, data, numbered);
    return createdSession(tenantId, id, data);
  }

  @Patch(':session_id')
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Change a session', path: sessionPath, body: patchBody, takes: ['x-reason', 'Idempotency-Key'] })
  @Answers({ 200: asText(plainSession), 409: 'There is a session of this name.' })
  async patch(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { path, body: given } = validateRequest(request, { path: sessionPath, body: patchBody });
    await this.requireDatasets(context.tenantId, given.default_dataset_id);
    await this.requireUnchanged(context.tenantId, path.session_id, given);
    const patch = () => this.change(context, path.session_id, changesIn(sent, given));
    return this.idempotency.run(request, reply, patch, digestOf(request, sent.bytes));
  }

  @Delete(':session_id')
  @Scope('write')
  @Idempotent()
  @Describe({ summary: 'Delete a session with its runs', takes: ['x-reason'] })
  @Answers({ 200: removed })
  async delete(@Context() context: CommandContext, @Id('session_id') id: string) {
    await this.sessions.delete(context, id);
    return { message: `Session ${id} deleted` };
  }

  private async requireDatasets(tenantId: string, ...ids: (string | undefined)[]): Promise<void> {
    for (const dataset of ids) {
      if (dataset) await requireDataset(this.pool, tenantId, dataset);
    }
  }

  /** @throws BadRequest when a member would change that cannot be changed */
  private async requireUnchanged(
    tenantId: string,
    session: string,
    { id, start_time, reference_dataset_id }: Infer<typeof patchBody>,
  ): Promise<void> {
    const fixed = { id, start_time, reference_dataset_id };
    if (Object.values(fixed).every((value) => value === undefined)) return;
    const present = found(await findPlainSession(this.pool, tenantId, session, {}), 'Session ID', session);
    requireSame(fixed, JSON.parse(present) as object);
  }

  private async change(context: CommandContext, id: string, changes: SessionChanges): Promise<string> {
    const { tenantId } = context;
    await this.sessions.patch(context, id, changes);
    return found(await findPlainSession(this.pool, tenantId, id, changes), 'Session ID', id);
  }
}

function dataOf(sent: OpaqueBody, given: Infer<typeof createBody>, name: string): SessionCreated['data'] {
  return {
    name,
    description: given.description ?? null,
    start_time: (given.start_time ?? instant()).iso,
    end_time: given.end_time?.iso ?? null,
    extra: sent.members().get('extra') ?? null,
    reference_dataset_id: given.reference_dataset_id ?? null,
    default_dataset_id: given.default_dataset_id ?? null,
    trace_tier: given.trace_tier ?? 'longlived',
  };
}

/** Given members as an event holds them: times as ISO text, `extra` as the JSON text that was sent. */
function changesIn(
  sent: OpaqueBody,
  given: Omit<Infer<typeof patchBody>, 'name'> & { readonly name?: string },
): SessionChanges {
  const { name, description, default_dataset_id, trace_tier } = given;
  return {
    name,
    description,
    end_time: given.end_time?.iso,
    default_dataset_id,
    extra: sent.members().get('extra'),
    trace_tier,
  };
}
