import { sharedReading } from '@fairlead/postgres';
import { BadRequest, Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { datasetStamp } from '../compare/compare.queries';
import type { Comparison } from '../compare/comparisons.service';
import { type Measure, MEASURES } from '../compare/score-table';
import { groupsOf } from './slice-groups.queries';
import { compareSlices } from './slices';

/** Tests of one answer. */
const MOST_TESTS = 5000;
/** Rows whose members are all read; of more, the caller names the members. */
const MOST_ROWS = 100_000;
const MOST_KEPT = 4;

/** Compares slices. Results are kept as long as their comparison is, for a few choices of members. */
@Injectable()
export class SliceComparisons {
  private readonly kept = new WeakMap<Comparison, Recent<ReturnType<SliceComparisons['compute']>>>();

  constructor(private readonly pool: Pool) {}

  /**
   * Results for a comparison, computed once until an example of the dataset changes. `by` undefined stands for every member;
   * `measures` are tested beside scores and errors.
   * @throws BadRequest for one experiment alone, and for too many rows without `by`
   */
  async compare(
    datasetId: string,
    comparison: Comparison,
    by: readonly string[] | undefined,
    measures: readonly Measure[],
  ) {
    const chosen = MEASURES.filter((measure) => measures.includes(measure));
    const results = this.kept.get(comparison) ?? new Recent<ReturnType<SliceComparisons['compute']>>(MOST_KEPT);
    this.kept.set(comparison, results);
    const name = JSON.stringify([await datasetStamp(this.pool, comparison.tenantId, datasetId), by, chosen]);
    const known = results.get(name);
    if (known) return known;
    const running = sharedReading(() => this.compute(datasetId, comparison, by, chosen));
    results.set(name, running);
    running.catch(() => results.delete(name));
    return running;
  }

  private async compute(
    datasetId: string,
    comparison: Comparison,
    by: readonly string[] | undefined,
    chosen: readonly Measure[],
  ) {
    const { table, directions, keys } = comparison;
    if (table.experiments.length < 2) throw new BadRequest('Slices are compared between two experiments at least.');
    if (!by && table.rows > MOST_ROWS) {
      throw new BadRequest(`The comparison has more than ${MOST_ROWS} rows: name the members of the slices with by.`);
    }
    const directed = keys.map(({ key }) => ({ key, direction: directions.get(key)! }));
    const tested = directed.length + 1 + chosen.length;
    const most = Math.floor(MOST_TESTS / ((table.experiments.length - 1) * tested));
    const { groups, leftOut } = await groupsOf(this.pool, datasetId, comparison, by, most);
    const { tests, slices } = await compareSlices(table, directed, groups, chosen);
    return { groups: groups.length, groups_left_out: leftOut, tests, slices };
  }
}
