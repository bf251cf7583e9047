import { EventStore, handle, load, streamName } from '@fairlead/eventing';
import { Access, Area, body, Describe, metadataOf, path, shape, validateRequest } from '@fairlead/api';
import {
  BadRequest,
  bool,
  Conflict,
  datetime,
  instant,
  int,
  list,
  literal,
  mapError,
  NotFound,
  object,
  optional,
  rawDict,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Delete, Get, Header, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { experimentsView } from '../sessions/experiments.view';
import { Pool } from 'pg';
import { v4 as newId } from 'uuid';
import {
  ComparativeExperimentExists,
  comparativeExperimentModel,
  createComparison,
  deleteComparison,
} from './comparative-experiment';
import { comparativeMembers, listComparativeExperiments } from './comparative-experiments.queries';
import { comparativeExperimentsView } from './comparative-experiments.view';
import { comparativeExperiment, listedComparativeExperiment } from './compare.answers.schema';
import { sessionsOn } from './comparison-view.queries';
import { removed } from '../datasets/datasets.answers.schema';
import { hasDataset } from '../datasets/datasets.queries';
import { readOpaqueBody } from '../opaque.body';
import { array, object as json } from '../platform-json';
import { idPath, JSON_TEXT, oneOrMany } from '../reading.http';

mapError(ComparativeExperimentExists, (error) => new Conflict(error.message));

const createBody = object(
  {
    id: optional(uuid()),
    experiment_ids: list(uuid(), { min: 1 }),
    name: optional(str()),
    description: optional(str()),
    created_at: optional(datetime()),
    modified_at: optional(datetime()),
    reference_dataset_id: optional(uuid()),
    extra: optional(rawDict()),
  },
  'ComparativeExperimentCreate',
);
const listQuery = object({
  name: optional(str()),
  name_contains: optional(str()),
  id: optional(oneOrMany(uuid())),
  offset: optional(int({ ge: 0 }), 0),
  limit: optional(int({ ge: 1, le: 100 }), 100),
  sort_by: optional(literal(['name', 'created_at']), 'created_at'),
  sort_by_desc: optional(bool(), true),
});
const datasetPath = idPath('dataset_id');
const comparisonPath = idPath('comparative_experiment_id');

/** Named comparisons of experiments, which feedback on runs side by side refers to. */
@Area('Comparisons')
@Controller('api/v1/datasets')
export class ComparativeExperimentsController {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
  ) {}

  @Get(':dataset_id/comparative')
  @Header(...JSON_TEXT)
  @Access('read', { views: [comparativeExperimentsView.name, experimentsView.name] })
  @Describe({
    summary: 'List the named comparisons on a dataset',
    path: datasetPath,
    query: listQuery,
    answers: { 200: shape.list(listedComparativeExperiment) },
  })
  async list(@Req() request: FastifyRequest): Promise<string> {
    const { path, query } = validateRequest(request, { path: datasetPath, query: listQuery });
    const { tenantId } = request.actor;
    await this.mustHave(tenantId, path.dataset_id);
    return array(await listComparativeExperiments(this.pool, tenantId, path.dataset_id, query));
  }

  @Post('comparative')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('write', { stream: true, views: [comparativeExperimentsView.name, experimentsView.name] })
  @Describe({
    summary: 'Name a comparison',
    body: createBody,
    answers: { 200: comparativeExperiment, 404: 'There is no such dataset or session.', 409: 'The id is taken.' },
    takes: ['x-reason'],
  })
  async create(@Req() request: FastifyRequest): Promise<string> {
    const { tenantId } = request.actor;
    const sent = await readOpaqueBody(request);
    const given = body(createBody, request);
    const datasetId = given.reference_dataset_id ?? (await this.datasetOf(tenantId, given.experiment_ids[0]!));
    await this.mustHave(tenantId, datasetId);
    const ids = [...new Set(given.experiment_ids)];
    const found = await sessionsOn(this.pool, tenantId, datasetId, ids);
    const missing = ids.find((id) => !found.includes(id));
    if (missing) throw new NotFound(`Session ID ${missing} not found.`);
    const id = given.id ?? newId();
    const created = (given.created_at ?? instant()).iso;
    const data = {
      dataset_id: datasetId,
      experiment_ids: ids,
      name: given.name ?? null,
      description: given.description ?? null,
      extra: sent.members().get('extra') ?? null,
      created_at: created,
      modified_at: given.modified_at?.iso ?? created,
    };
    await handle(
      this.store,
      comparativeExperimentModel,
      streamName('comparativeExperiment', id),
      createComparison(id, data),
      metadataOf(request),
    );
    return json(
      comparativeMembers({ ...data, id, tenant_id: tenantId, created: data.created_at, modified: data.modified_at }),
    );
  }

  @Delete('comparative/:comparative_experiment_id')
  @Access('write')
  @Describe({
    summary: 'Delete a named comparison',
    path: comparisonPath,
    answers: { 200: removed },
    takes: ['x-reason'],
  })
  async delete(@Req() request: FastifyRequest) {
    const { comparative_experiment_id: id } = path(comparisonPath, request);
    const stream = streamName('comparativeExperiment', id);
    const { state } = await load(this.store, comparativeExperimentModel, stream);
    if (!state.exists || state.tenant !== request.actor.tenantId) {
      throw new NotFound(`Comparative experiment ID ${id} not found.`);
    }
    await handle(this.store, comparativeExperimentModel, stream, deleteComparison(), metadataOf(request));
    return { message: `Comparative experiment ${id} deleted` };
  }

  private async mustHave(tenantId: string, datasetId: string): Promise<void> {
    if (!(await hasDataset(this.pool, tenantId, datasetId))) throw new NotFound(`Dataset ID ${datasetId} not found.`);
  }

  private async datasetOf(tenantId: string, sessionId: string): Promise<string> {
    const { rows } = await this.pool.query<{ dataset: string | null }>(
      'select reference_dataset_id as dataset from sessions where tenant_id = $1 and id = $2',
      [tenantId, sessionId],
    );
    if (!rows[0]) throw new NotFound(`Session ID ${sessionId} not found.`);
    if (!rows[0].dataset) throw new BadRequest(`Session ${sessionId} is no experiment on a dataset.`);
    return rows[0].dataset;
  }
}
