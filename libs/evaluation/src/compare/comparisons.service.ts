import { sharedReading } from '@fairlead/postgres';
import { BadRequest, NotFound, Recent } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { findScoreDirections, requireDataset, type ScoreDirections } from '@fairlead/datasets';
import { ExperimentLimits } from '@fairlead/runs';
import type {
  CategoryComparison,
  Direction,
  ExperimentScores,
  KeyComparison,
  LatencyResult,
  MeasureComparison,
  Warning,
} from './compare.answers.schema';
import { compareKey, compareLatency, compareMeasures, regressions, worstFirst } from './compare-results';
import { loadScores } from './compare-scores.queries';
import { categoryKeys, compareCategories } from './categories';
import { compareExperimentScores, hasUnclear, labelledKeys, statisticsOf } from './experiment-scores';
import {
  configuredLabels,
  datasetStamp,
  placesOfRows,
  rowsOfSlice,
  rowsWith,
  structuredScores,
} from './compare.queries';
import { parseRowFilter, parseRowSort, type SelectableRows, selectRows } from './row-selection';
import { type Bounds, keptWarnings, warningsOf } from './compare-warnings';
import type { Compared, LabelValues } from './score-table';
import { parseSlice, type Slice } from './slice';

export interface ComparisonRequest {
  readonly datasetId: string;
  readonly experiments: readonly string[];
  readonly baseline?: string;
  readonly keys?: readonly string[];
  /** Every key is read, however many there are, these first. `unread` of the table names those that do not fit. */
  readonly everyKey?: readonly string[];
  readonly lowerIsBetter: readonly string[];
  readonly higherIsBetter: readonly string[];
  /** Numbers for labels by key, in place of those that the feedback configuration of the key gives. */
  readonly labelValues?: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

/** Everything but the texts of the rows; the baseline is the first experiment of the table. */
export interface Comparison extends SelectableRows {
  readonly tenantId: string;
  readonly categories: readonly CategoryComparison[];
  readonly experimentScores: readonly ExperimentScores[];
  readonly latencies: readonly LatencyResult[];
  readonly measures: readonly MeasureComparison[];
  readonly warnings: readonly Warning[];
}

interface ChosenRows {
  readonly rows?: readonly string[];
  readonly q?: string;
  readonly slice?: string;
  readonly sort?: string;
  readonly around?: string;
}

type Wanted = { readonly text: string } | { readonly slice: Slice };

interface SessionRow extends Compared {
  readonly dataset: string | null;
  readonly session_feedback_stats: string | null;
  readonly stamp: string;
}

interface Config extends Bounds {
  readonly lower: boolean;
  /** Changes whenever the categories may have changed. */
  readonly stamp: string;
}

const MOST_EXPERIMENTS = 20;
const MOST_KEYS = 50;
const MOST_CATEGORIES = 20;
const KEPT = 4;
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

  constructor(
    private readonly pool: Pool,
    private readonly limits: ExperimentLimits,
  ) {}

  /** @throws NotFound for a dataset or experiment that the tenant does not have, BadRequest for one of another dataset */
  async compare(tenantId: string, request: ComparisonRequest): Promise<Comparison> {
    const sessions = await this.sessions(tenantId, request);
    const configs = await this.configs(tenantId);
    const ofDataset = await findScoreDirections(this.pool, tenantId, request.datasetId);
    const settled = sessions.every(({ persisted }) => persisted);
    const fingerprint = JSON.stringify([tenantId, request, sessions, ofDataset, [...configs]]);
    const known = this.kept.get(fingerprint) ?? this.running.get(fingerprint);
    if (known) return known;
    const compute = () =>
      this.compute(tenantId, sessions, configs, request, (key) =>
        directionOf(key, [asked(request), ofDataset], configs),
      );
    if (!settled) return compute();
    const running = sharedReading(compute).finally(() => this.running.delete(fingerprint));
    this.running.set(fingerprint, running);
    const comparison = await running;
    if (comparison.table.rows * sessions.length <= MOST_KEPT_CELLS) this.kept.set(fingerprint, comparison);
    return comparison;
  }

  /** Rows of the table that a request chooses, in its order, and what is told of the choice. @throws BadRequest */
  async choose(datasetId: string, comparison: Comparison, { rows = [], q, slice, sort: asked, around }: ChosenRows) {
    const sort = asked ?? (comparison.table.experiments.length > 1 ? 'regression' : 'row');
    const filters = rows.map((text) => parseRowFilter(text)!);
    const found = [
      ...(q === undefined ? [] : [await this.rowsWith(datasetId, comparison, { text: q })]),
      ...(slice === undefined ? [] : [await this.rowsWith(datasetId, comparison, { slice: parseSlice(slice)! })]),
    ];
    const places = sort === 'row' ? await placesOfRows(this.pool, datasetId, comparison) : undefined;
    const { selected, ...placed } = selectRows(comparison, {
      filters,
      sort: parseRowSort(sort)!,
      found,
      places,
      around,
    });
    return { selected, told: { filters: rows, q: q ?? null, slice: slice ?? null, sort, ...placed } };
  }

