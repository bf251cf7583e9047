import {
  Answers,
  Area,
  asText,
  CommandContext,
  Context,
  Describe,
  Query,
  Scope,
  tellTotal,
  unlessKnown,
} from '@fairlead/api';
import { datetime, type Infer, list, note, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Delete, Get, Header, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import { array, EXPERIMENTS_VIEWS, found, Id, JSON_TEXT, pageOf100, searchedObject } from '@fairlead/runs';
import { dataset, datasetVersion, removed, versionsDiff } from './datasets.answers.schema';
import { datasetsQuery } from './datasets-body';
import { countDatasets, findDataset, requireDataset, listDatasets, listSplits } from './datasets.queries';
import { diffVersions, findVersion, listVersions, versionAt, versionJson } from './dataset-versions.queries';
import { DatasetCommands } from './datasets.commands';

const versionsQuery = object({
  search: note(optional(str()), 'Only versions with a tag that contains this text.'),
  example: note(optional(uuid()), 'Only versions in which this example changed.'),
  ...pageOf100,
});
const versionQuery = object({
  as_of: note(optional(datetime()), 'The version that was current at this time.'),
  tag: note(optional(str()), 'The version with this tag; `latest` is the newest.'),
});
const diffQuery = object({
  from_version: note(str(), 'The earlier version: a time, a tag, or `latest`.'),
  to_version: note(str(), 'The later version: a time, a tag, or `latest`.'),
});
const splitsQuery = object({ as_of: note(optional(str(), 'latest'), 'The version: a time, a tag, or `latest`.') });

@Area('Datasets')
@Controller('api/v1/datasets')
export class DatasetsController {
  constructor(
    private readonly pool: Pool,
    private readonly datasets: DatasetCommands,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true })
  @Describe({ summary: 'List datasets', takes: ['If-None-Match'], gives: ['ETag', 'X-Pagination-Total'] })
  @Answers({ 200: asText(list(dataset)), 304: null })
  async list(
    @Context() { tenantId }: CommandContext,
    @Query(datasetsQuery) asked: Infer<typeof datasetsQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const query = { ...asked, metadata: searchedObject('metadata', asked.metadata) };
    if (asked.count) tellTotal(reply, await countDatasets(this.pool, tenantId, query));
    return unlessKnown(reply, array(await listDatasets(this.pool, tenantId, query)));
  }

  @Get(':dataset_id')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get a dataset' })
  @Answers({ 200: asText(dataset) })
  async one(@Context() context: CommandContext, @Id('dataset_id') id: string): Promise<string> {
    return found(await findDataset(this.pool, context.tenantId, id), 'Dataset ID', id);
  }

  @Delete(':dataset_id')
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Delete a dataset with its experiments', takes: ['x-reason'] })
  @Answers({ 200: removed })
  async delete(@Context() context: CommandContext, @Id('dataset_id') id: string) {
    await this.datasets.delete(context, id);
    return { message: `Dataset ${id} deleted` };
  }

  @Get(':dataset_id/versions')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'List the versions of a dataset',
    description: 'The newest first; of one example alone when `example` names it.',
  })
  @Answers({ 200: asText(list(datasetVersion)) })
  async versions(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Query(versionsQuery) asked: Infer<typeof versionsQuery>,
  ): Promise<string> {
    await this.known(context, id);
    return array(await listVersions(this.pool, context.tenantId, id, asked));
  }

  @Get(':dataset_id/version')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get the version of a dataset at a time' })
  @Answers({ 200: asText(datasetVersion) })
  async version(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Query(versionQuery) { as_of: asOf, tag = 'latest' }: Infer<typeof versionQuery>,
  ): Promise<string> {
    await this.known(context, id);
    const time = asOf?.iso ?? (await versionAt(this.pool, context.tenantId, tag, { dataset: id }));
    const version = await findVersion(this.pool, context.tenantId, id, time);
    return versionJson(found(version, `Dataset version of`, id));
  }

  @Get(':dataset_id/versions/diff')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Compare two versions of a dataset',
    description: 'Each version is a time or a tag, `latest` for the newest.',
  })
  @Answers({ 200: asText(versionsDiff) })
  async diff(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Query(diffQuery) asked: Infer<typeof diffQuery>,
  ): Promise<string> {
    const { tenantId } = context;
    await this.known(context, id);
    const at = (asOf: string) => versionAt(this.pool, tenantId, asOf, { dataset: id });
    return diffVersions(this.pool, tenantId, id, await at(asked.from_version), await at(asked.to_version));
  }

  @Get(':dataset_id/splits')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'List the splits of a dataset' })
  @Answers({ 200: asText(list(str())) })
  async splits(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Query(splitsQuery) { as_of: asOf }: Infer<typeof splitsQuery>,
  ): Promise<string> {
    await this.known(context, id);
    const time = await versionAt(this.pool, context.tenantId, asOf, { dataset: id });
    return listSplits(this.pool, context.tenantId, id, time);
  }

  private async known(context: CommandContext, id: string): Promise<void> {
    await requireDataset(this.pool, context.tenantId, id);
  }
}
