import { Answers, Area, CommandContext, Context, Describe, Query, Scope, unlessKnown } from '@fairlead/api';
import { isSliceMember, SLICE_MEMBER } from '@fairlead/contracts';
import { EXPERIMENTS_VIEWS, Id, oneOrMany } from '@fairlead/runs';
import { type Infer, int, literal, note, object, optional, refine, str } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { compared, keysOf, requestOf } from '../compare/compare.controller';
import { Comparisons } from '../compare/comparisons.service';
import { MEASURES } from '../compare/score-table';
import { SliceComparisons } from './slice-comparisons.service';
import { slices } from './slices.answers.schema';
import { shownSlice } from './slices';

/** Measures that slices are tested by beside scores and errors. */
export const sliceMeasures = note(
  optional(oneOrMany(literal(MEASURES)), []),
  'Measures of runs that slices are tested by, beside scores and errors; repeatable. Default: none, because verdicts are corrected for all tests, so that more of them make each one harder to reach.',
);

const slicesQuery = object({
  ...compared,
  by: note(
    optional(oneOrMany(refine(str(), (text) => (isSliceMember(text) ? undefined : `give ${SLICE_MEMBER}`)))),
    'Members whose values make slices: `split`, `metadata.<member>` or `inputs.<member>`; repeatable. Default: all with short values, of inputs of at most 4 KB.',
  ),
  measures: sliceMeasures,
  verdict: note(
    optional(oneOrMany(literal(['worse', 'better', 'not clear']))),
    'Only results with this verdict; repeatable. Default: all.',
  ),
  offset: note(optional(int({ ge: 0 }), 0), 'Number of results to skip.'),
  limit: note(optional(int({ ge: 0, le: 100 }), 20), 'Largest number of results in the answer.'),
});

@Area('Comparisons')
@Controller('api/v1/datasets/:dataset_id/compare/slices')
export class SlicesController {
  constructor(
    private readonly comparisons: Comparisons,
    private readonly sliceComparisons: SliceComparisons,
  ) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Get where experiments got worse or better',
    description:
      'Compares slices of the rows (topics, splits, languages …) with the baseline, by score, by errors and by the `measures` that are asked for. Verdicts are corrected for the number of tests, so that at most one comparison in twenty shows a slice by chance.',
    takes: ['If-None-Match'],
    gives: ['ETag'],
  })
  @Answers({ 200: slices, 304: null })
  async slices(
    @Context() { tenantId }: CommandContext,
    @Id('dataset_id') id: string,
    @Query(slicesQuery) asked: Infer<typeof slicesQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { by, measures, verdict, offset, limit } = asked;
    const comparison = await this.comparisons.compare(tenantId, requestOf(id, asked, keysOf(asked)));
    const { slices, ...told } = await this.sliceComparisons.compare(id, comparison, by, measures);
    const chosen = verdict ? slices.filter(({ slice }) => verdict.includes(slice.verdict)) : slices;
    const baseline = comparison.table.experiments[0]!.id;
    const shown = chosen.slice(offset, offset + limit).map(shownSlice);
    return unlessKnown(reply, { dataset_id: id, baseline, ...told, total: chosen.length, slices: shown });
  }
}
