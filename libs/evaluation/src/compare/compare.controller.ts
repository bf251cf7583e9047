import { Readable } from 'node:stream';
import { Answers, Area, Body, CommandContext, Context, Describe, Query, Scope, unlessKnown } from '@fairlead/api';
import {
  BadRequest,
  csv,
  type Infer,
  int,
  literal,
  note,
  object,
  optional,
  str,
  Unavailable,
  union,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import type { ScoreDirections } from '@fairlead/datasets';
import { EXPERIMENTS_VIEWS, Id, oneOrMany } from '@fairlead/runs';
import * as answers from './compare.answers.schema';
import { csvExport, jsonLines } from './compare-export.queries';
import { comparisonJson, summaryJson } from './compare-json';
import { readPage } from './compare-rows.queries';
import { chosenRows, shownRows } from './row-selection';
import { type Comparison, type ComparisonRequest, Comparisons } from './comparisons.service';
import { distributionsOf, FRACTIONS } from './distributions';
import { judge } from './comparison-gate';
import { gateBody, labelValuesOf, labelValuesText } from './gate-limits';

export const compared = {
  experiments: note(
    csv(uuid(), { max: 20 }),
    'Experiments to compare, on the dataset of the path; separated by commas.',
  ),
  baseline: note(
    optional(uuid()),
    'Experiment that the others are measured against. Default: the first of `experiments`.',
  ),
  key: note(
    optional(oneOrMany(str())),
    'Only these feedback keys; repeatable. Default: all; a comparison shows 50 of them at most.',
  ),
  label_values: labelValuesText,
  lower_is_better: note(optional(csv(str())), 'Feedback keys whose lower scores are better; separated by commas.'),
  higher_is_better: note(optional(csv(str())), 'Feedback keys whose higher scores are better; separated by commas.'),
};
const compareQuery = object({
  ...compared,
  format: note(optional(literal(['full', 'summary']), 'full'), '`summary`: an answer of less than 4 KB without rows.'),
  offset: note(optional(int({ ge: 0 }), 0), 'Number of rows to skip.'),
  limit: note(optional(int({ ge: 0, le: 100 }), 20), 'Largest number of rows in the answer; 0 for none.'),
  ...chosenRows,
  ...shownRows,
});
const distributionsQuery = object({
  experiments: compared.experiments,
  baseline: compared.baseline,
  key: note(str(), 'Feedback key whose scores, or values that are no scores, are counted.'),
  label_values: compared.label_values,
  bins: note(optional(int({ ge: 1, le: 100 }), 20), 'Number of bins of numeric scores, all of the same width.'),
});
const exportQuery = object({
  ...compared,
  ...chosenRows,
  format: note(optional(literal(['csv', 'jsonl']), 'csv'), 'CSV, or JSON Lines.'),
});
/** Time for which a gate or an export waits for the rows of a fresh upload, and the interval of its looks (ms). */
const PATIENCE_MS = 20_000;
const LOOK_MS = 100;

@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/compare')
export class CompareController {
  constructor(
    private readonly pool: Pool,
    private readonly comparisons: Comparisons,
  ) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Compare experiments',
    description:
      'Per key: mean, difference, 95 % interval, paired test, counts of rows; then a page of rows, the worst regression first. One experiment alone is not tested. `format=summary` is less than 4 KB.',
    takes: ['If-None-Match'],
    gives: ['ETag'],
  })
  @Answers({ 200: union(answers.comparison, answers.comparisonSummary), 304: null })
  async compare(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Query(compareQuery) asked: Infer<typeof compareQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const comparison = await this.comparisons.compare(context.tenantId, requestOf(id, asked, keysOf(asked)));
    if (asked.format === 'summary') return unlessKnown(reply, summaryJson(id, comparison));
    const chosen = await this.comparisons.choose(id, comparison, asked);
    const page = await readPage(this.pool, id, comparison, chosen, asked);
    return unlessKnown(reply, { ...comparisonJson(id, comparison), page });
  }

  @Get('distributions')
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Get how the scores of a key are distributed',
    description:
      'Per experiment: rows by bins or by values, latencies, and rows by the bin or value that they have in the baseline and in the experiment.',
    takes: ['If-None-Match'],
    gives: ['ETag'],
  })
  @Answers({ 200: answers.distributions, 304: null })
  async distributions(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Query(distributionsQuery) { key, bins, label_values, ...asked }: Infer<typeof distributionsQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const request = requestOf(id, asked, { labelValues: labelValuesOf(label_values) });
    const comparison = await this.comparisons.compare(context.tenantId, request);
    const found = await distributionsOf(comparison, key, bins);
    if (!found) throw new BadRequest(`The key ${JSON.stringify(key)} is not compared.`);
    const baseline = comparison.table.experiments[0]!.id;
    return unlessKnown(reply, { dataset_id: id, baseline, key, fractions: FRACTIONS, ...found });
  }

  @Get('export')
  @Scope('read', { views: EXPERIMENTS_VIEWS, strict: true })
  @Describe({
    summary: 'Export an experiment or a comparison',
    description:
      'A line for each run of every row that passes the filters, with whole texts, all feedback and what was used, streamed; of several experiments, the runs of a row side by side. Waits until fresh uploads are stored.',
    gives: ['Content-Disposition'],
  })
  @Answers({ 200: { content: { 'text/csv': str(), 'application/jsonl': str() } } })
  async export(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Query(exportQuery) asked: Infer<typeof exportQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const comparison = await this.settled(context.tenantId, requestOf(id, asked, keysOf(asked)));
    const { selected } = await this.comparisons.choose(id, comparison, asked);
    const lines = asked.format === 'csv' ? await csvExport(this.pool, comparison, asked.key) : jsonLines;
    const type = asked.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl';
    void reply.header('content-type', type);
    void reply.header('content-disposition', `attachment; filename="comparison-${id}.${asked.format}"`);
    return Readable.from(lines(this.pool, id, comparison, selected), { objectMode: false, highWaterMark: 1 });
  }

  @Post('gate')
  @HttpCode(200)
  @Scope('read', { views: EXPERIMENTS_VIEWS, strict: true })
  @Describe({
    summary: 'Pass or fail experiments',
    description:
      '200 whatever the outcome; reads every key, and waits until fresh uploads are stored. `undecided`: no limit is broken, but not everything could be compared.',
  })
  @Answers({ 200: answers.verdictOfGate })
  async gate(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Body(gateBody) limits: Infer<typeof gateBody>,
  ) {
    const keys = { labelValues: limits.label_values, everyKey: Object.keys(limits.keys) };
    const comparison = await this.settled(context.tenantId, requestOf(id, limits, keys));
    return { ...judge(comparison, limits), warnings: comparison.warnings };
  }

  /** The comparison once the rows of all experiments are stored. @throws Unavailable when that takes long */
  private async settled(tenantId: string, asked: ComparisonRequest): Promise<Comparison> {
    for (const deadline = Date.now() + PATIENCE_MS; ;) {
      const comparison = await this.comparisons.compare(tenantId, asked);
      const unsettled = comparison.table.experiments.find(({ persisted }) => !persisted);
      if (!unsettled) return comparison;
      if (Date.now() > deadline) throw new Unavailable(5, `The rows of ${unsettled.name} are still being stored.`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

type Asked = Pick<ComparisonRequest, 'experiments' | 'baseline'> & Partial<ScoreDirections>;
type Keys = Pick<ComparisonRequest, 'keys' | 'labelValues' | 'everyKey'>;

export function keysOf({ key, label_values }: Pick<Infer<typeof exportQuery>, 'key' | 'label_values'>): Keys {
  return { keys: key, labelValues: labelValuesOf(label_values) };
}

export function requestOf(
  datasetId: string,
  { experiments, baseline, lower_is_better = [], higher_is_better = [] }: Asked,
  { keys, ...values }: Keys,
): ComparisonRequest {
  const directions = { lowerIsBetter: lower_is_better, higherIsBetter: higher_is_better };
  return { datasetId, experiments, baseline, keys, ...directions, ...values };
}
