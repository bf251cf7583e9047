import { Access, Area, Describe, path, query, shape } from '@fairlead/api';
import { bool, type Infer, int, literal, num, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Get, Header, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { experimentsView } from '../sessions/experiments.view';
import { Pool } from 'pg';
import type { Readable } from 'node:stream';
import { example } from '../datasets/datasets.answers.schema';
import { versionAt } from '../datasets/dataset-version.http';
import { ExampleAttachments } from './example-attachments.urls';
import { countExamples, type ExampleFilter, findExample, listExamples } from './examples.queries';
import { found, idPath, JSON_TEXT, oneOrMany, searchedObject, sent } from '../reading.http';

const SELECT = [
  'id',
  'created_at',
  'modified_at',
  'name',
  'dataset_id',
  'source_run_id',
  'metadata',
  'inputs',
  'outputs',
  'attachment_urls',
] as const;

const filterMembers = {
  id: optional(oneOrMany(uuid())),
  as_of: optional(str(), 'latest'),
  metadata: optional(str()),
  full_text_contains: optional(oneOrMany(str())),
  splits: optional(oneOrMany(str())),
  dataset: optional(uuid()),
  filter: optional(str()),
};
const countQuery = object(filterMembers);
const listQuery = object({
  ...filterMembers,
  offset: optional(int({ ge: 0 }), 0),
  limit: optional(int({ ge: 1, le: 100 }), 100),
  order: optional(literal(['recent', 'random', 'recently_created', 'id']), 'recent'),
  random_seed: optional(num()),
  select: optional(oneOrMany(literal(SELECT))),
  descending: optional(bool()),
});
const examplePath = idPath('example_id');
const oneQuery = object({ as_of: optional(str(), 'latest'), dataset: optional(uuid()) });

@Area('Datasets')
@Controller('api/v1/examples')
export class ExamplesController {
  constructor(
    private readonly pool: Pool,
    private readonly attachments: ExampleAttachments,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'List examples',
    query: listQuery,
    answers: { 200: shape.list(example), 404: 'There is no such version.' },
  })
  async list(@Req() request: FastifyRequest): Promise<string | Readable> {
    const asked = query(listQuery, request);
    const urls = this.attachments.urls(request);
    return sent(
      await listExamples(this.pool, request.actor.tenantId, await this.filterOf(request, asked), asked, urls),
    );
  }

  @Get('count')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Count examples',
    query: countQuery,
    answers: { 200: shape.integer, 404: 'There is no such version.' },
  })
  async count(@Req() request: FastifyRequest): Promise<string> {
    const asked = query(countQuery, request);
    return String(await countExamples(this.pool, request.actor.tenantId, await this.filterOf(request, asked)));
  }

  @Get(':example_id')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({ summary: 'Get an example', path: examplePath, query: oneQuery, answers: { 200: example } })
  async one(@Req() request: FastifyRequest): Promise<string> {
    const { example_id: id } = path(examplePath, request);
    const asked = query(oneQuery, request);
    const { tenantId } = request.actor;
    const of = { dataset: asked.dataset, example: id };
    const filter = { id: [id], dataset: asked.dataset, asOf: await versionAt(this.pool, tenantId, asked.as_of, of) };
    return found(await findExample(this.pool, tenantId, filter, this.attachments.urls(request)), 'Example ID', id);
  }

  private async filterOf({ actor }: FastifyRequest, asked: Infer<typeof countQuery>): Promise<ExampleFilter> {
    const asOf = await versionAt(this.pool, actor.tenantId, asked.as_of, { dataset: asked.dataset });
    return { ...asked, asOf, metadata: searchedObject('metadata', asked.metadata) };
  }
}
