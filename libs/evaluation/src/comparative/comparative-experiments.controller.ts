import {
  Answers,
  Area,
  asText,
  CommandContext,
  Context,
  Describe,
  Idempotency,
  Idempotent,
  Query,
  Scope,
  validateRequest,
} from '@fairlead/api';
import {
  BadRequest,
  bool,
  datetime,
  type Infer,
  instant,
  list,
  literal,
  note,
  object,
  optional,
  rawDict,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Delete, Get, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { v4 as newId } from 'uuid';
import { removed, requireDataset } from '@fairlead/datasets';
import {
  array,
  digestOf,
  EXPERIMENTS_VIEWS,
  found,
  Id,
  JSON_TEXT,
  object as json,
  oneOrMany,
  type OpaqueBody,
  pageOf100,
  readOpaqueBody,
} from '@fairlead/runs';
import { createComparison, deleteComparison } from './comparative-experiment';
import { ComparativeExperimentCommands } from './comparative-experiments.commands';
import { comparativeMembers, listComparativeExperiments } from './comparative-experiments.queries';
import { comparativeExperimentsView } from './comparative-experiments.projection';
import { comparativeExperiment, listedComparativeExperiment } from '../compare/compare.answers.schema';
import { sessionsOn } from '../view/comparison-view.queries';

const createBody = object('ComparativeExperimentCreate', {
  id: note(optional(uuid()), 'Identifier that it gets, unused so far (409); absent: the service makes one.'),
  experiment_ids: note(list(uuid(), { min: 1 }), 'Experiments that it compares, all on the same dataset.'),
  name: note(optional(str()), 'Name of the comparison.'),
  description: note(optional(str()), 'What the comparison is about.'),
  created_at: note(optional(datetime()), 'When it was created. Default: the time of the request.'),
  modified_at: note(optional(datetime()), 'When it last changed. Default: `created_at`.'),
  reference_dataset_id: note(optional(uuid()), 'Dataset of the experiments. Default: that of the first one.'),
  extra: note(optional(rawDict()), 'Further facts; given back as they were sent.'),
});
const listQuery = object({
  name: note(optional(str()), 'Only the comparison of exactly this name.'),
  name_contains: note(optional(str()), 'Only comparisons whose name contains this text, in upper or lower case.'),
  id: note(optional(oneOrMany(uuid())), 'Only these comparisons; repeatable.'),
  offset: pageOf100.offset,
  limit: pageOf100.limit,
  sort_by: note(optional(literal(['name', 'created_at']), 'created_at'), 'What the list is sorted by.'),
  sort_by_desc: note(optional(bool(), true), 'True: the newest, or the last name, first.'),
});

@Area('Comparisons')
@Controller('api/v1/datasets')
export class ComparativeExperimentsController {
  constructor(
    private readonly pool: Pool,
    private readonly comparisons: ComparativeExperimentCommands,
    private readonly idempotency: Idempotency,
  ) {}

  @Get(':dataset_id/comparative')
  @Header(...JSON_TEXT)
  @Scope('read', { views: [comparativeExperimentsView.name, ...EXPERIMENTS_VIEWS] })
  @Describe({ summary: 'List the named comparisons on a dataset' })
  @Answers({ 200: asText(list(listedComparativeExperiment)) })
  async list(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Query(listQuery) query: Infer<typeof listQuery>,
  ): Promise<string> {
    await requireDataset(this.pool, context.tenantId, datasetId);
    return array(await listComparativeExperiments(this.pool, context.tenantId, datasetId, query));
  }

  @Post('comparative')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: [comparativeExperimentsView.name, ...EXPERIMENTS_VIEWS] })
  @Describe({ summary: 'Name a comparison', body: createBody, takes: ['x-reason', 'Idempotency-Key'] })
  @Answers({
    200: asText(comparativeExperiment),
    404: 'There is no such dataset or session.',
    409: 'The id is taken.',
  })
  async create(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { body: given } = validateRequest(request, { body: createBody });
    const create = () => this.compare(context, sent, given);
    return this.idempotency.run(request, reply, create, digestOf(request, sent.bytes));
  }

  private async compare(context: CommandContext, sent: OpaqueBody, given: Infer<typeof createBody>): Promise<string> {
    const { tenantId } = context;
    const dataset_id = given.reference_dataset_id ?? (await this.datasetOf(tenantId, given.experiment_ids[0]!));
    await requireDataset(this.pool, tenantId, dataset_id);
    const experiment_ids = await sessionsOn(this.pool, tenantId, dataset_id, given.experiment_ids);
    const id = given.id ?? context.command?.idFor('comparison') ?? newId();
    const data = { dataset_id, experiment_ids, ...membersOf(given, sent) };
    await this.comparisons.run(context, id, createComparison(id, data));
    return json(comparativeMembers({ ...data, id, tenant_id: tenantId }));
  }

  @Delete('comparative/:comparative_experiment_id')
  @Scope('write')
  @Idempotent()
  @Describe({ summary: 'Delete a named comparison', takes: ['x-reason'] })
  @Answers({ 200: removed })
  async delete(@Context() context: CommandContext, @Id('comparative_experiment_id') id: string) {
    await this.comparisons.change(context, id, deleteComparison);
    return { message: `Comparative experiment ${id} deleted` };
  }

  private async datasetOf(tenantId: string, sessionId: string): Promise<string> {
    const { rows } = await this.pool.query<{ dataset: string | null }>(
      'select reference_dataset_id as dataset from sessions where tenant_id = $1 and id = $2',
      [tenantId, sessionId],
    );
    const { dataset } = found(rows[0], 'Session ID', sessionId);
    if (!dataset) throw new BadRequest(`Session ${sessionId} is no experiment on a dataset.`);
    return dataset;
  }
}

function membersOf(given: Infer<typeof createBody>, sent: OpaqueBody) {
  const { name = null, description = null, created_at = instant(), modified_at = created_at } = given;
  const extra = sent.members().get('extra') ?? null;
  return { name, description, extra, created_at: created_at.iso, modified_at: modified_at.iso };
}
