import { findScoreDirections, requireDataset } from '@fairlead/datasets';
import { encodeCursor, ExperimentLimits, lowerIsBetter, type RunCursor } from '@fairlead/runs';
import { Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { configuredLabels } from '../compare/compare.queries';
import { loadScores } from '../compare/compare-scores.queries';
import { compareExperimentScores, statisticsOf } from '../compare/experiment-scores';
import type { Compared, LabelValues } from '../compare/score-table';
import { errorsOf, NO_POINT, type Point, pointOf } from './trend-point';
import type { Traced } from './traced';
import type { TrendPoint } from './trend.answers.schema';
import { sessionsBefore, type TrendSession } from './trend.queries';

/** An experiment, with the scores that it and its repetitions have as a whole. */
interface Pointed extends Compared {
  readonly wholes: readonly Pick<TrendSession, 'id' | 'session_feedback_stats'>[];
}

/** Numbers of labels by key. */
type Values = ReadonlyMap<string, LabelValues>;

/** `stamp` changes whenever an experiment or its statistics do. */
interface Stamped {
  readonly stamp: readonly string[];
}

interface TrendRequest {
  readonly traced: Traced;
  readonly metadata?: string;
  readonly cursor?: RunCursor;
  readonly limit: number;
}

/** Points that are kept until their experiment changes. */
const MOST_KEPT = 5000;
/** Runs that one request reads, beside those of its first experiment. */
export const MOST_RUNS = 500_000;

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
    const points: TrendPoint[] = [];
    const values = await this.valuesOf(tenantId, traced);
    let read = 0;
    for (const session of found.slice(0, page.limit)) {
      const asked = { ...session, stamp: [session.id, session.stamp], wholes: [session] };
      const isKnown = this.known(tenantId, asked, traced, values) !== undefined;
      if (!isKnown) read += session.run_count ?? 0;
      if (!isKnown && read > MOST_RUNS && points.length > 0) break;
      const point = session.persisted ? await this.point(tenantId, asked, traced, values) : NO_POINT;
      points.push({ ...aboutOf(session), ...point });
    }
    const last = points.length < found.length ? found[points.length - 1] : undefined;
    return {
      dataset_id: datasetId,
      ...(await this.followed(tenantId, datasetId, traced)),
      resources: points,
      next_cursor: last ? encodeCursor({ direction: 'next', time: last.start, id: last.id }) : null,
    };
  }

  /** Members of an answer that say what is followed. */
  async followed(tenantId: string, datasetId: string, traced: Traced) {
    return {
      key: 'key' in traced ? traced.key : null,
      measure: 'measure' in traced ? traced.measure : null,
      direction: await this.direction(tenantId, datasetId, traced),
    };
  }

  /** Numbers that labels of the key stand for. */
  async valuesOf(tenantId: string, traced: Traced): Promise<Values> {
    return 'key' in traced ? configuredLabels(this.pool, tenantId, [traced.key]) : new Map<string, never>();
  }

  /** The point of an experiment and its repetitions, when it is kept since they last changed. */
  known(tenantId: string, { stamp }: Stamped, traced: Traced, values: Values): Point | undefined {
    return this.kept.get(nameOf(tenantId, stamp, traced, values));
  }

  /** The point of an experiment and its repetitions, whose runs are all stored. */
  async point(tenantId: string, experiment: Pointed & Stamped, traced: Traced, values: Values): Promise<Point> {
    const known = this.known(tenantId, experiment, traced, values);
    const point = known ?? (await this.read(tenantId, experiment, traced, values));
    this.kept.set(nameOf(tenantId, experiment.stamp, traced, values), point);
    return point;
  }

  private async read(tenantId: string, experiment: Pointed, traced: Traced, values: Values): Promise<Point> {
    const wanted = { keys: 'key' in traced ? [traced.key] : [], labelValues: () => Promise.resolve(values) };
    const table = await loadScores(this.pool, tenantId, [experiment], wanted, this.limits);
    const [scores] = table.experiments;
    if (!scores) return NO_POINT;
    if ('key' in traced) {
      const column = scores.keys.get(traced.key);
      if (column) return pointOf(column, column.passFail);
      return { ...NO_POINT, mean: wholeOf(experiment.wholes, traced.key, values) };
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

function nameOf(tenantId: string, stamp: readonly string[], traced: Traced, values: Values): string {
  return JSON.stringify([tenantId, stamp, traced, [...values].map(([, one]) => [...one])]);
}

/** The mean of the scores that experiments have as a whole. */
function wholeOf(wholes: Pointed['wholes'], key: string, values: Values): number | null {
  const known = wholes.map(statisticsOf);
  const [found] = compareExperimentScores(wholes, known, [key], () => 'higher is better', values, new Set());
  const given = found?.results.flatMap(({ value }) => value ?? []) ?? [];
  return given.length === 0 ? null : given.reduce((sum, one) => sum + one, 0) / given.length;
}

function aboutOf({ id, name, start, test_run_number, revision_id, run_count, persisted }: TrendSession) {
  const about = { experiment_id: id, name, test_run_number, start_time: start, revision_id };
  return { ...about, run_count: persisted ? run_count : null };
}
