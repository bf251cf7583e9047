import type { Readable } from 'node:stream';
import { Answers, Area, asText, CommandContext, Context, Describe, Query, Scope } from '@fairlead/api';
import { BadRequest, csv, type Infer, int, list, note, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Get, Header } from '@nestjs/common';
import { Pool } from 'pg';
import { listSessions, session } from '@fairlead/experiments';
import { countExamples, dataset, example, findDataset, listExamples } from '@fairlead/datasets';
import { array, found, Id, JSON_TEXT, oneOrMany, pageOf100, sent } from '@fairlead/runs';
import { comparisonSummary } from '../compare/compare.answers.schema';
import { summaryJson } from '../compare/compare-json';
import { Comparisons } from '../compare/comparisons.service';
import { PublicReading } from './public-reading.service';

/** Examples in one answer to a client that asks for no pages. */
const MOST_EXAMPLES = 25_000;
const examplesQuery = object({
  id: note(optional(oneOrMany(uuid())), 'Only these examples; repeatable.'),
  offset: pageOf100.offset,
  limit: note(
    optional(int({ ge: 1, le: 100 })),
    'Largest number of examples in the answer. Default: all, 25,000 at most.',
  ),
});
const sessionsQuery = object({
  id: note(optional(oneOrMany(uuid())), 'Only these experiments; repeatable.'),
  name: note(optional(str()), 'Only the experiment of exactly this name.'),
  name_contains: note(optional(str()), 'Only experiments whose name contains this text, in upper or lower case.'),
  offset: pageOf100.offset,
  limit: pageOf100.limit,
});
const compareQuery = object({
  experiments: note(csv(uuid(), { max: 20 }), 'Experiments to compare, on the shared dataset; separated by commas.'),
  baseline: note(
    optional(uuid()),
    'Experiment that the others are measured against. Default: the first of `experiments`.',
  ),
});
const PUBLIC = { description: 'No key is needed: the token stands for one.' };

@Area('Sharing')
@Controller('api/v1/public/:dataset_token')
export class PublicDatasetsController {
  constructor(
    private readonly pool: Pool,
    private readonly reading: PublicReading,
    private readonly comparisons: Comparisons,
  ) {}

  @Get('datasets')
  @Header(...JSON_TEXT)
  @Scope('public', { reads: true })
  @Describe({ summary: 'Get a shared dataset', ...PUBLIC })
  @Answers({ 200: asText(dataset) })
  async one(@Context() context: CommandContext, @Id('dataset_token') datasetToken: string): Promise<string> {
    const { tenant, id } = await this.reading.dataset(context, datasetToken);
    return found(await findDataset(this.pool, tenant, id), 'Dataset ID', id);
  }

  @Get('examples')
  @Header(...JSON_TEXT)
  @Scope('public', { reads: true })
  @Describe({
    summary: 'List the examples of a shared dataset',
    description:
      'The newest version of each, without attachments. Without `limit` all of them, 25,000 at most. No key is needed: the token stands for one.',
  })
  @Answers({
    200: asText(list(example)),
    400: 'There are more than 25,000, and the request has no `limit`.',
  })
  async examples(
    @Context() context: CommandContext,
    @Id('dataset_token') datasetToken: string,
    @Query(examplesQuery) query: Infer<typeof examplesQuery>,
  ): Promise<string | Readable> {
    const { tenant, id } = await this.reading.dataset(context, datasetToken);
    const filter = { dataset: id, id: query.id };
    if (query.limit === undefined && (await countExamples(this.pool, tenant, filter)) > MOST_EXAMPLES) {
      throw new BadRequest('The dataset has more than 25,000 examples: ask for pages with offset and limit.');
    }
    const page = { offset: query.offset, limit: query.limit ?? MOST_EXAMPLES, order: 'recent' } as const;
    return sent(await listExamples(this.pool, tenant, filter, page));
  }

  @Get('datasets/sessions')
  @Header(...JSON_TEXT)
  @Scope('public', { reads: true })
  @Describe({ summary: 'List the experiments of a shared dataset', ...PUBLIC })
  @Answers({ 200: asText(list(session)) })
  async sessions(
    @Context() context: CommandContext,
    @Id('dataset_token') datasetToken: string,
    @Query(sessionsQuery) query: Infer<typeof sessionsQuery>,
  ): Promise<string> {
    const { tenant, id } = await this.reading.dataset(context, datasetToken);
    const asked = { ...query, reference_dataset: [id], sort_by: 'start_time', sort_by_desc: true } as const;
    return array(await listSessions(this.pool, tenant, asked));
  }

  @Get('datasets/compare')
  @Scope('public', { reads: true })
  @Describe({
    summary: 'Compare experiments on a shared dataset',
    description: 'The statistics in less than 4 KB, without rows. No key is needed: the token stands for one.',
  })
  @Answers({ 200: comparisonSummary })
  async compare(
    @Context() context: CommandContext,
    @Id('dataset_token') datasetToken: string,
    @Query(compareQuery) { experiments, baseline }: Infer<typeof compareQuery>,
  ) {
    const { tenant, id } = await this.reading.dataset(context, datasetToken);
    const asked = { datasetId: id, experiments, baseline, lowerIsBetter: [], higherIsBetter: [] };
    return summaryJson(id, await this.comparisons.compare(tenant, asked));
  }
}