  /**
   * By row of a comparison 1 for those that hold a text, or are in a slice. Found once for all pages of it, until the
   * dataset changes.
   */
  private async rowsWith(datasetId: string, comparison: Comparison, wanted: Wanted): Promise<Uint8Array> {
    const texts = this.found.get(comparison) ?? new Recent<Promise<Uint8Array>>(KEPT_TEXTS);
    this.found.set(comparison, texts);
    const key = `${await datasetStamp(this.pool, comparison.tenantId, datasetId)} ${JSON.stringify(wanted)}`;
    const known = texts.get(key);
    if (known) return known;
    const searching = sharedReading(() =>
      'text' in wanted
        ? rowsWith(this.pool, datasetId, comparison, wanted.text)
        : rowsOfSlice(this.pool, datasetId, comparison, wanted.slice),
    );
    texts.set(key, searching);
    searching.catch(() => texts.delete(key));
    return searching;
  }

  private async compute(
    tenantId: string,
    sessions: readonly SessionRow[],
    configs: ReadonlyMap<string, Config>,
    request: ComparisonRequest,
    direction: (key: string) => Direction,
  ): Promise<Comparison> {
    const { keys: wanted, everyKey: first } = request;
    const labelValues = (labelled: readonly string[]) => this.labelValues(tenantId, labelled, request);
    const table = await loadScores(this.pool, tenantId, sessions, { keys: wanted, first, labelValues }, this.limits);
    const names = [...new Set(table.experiments.flatMap(({ keys }) => [...keys.keys()]))].sort();
    const shown = wanted ?? (first ? names : names.slice(0, MOST_KEYS));
    const keys: KeyComparison[] = [];
    for (const key of shown) keys.push(await compareKey(table, key, direction(key)));
    const directions = new Map([...new Set([...names, ...shown])].map((key) => [key, direction(key)]));
    const worst = regressions(
      table,
      [...directions].map(([key, direction]) => ({ key, direction })),
    );
    const warnings = [...warningsOf(table, [...directions.keys()], configs)];
    const labelled = categoryKeys(table);
    const categories: CategoryComparison[] = [];
    for (const key of labelled.slice(0, first ? undefined : MOST_CATEGORIES)) {
      categories.push(await compareCategories(table, key));
    }
    const omitted = (wanted ? 0 : names.length - shown.length) + labelled.length - categories.length;
    if (omitted > 0) {
      const message = `${omitted} keys are left out: name those to compare with key. The order of the rows and the warnings are about all keys.`;
      warnings.unshift({ code: 'keys left out', message });
    }
    const latencies = table.experiments.map((experiment) => compareLatency(experiment, table.experiments[0]));
    const statistics = sessions.map(statisticsOf);
    const ofWhole = await this.labelValues(tenantId, statistics.flatMap(labelledKeys), request);
    const unclear = sessions.filter((_, place) => hasUnclear(statistics[place]!)).map(({ id }) => id);
    const structured = unclear.length > 0 ? await structuredScores(this.pool, tenantId, unclear) : new Set<string>();
    const experimentScores = compareExperimentScores(sessions, statistics, wanted, direction, ofWhole, structured);
    const order = worstFirst(table, worst);
    const measures = await compareMeasures(table);
    const told = { latencies, measures, warnings: keptWarnings(warnings), worst, order };
    return { tenantId, table, keys, directions, categories, experimentScores, ...told };
  }

  /** The values of labels that the request, or else the feedback configuration of a key, gives. */
  private async labelValues(
    tenantId: string,
    keys: readonly string[],
    { labelValues: asked = {} }: ComparisonRequest,
  ): Promise<Map<string, LabelValues>> {
    const said = new Map(Object.entries(asked).map(([key, values]) => [key, new Map(Object.entries(values))]));
    const configured = await configuredLabels(
      this.pool,
      tenantId,
      keys.filter((key) => !said.has(key)),
    );
    return new Map([...configured, ...said].filter(([, values]) => values.size > 0));
  }

  private async sessions(
    tenantId: string,
    { datasetId, experiments, baseline }: ComparisonRequest,
  ): Promise<SessionRow[]> {
    await requireDataset(this.pool, tenantId, datasetId);
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

  private async configs(tenantId: string): Promise<Map<string, Config>> {
    const { rows } = await this.pool.query<
      Record<'min' | 'max', number | null> & { key: string; lower: boolean | null; stamp: string }
    >(
      `select key, ${bound('min')} as min, ${bound('max')} as max,
         coalesce(beside, c ->> 'is_lower_score_better' = 'true') as lower,
         case when c ? 'categories' then stamp else '' end as stamp
       from (select key, searchable_json(config) as c, is_lower_score_better as beside, xmin::text as stamp
             from feedback_configs where tenant_id = $1) as configs
       where jsonb_typeof(c) = 'object' and (c ?| '{min,max,is_lower_score_better,categories}' or beside)
       order by key limit 10000`,
      [tenantId],
    );
    return new Map(
      rows.map(({ key, min, max, lower, stamp }) => [
        key,
        { min: min ?? undefined, max: max ?? undefined, lower: lower ?? false, stamp },
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

function directionOf(key: string, said: readonly ScoreDirections[], configs: ReadonlyMap<string, Config>): Direction {
  for (const { lower_is_better, higher_is_better } of said) {
    if (lower_is_better.includes(key)) return 'lower is better';
    if (higher_is_better.includes(key)) return 'higher is better';
  }
  return configs.get(key)?.lower ? 'lower is better' : 'higher is better';
}
