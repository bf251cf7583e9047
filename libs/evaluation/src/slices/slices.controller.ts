import { Answers, Area, CommandContext, Context, Describe, Query, Scope, unlessKnown } from '@fairlead/api';
import { sharedReading } from '@fairlead/postgres';
import { EXPERIMENTS_VIEWS, Id, oneOrMany } from '@fairlead/runs';
import { BadRequest, type Infer, int, literal, note, object, optional, Recent, refine, str } from '@fairlead/schema';
import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Pool } from 'pg';
import { compared, keysOf, requestOf } from '../compare/compare.controller';
import { datasetStamp } from '../compare/compare.queries';
import { type Comparison, Comparisons } from '../compare/comparisons.service';
import { isMember, MEMBER_FORM } from '../compare/slice';
import { groupsOf } from './slice-groups.queries';
import { slices } from './slices.answers.schema';
import { compareSlices, shownSlice } from './slices';

/** Tests of one answer. */
const MOST_TESTS = 5000;
/** Rows whose members are all read; of more, the caller names the members. */
const MOST_ROWS = 100_000;
const MOST_KEPT = 4;

const slicesQuery = object({
  ...compared,
  by: note(
    optional(oneOrMany(refine(str(), (text) => (isMember(text) ? undefined : `give ${MEMBER_FORM}`)))),
    'Members whose values make slices: `split`, `metadata.<member>` or `inputs.<member>`; repeatable. Default: all with short values, of inputs of at most 4 KB.',
  ),
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
  /** Results of a comparison that is kept, by the members that were asked for. */
  private readonly kept = new WeakMap<Comparison, Recent<ReturnType<SlicesController['compute']>>>();

  constructor(
    private readonly pool: Pool,
    private readonly comparisons: Comparisons,
  ) {}

  @Get()
  @Scope('read', { views: EXPERIMENTS_VIEWS, compressed: true, strict: true })
  @Describe({
    summary: 'Get where experiments got worse or better',
    description:
      'Compares slices of the rows (topics, splits, languages …) with the baseline, by score and by errors. Verdicts are corrected for the number of tests, so that at most one comparison in twenty shows a slice by chance.',
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
    const { by, verdict, offset, limit } = asked;
    const comparison = await this.comparisons.compare(tenantId, requestOf(id, asked, keysOf(asked)));
    const { slices, ...told } = await this.found(id, comparison, by);
    const chosen = verdict ? slices.filter(({ slice }) => verdict.includes(slice.verdict)) : slices;
    const baseline = comparison.table.experiments[0]!.id;
    const shown = chosen.slice(offset, offset + limit).map(shownSlice);
    return unlessKnown(reply, { dataset_id: id, baseline, ...told, total: chosen.length, slices: shown });
  }

  /** Computed once for all pages of a comparison, until an example of the dataset changes. */
  private async found(datasetId: string, comparison: Comparison, by: readonly string[] | undefined) {
    const results = this.kept.get(comparison) ?? new Recent<ReturnType<SlicesController['compute']>>(MOST_KEPT);
    this.kept.set(comparison, results);
    const name = JSON.stringify([await datasetStamp(this.pool, comparison.tenantId, datasetId), by]);
    const known = results.get(name);
    if (known) return known;
    const running = sharedReading(() => this.compute(datasetId, comparison, by));
    results.set(name, running);
    running.catch(() => results.delete(name));
    return running;
  }

  private async compute(datasetId: string, comparison: Comparison, by: readonly string[] | undefined) {
    const { table, directions, keys } = comparison;
    if (table.experiments.length < 2) throw new BadRequest('Slices are compared between two experiments at least.');
    if (!by && table.rows > MOST_ROWS) {
      throw new BadRequest(`The comparison has more than ${MOST_ROWS} rows: name the members of the slices with by.`);
    }
    const directed = keys.map(({ key }) => ({ key, direction: directions.get(key)! }));
    const most = Math.floor(MOST_TESTS / ((table.experiments.length - 1) * (directed.length + 1)));
    const { groups, leftOut } = await groupsOf(this.pool, datasetId, comparison, by, most);
    const { tests, slices } = await compareSlices(table, directed, groups);
    return { groups: groups.length, groups_left_out: leftOut, tests, slices };
  }
}
