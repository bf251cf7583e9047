import { sharedReading } from '@fairlead/postgres';
import { BadRequest, NotFound, Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import {
  compareKey,
  compareLatency,
  type Direction,
  type KeyComparison,
  type LatencyResult,
  regressions,
  worstFirst,
} from './compare-results';
import { type Compared, loadScores } from './compare-scores.queries';
import { type CategoryComparison, categoryKeys, compareCategories } from './categories';
import { compareExperimentScores, type ExperimentScores } from './experiment-scores';
import { datasetStamp, placesOfRows, rowsWith } from './compare.queries';
import { parseRowFilter, parseRowSort, type SelectableRows, selectRows } from './compare.selection';
import { type Bounds, type Warning, warningsOf } from './compare-warnings';
import type { ScoreDirections } from '../datasets/dataset';
import { findScoreDirections, hasDataset } from '../datasets/datasets.queries';

/** Experiments to compare, by id, with the baseline among them or not; `keys` undefined for all. */
export interface ComparisonRequest {
  readonly datasetId: string;
  readonly experiments: readonly string[];
  readonly baseline?: string;
  readonly keys?: readonly string[];
  /** Every key is read, however many there are, these first. `unread` of the table names those that do not fit. */
  readonly everyKey?: readonly string[];
  readonly lowerIsBetter: readonly string[];
  readonly higherIsBetter: readonly string[];
}

/** Everything but the texts of the rows; the baseline is the first experiment of the table. */
export interface Comparison extends SelectableRows {
  /** Keys with values that are no scores. */
  readonly categories: readonly CategoryComparison[];
  /** Scores that the experiments have as a whole. */
  readonly experimentScores: readonly ExperimentScores[];
  readonly latencies: readonly LatencyResult[];
  readonly warnings: readonly Warning[];
}

/** Which rows of a comparison, in which order. */
interface ChosenRows {
  readonly rows?: string[];
  readonly q?: string;
  readonly sort?: string;
}

interface SessionRow extends Compared {
  readonly dataset: string | null;
  readonly session_feedback_stats: string | null;
  readonly stamp: string;
}

interface Config extends Bounds {
  readonly lower: boolean;
}

const MOST_EXPERIMENTS = 20;
const MOST_KEYS = 50;
const MOST_CATEGORIES = 20;
const KEPT = 4;
/** Texts whose rows are kept, of each comparison. */
const KEPT_TEXTS = 4;
/** Larger comparisons are not kept. */
const MOST_KEPT_CELLS = 2_000_000;

/** Compares experiments of a dataset. The last few comparisons are kept until one of their experiments changes. */
@Injectable()
export class Comparisons {
  private readonly kept = new Recent<Comparison>(KEPT);
  /** Comparisons of experiments that are stored as a whole, while they are computed: equal requests wait for them. */
  private readonly running = new Map<string, Promise<Comparison>>();
  private readonly found = new WeakMap<Comparison, Recent<Promise<Uint8Array>>>();

  constructor(private readonly pool: Pool) {}

  /** @throws NotFound for a dataset or experiment that the tenant does not have, BadRequest for one of another dataset */
  async compare(tenantId: string, request: ComparisonRequest): Promise<Comparison> {
    const sessions = await this.sessions(tenantId, request);
    const configs = await this.configs(tenantId);
    const ofDataset = await findScoreDirections(this.pool, request.datasetId);
    const settled = sessions.every(({ persisted }) => persisted);
    const fingerprint = JSON.stringify([tenantId, request, sessions, ofDataset, [...configs]]);
    const known = this.kept.get(fingerprint) ?? this.running.get(fingerprint);
    if (known) return known;
    const compute = () =>
      this.compute(sessions, configs, request, (key) => directionOf(key, [asked(request), ofDataset], configs));
    if (!settled) return compute();
    const running = sharedReading(compute).finally(() => this.running.delete(fingerprint));
    this.running.set(fingerprint, running);
    const comparison = await running;
    if (comparison.table.rows * sessions.length <= MOST_KEPT_CELLS) this.kept.set(fingerprint, comparison);
    return comparison;
  }

  /** Rows of the table that a request chooses, in its order, and what is told of the choice. @throws BadRequest */
  async choose(datasetId: string, comparison: Comparison, { rows = [], q, sort: asked }: ChosenRows) {
    const sort = asked ?? (comparison.table.experiments.length > 1 ? 'regression' : 'row');
    const filters = rows.map((text) => parseRowFilter(text)!);
    const found = q === undefined ? undefined : await this.rowsWith(datasetId, comparison, q);
    const places = sort === 'row' ? await placesOfRows(this.pool, datasetId, comparison.table) : undefined;
    const selected = selectRows(comparison, filters, parseRowSort(sort)!, found, places);
    return { selected, told: { filters: rows, q: q ?? null, sort } };
  }

  /** By row of a comparison 1 for those that hold a text. Found once for all pages of it, until the dataset changes. */
  private async rowsWith(datasetId: string, comparison: Comparison, text: string): Promise<Uint8Array> {
    const texts = this.found.get(comparison) ?? new Recent<Promise<Uint8Array>>(KEPT_TEXTS);
    this.found.set(comparison, texts);
    const key = `${await datasetStamp(this.pool, datasetId)} ${text}`;
    const known = texts.get(key);
    if (known) return known;
    const searching = sharedReading(() => rowsWith(this.pool, datasetId, comparison.table, text));
    texts.set(key, searching);
    searching.catch(() => texts.delete(key));
    return searching;
  }

  private async compute(
    sessions: readonly SessionRow[],
    configs: ReadonlyMap<string, Config>,
    request: ComparisonRequest,
    direction: (key: string) => Direction,
  ): Promise<Comparison> {
    const table = await loadScores(this.pool, sessions, request.keys, request.everyKey);
    const names = [...new Set(table.experiments.flatMap(({ keys }) => [...keys.keys()]))].sort();
    const shown = request.keys ?? (request.everyKey ? names : names.slice(0, MOST_KEYS));
    const keys: KeyComparison[] = [];
    for (const key of shown) keys.push(await compareKey(table, key, direction(key)));
    const worst = regressions(table, keys);
    const warnings = warningsOf(table, keys, configs);
    const ofValues = categoryKeys(table);
    const categories = ofValues
      .slice(0, request.everyKey ? undefined : MOST_CATEGORIES)
      .map((key) => compareCategories(table, key));
    const omitted = (request.keys ? 0 : names.length - shown.length) + ofValues.length - categories.length;
    if (omitted > 0) {
      const message = `${omitted} keys are left out: name those to compare with key.`;
      warnings.push({ code: 'keys left out', message });
    }
    const latencies = table.experiments.map((experiment) => compareLatency(experiment, table.experiments[0]));
    const experimentScores = compareExperimentScores(sessions, request.keys, direction);
    return { table, keys, categories, experimentScores, latencies, warnings, worst, order: worstFirst(table, worst) };
  }

  /** The experiments' rows, the baseline's first. */
  private async sessions(
    tenantId: string,
    { datasetId, experiments, baseline }: ComparisonRequest,
  ): Promise<SessionRow[]> {
    if (!(await hasDataset(this.pool, tenantId, datasetId))) throw new NotFound(`Dataset ID ${datasetId} not found.`);
    const ids = [...new Set([...(baseline ? [baseline] : []), ...experiments])];
    if (ids.length > MOST_EXPERIMENTS) throw new BadRequest(`At most ${MOST_EXPERIMENTS} experiments can be compared.`);
    const { rows } = await this.pool.query<SessionRow>(
      `select id, name, persisted, reference_dataset_id as dataset, session_feedback_stats, xmin::text as stamp
       from sessions where tenant_id = $1 and id = any($2::uuid[])`,
      [tenantId, ids],
    );
    return ids.map((id) => {
      const row = rows.find((one) => one.id === id);
      if (!row) throw new NotFound(`Session ID ${id} not found.`);
      if (row.dataset !== datasetId) throw new BadRequest(`Session ${id} is no experiment on dataset ${datasetId}.`);
      return row;
    });
  }

  /** Range and direction of keys, from the tenant's configurations. */
  private async configs(tenantId: string): Promise<Map<string, Config>> {
    const { rows } = await this.pool.query<{
      key: string;
      min: number | null;
      max: number | null;
      lower: boolean | null;
    }>(
      `select key, ${bound('min')} as min, ${bound('max')} as max,
         coalesce(beside, c ->> 'is_lower_score_better' = 'true') as lower
       from (select key, searchable_json(config) as c, is_lower_score_better as beside
             from feedback_configs where tenant_id = $1) as configs
       where jsonb_typeof(c) = 'object' and (c ?| '{min,max,is_lower_score_better}' or beside)
       order by key limit 10000`,
      [tenantId],
    );
    return new Map(
      rows.map(({ key, min, max, lower }) => [
        key,
        { min: min ?? undefined, max: max ?? undefined, lower: lower ?? false },
      ]),
    );
  }
}

/** A number within the range of doubles, else null. */
function bound(member: string): string {
  return `case when jsonb_typeof(c -> '${member}') = 'number' and (c ->> '${member}')::numeric between -1e300 and 1e300
    then (c ->> '${member}')::float8 end`;
}

function asked({ lowerIsBetter, higherIsBetter }: ComparisonRequest): ScoreDirections {
  return { lower_is_better: lowerIsBetter, higher_is_better: higherIsBetter };
}

/** Direction of a key: from the first of `said` that names it, else from its configuration. */
function directionOf(key: string, said: readonly ScoreDirections[], configs: ReadonlyMap<string, Config>): Direction {
  for (const { lower_is_better, higher_is_better } of said) {
    if (lower_is_better.includes(key)) return 'lower is better';
    if (higher_is_better.includes(key)) return 'higher is better';
  }
  return configs.get(key)?.lower ? 'lower is better' : 'higher is better';
}
