import { EventStore } from '@fairlead/eventing';
import { Access, Area, Describe, metadataOf, path, query, shape, validateRequest } from '@fairlead/api';
import { bool, datetime, int, literal, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Delete, Get, Header, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { experimentsView } from '../sessions/experiments.view';
import { Pool } from 'pg';
import { dataset, datasetVersion, removed, versionsDiff } from './datasets.answers.schema';
import { findDataset, hasDataset, listDatasets, listSplits } from './datasets.queries';
import { versionAt } from './dataset-version.http';
import { diffVersions, findVersion, listVersions } from './dataset-versions.queries';
import { array } from '../platform-json';
import { found, idPath, iso, JSON_TEXT, oneOrMany, searchedObject } from '../reading.http';
import { deleteDataset } from '../sessions/sessions.commands';

const SORTS = [
  'name',
  'created_at',
  'last_session_start_time',
  'example_count',
  'session_count',
  'modified_at',
] as const;

const listQuery = object({
  id: optional(oneOrMany(uuid())),
  data_type: optional(oneOrMany(literal(['kv', 'llm', 'chat']))),
  name: optional(str()),
  name_contains: optional(str()),
  metadata: optional(str()),
  offset: optional(int({ ge: 0 }), 0),
  limit: optional(int({ ge: 1, le: 100 }), 100),
  sort_by: optional(literal(SORTS), 'last_session_start_time'),
  sort_by_desc: optional(bool(), true),
  tag_value_id: optional(oneOrMany(uuid())),
  exclude_corrections_datasets: optional(bool(), false),
  exclude: optional(oneOrMany(literal(['example_count']))),
});
const datasetPath = idPath('dataset_id');
const versionsQuery = object({
  search: optional(str()),
  example: optional(uuid()),
  limit: optional(int({ ge: 1, le: 100 }), 100),
  offset: optional(int({ ge: 0 }), 0),
});
const versionQuery = object({ as_of: optional(datetime()), tag: optional(str()) });
const diffQuery = object({ from_version: str(), to_version: str() });
const splitsQuery = object({ as_of: optional(str(), 'latest') });

@Area('Datasets')
@Controller('api/v1/datasets')
export class DatasetsController {
  constructor(
    readonly pool: Pool,
    readonly store: EventStore,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({ summary: 'List datasets', query: listQuery, answers: { 200: shape.list(dataset) } })
  async list(@Req() request: FastifyRequest): Promise<string> {
    const asked = query(listQuery, request);
    const metadata = searchedObject('metadata', asked.metadata);
    return array(await listDatasets(this.pool, request.actor.tenantId, { ...asked, metadata }));
  }

  @Get(':dataset_id')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({ summary: 'Get a dataset', path: datasetPath, answers: { 200: dataset } })
  async one(@Req() request: FastifyRequest): Promise<string> {
    const { dataset_id: id } = path(datasetPath, request);
    return found(await findDataset(this.pool, request.actor.tenantId, id), 'Dataset ID', id);
  }

  @Delete(':dataset_id')
  @Access('write', { views: [experimentsView.name] })
  @Describe({
    summary: 'Delete a dataset with its experiments',
    path: datasetPath,
    answers: { 200: removed },
    takes: ['x-reason'],
  })
  async delete(@Req() request: FastifyRequest) {
    const { dataset_id: id } = path(datasetPath, request);
    await deleteDataset(this, request.actor.tenantId, id, metadataOf(request));
    return { message: `Dataset ${id} deleted` };
  }

  @Get(':dataset_id/versions')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'List the versions of a dataset',
    description: 'The newest first; of one example alone when `example` names it.',
    path: datasetPath,
    query: versionsQuery,
    answers: { 200: shape.list(datasetVersion) },
  })
  async versions(@Req() request: FastifyRequest): Promise<string> {
    const { dataset_id: id } = path(datasetPath, request);
    const asked = query(versionsQuery, request);
    await this.known(request, id);
    return array(await listVersions(this.pool, id, asked));
  }

  @Get(':dataset_id/version')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Get the version of a dataset at a time',
    path: datasetPath,
    query: versionQuery,
    answers: { 200: datasetVersion },
  })
  async version(@Req() request: FastifyRequest): Promise<string> {
    const { dataset_id: id } = path(datasetPath, request);
    const { as_of: asOf, tag = 'latest' } = query(versionQuery, request);
    await this.known(request, id);
    const time = iso(asOf) ?? (await versionAt(this.pool, request.actor.tenantId, tag, { dataset: id }));
    return found(await findVersion(this.pool, id, time), `Dataset version of`, id);
  }

  @Get(':dataset_id/versions/diff')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Compare two versions of a dataset',
    description: 'Each version is a time or a tag, `latest` for the newest.',
    path: datasetPath,
    query: diffQuery,
    answers: { 200: versionsDiff },
  })
  async diff(@Req() request: FastifyRequest): Promise<string> {
    const { path: named, query: asked } = validateRequest(request, { path: datasetPath, query: diffQuery });
    const { dataset_id: id } = named;
    await this.known(request, id);
    const at = (asOf: string) => versionAt(this.pool, request.actor.tenantId, asOf, { dataset: id });
    return diffVersions(this.pool, id, await at(asked.from_version), await at(asked.to_version));
  }

  @Get(':dataset_id/splits')
  @Header(...JSON_TEXT)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'List the splits of a dataset',
    path: datasetPath,
    query: splitsQuery,
    answers: { 200: shape.list(shape.text) },
  })
  async splits(@Req() request: FastifyRequest): Promise<string> {
    const { dataset_id: id } = path(datasetPath, request);
    const { as_of: asOf } = query(splitsQuery, request);
    await this.known(request, id);
    return listSplits(this.pool, id, await versionAt(this.pool, request.actor.tenantId, asOf, { dataset: id }));
  }

  private async known(request: FastifyRequest, id: string): Promise<void> {
    found((await hasDataset(this.pool, request.actor.tenantId, id)) || undefined, 'Dataset ID', id);
  }
}
