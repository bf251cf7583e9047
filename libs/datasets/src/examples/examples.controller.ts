import { Answers, Area, asText, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { bool, type Infer, int, list, literal, note, num, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Get, Header } from '@nestjs/common';
import { Pool } from 'pg';
import type { Readable } from 'node:stream';
import {
  Attachments,
  EXPERIMENTS_VIEWS,
  found,
  Id,
  JSON_TEXT,
  oneOrMany,
  pageOf100,
  searchedObject,
  sent,
} from '@fairlead/runs';
import { example } from '../datasets/datasets.answers.schema';
import { versionAt } from '../datasets/dataset-versions.queries';
import { countExamples, type ExampleFilter, findExample, listExamples } from './examples.queries';

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
  id: note(optional(oneOrMany(uuid())), 'Only these examples; repeatable.'),
  as_of: note(optional(str(), 'latest'), 'The version of the dataset: a time, a tag (with `dataset`), or `latest`.'),
  metadata: note(optional(str()), 'Only examples whose metadata contain this JSON object.'),
  full_text_contains: note(
    optional(oneOrMany(str())),
    'Only examples whose inputs or outputs contain this text, in upper or lower case; repeated: all texts.',
  ),
  splits: note(optional(oneOrMany(str())), 'Only examples in one of these splits; those in no other are in `base`.'),
  dataset: note(optional(uuid()), 'Only examples of this dataset.'),
  filter: note(optional(str()), 'Only examples for which this expression is true, such as `eq(metadata_key, "a")`.'),
};
const countQuery = object(filterMembers);
const listQuery = object({
  ...filterMembers,
  offset: pageOf100.offset,
  limit: pageOf100.limit,
  order: note(
    optional(literal(['recent', 'random', 'recently_created', 'id']), 'recent'),
    'What the list is sorted by; `recent`: by the last change. Examples that one request made keep its order.',
  ),
  random_seed: note(optional(num()), 'With `order=random`: the same seed gives the same order. Any number.'),
  select: note(
    optional(oneOrMany(literal(SELECT))),
    'Members to answer; repeatable. The others are null, but for those that clients always need. Default: all but `attachment_urls`.',
  ),
  descending: note(optional(bool()), 'True: the newest or largest first. Default true, for `id` false.'),
});
const oneQuery = object({
  as_of: note(optional(str(), 'latest'), 'The version of the dataset: a time, a tag, or `latest`.'),
  dataset: note(optional(uuid()), 'The dataset whose tag `as_of` is; absent: the dataset of the example.'),
});

@Area('Datasets')
@Controller('api/v1/examples')
export class ExamplesController {
  constructor(
    private readonly pool: Pool,
    private readonly attachments: Attachments,
  ) {}

  @Get()
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'List examples' })
  @Answers({ 200: asText(list(example)), 404: 'There is no such version.' })
  async list(
    @Context() context: CommandContext,
    @Query(listQuery) asked: Infer<typeof listQuery>,
  ): Promise<string | Readable> {
    const urls = this.attachments.urls(context);
    return sent(await listExamples(this.pool, context.tenantId, await this.filterOf(context, asked), asked, urls));
  }

  @Get('count')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Count examples' })
  @Answers({ 200: asText(int()), 404: 'There is no such version.' })
  async count(@Context() context: CommandContext, @Query(countQuery) asked: Infer<typeof countQuery>): Promise<string> {
    return String(await countExamples(this.pool, context.tenantId, await this.filterOf(context, asked)));
  }

  @Get(':example_id')
  @Header(...JSON_TEXT)
  @Scope('read', { views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Get an example' })
  @Answers({ 200: asText(example) })
  async one(
    @Context() context: CommandContext,
    @Id('example_id') id: string,
    @Query(oneQuery) asked: Infer<typeof oneQuery>,
  ): Promise<string> {
    const { tenantId } = context;
    const of = { dataset: asked.dataset, example: id };
    const filter = { id: [id], dataset: asked.dataset, asOf: await versionAt(this.pool, tenantId, asked.as_of, of) };
    return found(await findExample(this.pool, tenantId, filter, this.attachments.urls(context)), 'Example ID', id);
  }

  private async filterOf({ actor }: CommandContext, asked: Infer<typeof countQuery>): Promise<ExampleFilter> {
    const asOf = await versionAt(this.pool, actor.tenantId, asked.as_of, { dataset: asked.dataset });
    return { ...asked, asOf, metadata: searchedObject('metadata', asked.metadata) };
  }
}
