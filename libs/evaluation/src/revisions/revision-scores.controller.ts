import { Answers, Area, CommandContext, Context, Describe, Query, Scope, unlessKnown } from '@fairlead/api';
import { EXPERIMENTS_VIEWS } from '@fairlead/runs';
import { csv, type Infer, int, note, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { trendMeasure } from '../trend/trend.answers.schema';
import { tracedOf } from '../trend/traced';
import { revisionTrend, scoresOfRevisions } from './revisions.answers.schema';
import { RevisionsEvidence } from './revisions-evidence.service';

const revisionIds = note(csv(uuid(), { max: 50 }), 'Identifiers of at most 50 revisions.');

const scoresQuery = object({
  revision_ids: revisionIds,
  dataset_id: note(optional(uuid()), 'Only experiments on this dataset; live runs are counted as ever.'),
  experiments: note(
    optional(int({ ge: 0, le: 20 }), 3),
    'Largest number of experiments of a revision that are listed; those that are not listed are counted.',
  ),
});

const trendQuery = object({
  revision_ids: revisionIds,
  dataset_id: note(uuid(), 'Dataset of the experiments.'),
  key: note(optional(str()), 'Feedback key of the score; either this or `measure`.'),
  measure: note(
    optional(trendMeasure),
    '`latency` in seconds, `tokens` or `cost` of a run, or `errors`, the share of failed runs.',
  ),
});

@Area('Comparisons')
@Controller('api/v1/revisions')
export class RevisionScoresController {
  constructor(private readonly evidence: RevisionsEvidence) {}

  @Get('scores')
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Read the scores, usage, latency and errors of revisions',
    description:
      'Experiments and live runs belong to the revision of a deployment that their metadata name as `revision_id`; agents have it in `LANGCHAIN_REVISION_ID`, from which the SDKs take it. A revision of which nothing is known has no runs.',
    takes: ['If-None-Match'],
    gives: ['ETag'],
  })
  @Answers({ 200: scoresOfRevisions, 304: null })
  async read(
    @Context() { tenantId }: CommandContext,
    @Query(scoresQuery) { revision_ids, ...asked }: Infer<typeof scoresQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return unlessKnown(reply, await this.evidence.scores(tenantId, revision_ids, asked));
  }

  @Get('trend')
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Follow a score or a measure through revisions',
    description:
      'The experiments on one dataset that name a revision are one point: their runs of a row are its repetitions. It has the mean over the rows, the interval of the mean, and how far it moves when the same rows are run again.',
    takes: ['If-None-Match'],
    gives: ['ETag'],
  })
  @Answers({
    200: revisionTrend,
    304: null,
    400: 'It names both a key and a measure, or neither.',
    404: 'There is no such dataset.',
  })
  async trend(
    @Context() { tenantId }: CommandContext,
    @Query(trendQuery) { revision_ids, dataset_id, ...asked }: Infer<typeof trendQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return unlessKnown(reply, await this.evidence.trend(tenantId, dataset_id, revision_ids, tracedOf(asked)));
  }
}
