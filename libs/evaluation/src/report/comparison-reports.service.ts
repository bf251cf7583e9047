import { findDataset } from '@fairlead/datasets';
import { BadRequest } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { comparisonJson } from '../compare/compare-json';
import { readPage } from '../compare/compare-rows.queries';
import { type Comparison, type ComparisonRequest, Comparisons } from '../compare/comparisons.service';
import type { Measure } from '../compare/score-table';
import { SliceComparisons } from '../slices/slice-comparisons.service';
import { report, WORST_SLICES } from './report';

interface ReportOptions {
  readonly link?: string;
  readonly worst: number;
  /** Measures that slices are tested by, beside scores and errors. */
  readonly measures?: readonly Measure[];
}

/** Renders comparisons in Markdown, the same for the command line and for pull requests. */
@Injectable()
export class ComparisonReports {
  constructor(
    private readonly pool: Pool,
    private readonly comparisons: Comparisons,
    private readonly slices: SliceComparisons,
  ) {}

  /**
   * Returns a comparison with its verdicts, the slices and the `worst` rows that got worse most. `link`: the address of
   * its page; undefined without one. @throws as `Comparisons.compare`
   */
  async render(
    tenantId: string,
    request: ComparisonRequest,
    { link, worst, measures = [] }: ReportOptions,
  ): Promise<string> {
    const { datasetId } = request;
    const comparison = await this.comparisons.compare(tenantId, request);
    const chosen = await this.comparisons.choose(datasetId, comparison, {});
    const page = await readPage(this.pool, datasetId, comparison, chosen, { limit: worst, offset: 0 });
    const dataset = await findDataset(this.pool, tenantId, datasetId);
    return report(comparisonJson(datasetId, comparison), {
      dataset: dataset === undefined ? undefined : (JSON.parse(dataset) as { name: string }).name,
      ...{ link, date: new Date().toISOString().slice(0, 10), worst: page.rows },
      slices: await this.worseSlices(datasetId, comparison, measures),
    });
  }

  private async worseSlices(datasetId: string, comparison: Comparison, measures: readonly Measure[]) {
    try {
      const { slices } = await this.slices.compare(datasetId, comparison, undefined, measures);
      const worse = slices.filter(({ slice }) => slice.verdict === 'worse');
      return worse.slice(0, WORST_SLICES).map(({ slice }) => slice);
    } catch (error) {
      // Slices of so many rows are compared by the members that somebody names; the report says that they were not.
      if (error instanceof BadRequest) return undefined;
      throw error;
    }
  }
}

/** Returns the address of the page of a comparison. `console`: that of the workspace in the console. */
export function comparisonLink(console: string, { datasetId, baseline, experiments }: ComparisonRequest): string {
  const all = [...new Set([...(baseline === undefined ? [] : [baseline]), ...experiments])];
  return `${console}/datasets/${datasetId}/compare?selectedSessions=${all.join(',')}`;
}
