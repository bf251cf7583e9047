import { Readable } from 'node:stream';
import { Access, Area, body, Describe, path, query, shape } from '@fairlead/api';
import {
  bool,
  csv,
  type Infer,
  int,
  list,
  literal,
  num,
  object,
  optional,
  record,
  str,
  Unavailable,
  uuid,
} from '@fairlead/schema';
import { Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { experimentsView } from '../sessions/experiments.view';
import { Pool } from 'pg';
import * as answers from './compare.answers.schema';
import { csvLines, jsonLines } from './compare.export';
import { comparisonJson, pageJson, PREVIEW_CHARACTERS, summaryJson } from './compare.json';
import { readRows } from './compare.rows';
import { type Comparison, type ComparisonRequest, Comparisons } from './compare.service';
import { reasonsAgainst } from './comparison-gate';
import { idPath, oneOrMany } from '../reading.http';

const compared = {
  experiments: csv(uuid(), { max: 20 }),
  baseline: optional(uuid()),
  key: optional(oneOrMany(str())),
  lower_is_better: optional(csv(str())),
  higher_is_better: optional(csv(str())),
};
const compareQuery = object({
  ...compared,
  format: optional(literal(['full', 'summary']), 'full'),
  offset: optional(int({ ge: 0 }), 0),
  limit: optional(int({ ge: 0, le: 100 }), 20),
});
const exportQuery = object({ ...compared, format: optional(literal(['csv', 'jsonl']), 'csv') });
// A limit that is misspelt would not be checked, and what should fail would pass.
const keyLimits = object(
  {
    min_mean: optional(num()),
    max_mean: optional(num()),
    max_drop: optional(num()),
    max_worse: optional(int({ ge: 0 })),
  },
  'ComparisonGateKey',
  { closed: true },
);
const gateBody = object(
  {
    experiments: list(uuid(), { min: 1, max: 20 }),
    baseline: uuid(),
    lower_is_better: optional(list(str()), []),
    higher_is_better: optional(list(str()), []),
    keys: optional(record(keyLimits), {}),
    allow_significant_regressions: optional(bool(), false),
    max_error_rate: optional(num()),
    max_missing: optional(int({ ge: 0 })),
    max_latency_p50_increase: optional(num()),
    max_latency_p99_increase: optional(num()),
  },
  'ComparisonGate',
  { closed: true },
);
const datasetPath = idPath('dataset_id');
/** How long a gate or an export waits for the rows of a fresh upload, and how often it looks. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 100;

/** Comparisons of experiments on the same dataset. */
@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/compare')
export class CompareController {
  constructor(
    private readonly pool: Pool,
    private readonly comparisons: Comparisons,
  ) {}

  @Get()
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Compare experiments',
    description:
      'Per key: mean, difference, 95 % interval, paired test, counts of rows; then a page of rows, the worst regression first. `format=summary` is less than 4 KB.',
    path: datasetPath,
    query: compareQuery,
    answers: { 200: shape.either(answers.comparison, answers.comparisonSummary) },
  })
  async compare(@Req() request: FastifyRequest) {
    const { dataset_id: id } = path(datasetPath, request);
    const asked = query(compareQuery, request);
    const comparison = await this.comparisons.compare(request.actor.tenantId, requestOf(id, asked));
    if (asked.format === 'summary') return summaryJson(id, comparison);
    const shown = comparison.order.subarray(asked.offset, asked.offset + asked.limit);
    const rows = await readRows(this.pool, id, comparison, shown, PREVIEW_CHARACTERS);
    return { ...comparisonJson(id, comparison), page: pageJson(rows, comparison, asked.offset) };
  }

  @Get('export')
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Export a comparison',
    description: 'Every row with whole texts, streamed; waits until fresh uploads are stored.',
    path: datasetPath,
    query: exportQuery,
    answers: { 200: { content: { 'text/csv': shape.text, 'application/jsonl': shape.text } } },
    gives: ['Content-Disposition'],
  })
  async export(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<Readable> {
    const { dataset_id: id } = path(datasetPath, request);
    const asked = query(exportQuery, request);
    const comparison = await this.settled(request.actor.tenantId, requestOf(id, asked));
    const lines = asked.format === 'csv' ? csvLines : jsonLines;
    const type = asked.format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl';
    void reply.header('content-type', type);
    void reply.header('content-disposition', `attachment; filename="comparison-${id}.${asked.format}"`);
    return Readable.from(lines(this.pool, id, comparison), { objectMode: false, highWaterMark: 1 });
  }

  /** Passes or fails experiments, for pipelines: 200 either way. */
  @Post('gate')
  @HttpCode(200)
  @Access('read', { views: [experimentsView.name] })
  @Describe({
    summary: 'Pass or fail experiments',
    description: '200 either way; waits until fresh uploads are stored.',
    path: datasetPath,
    body: gateBody,
    answers: { 200: answers.verdictOfGate },
  })
  async gate(@Req() request: FastifyRequest) {
    const { dataset_id: id } = path(datasetPath, request);
    const limits = body(gateBody, request);
    const asked = {
      datasetId: id,
      experiments: limits.experiments,
      baseline: limits.baseline,
      lowerIsBetter: limits.lower_is_better,
      higherIsBetter: limits.higher_is_better,
    };
    const { table, keys, latencies, warnings } = await this.settled(request.actor.tenantId, asked);
    const baseline = table.experiments[0]!;
    const reasons = table.experiments
      .slice(1)
      .flatMap(({ id: experiment, name, runCount, errorCount, runs }, index) => {
        const missing = baseline.runs.reduce((sum, count, row) => sum + Number(count > 0 && runs[row] === 0), 0);
        const errorRate = runCount ? errorCount / runCount : null;
        const candidate = { id: experiment, name, errorRate, missing, latency: latencies[index + 1]! };
        return reasonsAgainst(candidate, keys, limits);
      });
    return { pass: reasons.length === 0, reasons, warnings };
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

function requestOf(
  datasetId: string,
  asked: Infer<typeof exportQuery> | Infer<typeof compareQuery>,
): ComparisonRequest {
  return {
    datasetId,
    experiments: asked.experiments,
    baseline: asked.baseline,
    keys: asked.key,
    lowerIsBetter: asked.lower_is_better ?? [],
    higherIsBetter: asked.higher_is_better ?? [],
  };
}
