import { Answers, Area, CommandContext, Context, Describe, Query, Scope, unlessKnown } from '@fairlead/api';
import { decodeCursor, EXPERIMENTS_VIEWS, Id, searchedObject } from '@fairlead/runs';
import { type Infer, int, note, object, optional, str } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { trend, trendMeasure } from './trend.answers.schema';
import { tracedOf } from './traced';
import { Trends } from './trends.service';

const trendQuery = object({
  key: note(optional(str()), 'Feedback key of the score; either this or `measure`.'),
  measure: note(
    optional(trendMeasure),
    '`latency` in seconds, `tokens` or `cost` of a run, or `errors`, the share of failed runs.',
  ),
  metadata: note(optional(str()), 'Only experiments whose metadata contain this JSON object.'),
  limit: note(optional(int({ ge: 1, le: 100 }), 20), 'Largest number of experiments in the answer.'),
  cursor: note(optional(str()), 'The `next_cursor` of the previous page; absent: the newest experiments.'),
});

@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/trend')
export class TrendController {
  constructor(private readonly trends: Trends) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Follow a score or a measure through the experiments of a dataset',
    description:
      'The newest experiment first, each with the mean over its rows, the interval of the mean, and how far it moves when the same rows are run again. A page can be short: a request reads a bounded number of runs.',
    takes: ['If-None-Match'],
    gives: ['ETag'],
  })
  @Answers({ 200: trend, 304: null, 400: 'It names both a key and a measure, or neither.' })
  async trend(
    @Context() { tenantId }: CommandContext,
    @Id('dataset_id') id: string,
    @Query(trendQuery) { limit, ...asked }: Infer<typeof trendQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const metadata = searchedObject('metadata', asked.metadata);
    const request = { traced: tracedOf(asked), metadata, cursor: decodeCursor(asked.cursor), limit };
    return unlessKnown(reply, await this.trends.trend(tenantId, id, request));
  }
}
