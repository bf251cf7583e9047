import { findScoreDirections, requireDataset } from '@fairlead/datasets';
import { encodeCursor, ExperimentLimits, lowerIsBetter, type RunCursor } from '@fairlead/runs';
import { Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { configuredLabels } from '../compare/compare.queries';
import { loadScores } from '../compare/compare-scores.queries';
import { compareExperimentScores, statisticsOf } from '../compare/experiment-scores';
import type { LabelValues } from '../compare/score-table';
import { errorsOf, NO_POINT, type Point, pointOf } from './trend-point';
import type { TrendMeasure, TrendPoint } from './trend.answers.schema';
import { sessionsBefore, type TrendSession } from './trend.queries';

export type Traced = { readonly key: string } | { readonly measure: TrendMeasure };

interface TrendRequest {
  readonly traced: Traced;
  readonly metadata?: string;
  readonly cursor?: RunCursor;
  readonly limit: number;
}

/** Points that are kept until their experiment changes. */
const MOST_KEPT = 5000;
/** Runs that one request reads, beside those of its first experiment. */
const MOST_RUNS = 500_000;

/** Follows a score or a measure through the experiments of a dataset. */
@Injectable()
export class Trends {
  private readonly kept = new Recent<Point>(MOST_KEPT);

  constructor(
    private readonly pool: Pool,
    private readonly limits: ExperimentLimits,
  ) {}

  /**
   * A page of points, the newest experiment first. It ends early before the runs that it reads become too many.
   * @throws NotFound for a dataset that the workspace does not have
   */
  async trend(tenantId: string, datasetId: string, { traced, ...page }: TrendRequest) {
    await requireDataset(this.pool, tenantId, datasetId);
    const found = await sessionsBefore(this.pool, tenantId, datasetId, { ...page, limit: page.limit + 1 });
    const values =
      'key' in traced ? await configuredLabels(this.pool, tenantId, [traced.key]) : new Map<string, never>();
    const points: TrendPoint[] = [];
    let read = 0;
    for (const session of found.slice(0, page.limit)) {
      const name = JSON.stringify([
        tenantId,
        session.id,
        session.stamp,
        traced,
        [...values].map(([, one]) => [...one]),
      ]);
      const known = this.kept.get(name);
      if (!known) read += session.run_count ?? 0;
      if (!known && read > MOST_RUNS && points.length > 0) break;
      const point = known ?? (session.persisted ? await this.point(tenantId, session, traced, values) : NO_POINT);
      if (session.persisted) this.kept.set(name, point);
      points.push({ ...aboutOf(session), ...point });
    }
    const last = points.length < found.length ? found[points.length - 1] : undefined;
    return {
      dataset_id: datasetId,
      key: 'key' in traced ? traced.key : null,
      measure: 'measure' in traced ? traced.measure : null,
      direction: await this.direction(tenantId, datasetId, traced),
      resources: points,
      next_cursor: last ? encodeCursor({ direction: 'next', time: last.start, id: last.id }) : null,
    };
  }

  private async point(
    tenantId: string,
    session: TrendSession,
    traced: Traced,
    values: ReadonlyMap<string, LabelValues>,
  ): Promise<Point> {
    const wanted = { keys: 'key' in traced ? [traced.key] : [], labelValues: () => Promise.resolve(values) };
    const table = await loadScores(this.pool, tenantId, [session], wanted, this.limits);
    const [scores] = table.experiments;
    if (!scores) return NO_POINT;
    if ('key' in traced) {
      const column = scores.keys.get(traced.key);
      return column ? pointOf(column, column.passFail) : { ...NO_POINT, mean: wholeOf(session, traced.key, values) };
    }
    if (traced.measure === 'errors') return pointOf(errorsOf(scores), true);
    const column = scores.measures.get(traced.measure);
    return column ? pointOf(column, false) : NO_POINT;
  }

  private async direction(tenantId: string, datasetId: string, traced: Traced) {
    const [lower, higher] = ['lower is better', 'higher is better'] as const;
    if ('measure' in traced) return lower;
    const ofDataset = await findScoreDirections(this.pool, tenantId, datasetId);
    if (ofDataset.lower_is_better.includes(traced.key)) return lower;
    if (ofDataset.higher_is_better.includes(traced.key)) return higher;
    return (await lowerIsBetter(this.pool, tenantId)).has(traced.key) ? lower : higher;
  }
}

/** The score of a whole experiment. */
function wholeOf(session: TrendSession, key: string, values: ReadonlyMap<string, LabelValues>): number | null {
  const known = [statisticsOf(session)];
  const [found] = compareExperimentScores([session], known, [key], () => 'higher is better', values, new Set());
  return found?.results[0]?.value ?? null;
}

function aboutOf({ id, name, start, test_run_number, revision_id, run_count, persisted }: TrendSession) {
  const about = { experiment_id: id, name, test_run_number, start_time: start, revision_id };
  return { ...about, run_count: persisted ? run_count : null };
}
