import type { Context } from '../api/context';
import type { Session, Statistics } from '../api/records';
import type { Column } from './table';
import { clean, counted, percent, score, seconds, when } from './text';

const SHOWN_SCORES = 3;

/** Repetitions of an experiment. */
export interface Repetitions {
  /** Rows that were run. */
  readonly rows: number;
  /** By keys of scores: the mean standard deviation of the runs of a row. */
  readonly spreads: ReadonlyMap<string, number>;
}

/** One experiment with its statistics, as lines. */
export function showExperiment(
  { out }: Context,
  session: Session,
  dataset: string | undefined,
  repetitions?: Repetitions,
): void {
  const { run_count: runs } = session;
  const isRepeated = repetitions && repetitions.rows < (runs ?? 0);
  const of = isRepeated ? ` of ${counted(repetitions.rows, 'row')}` : '';
  out.facts([
    ['experiment', out.paint('bold', clean(session.name))],
    ['id', session.id],
    ['dataset', dataset && clean(dataset)],
    ['dataset id', session.reference_dataset_id ?? '-'],
    ['started', when(session.start_time)],
    ['runs', runs === null ? 'being stored' : `${runs}${of}, ${percent(session.error_rate)} with errors`],
    ...(runs === null
      ? []
      : ([['latency', `p50 ${seconds(session.latency_p50)}, p99 ${seconds(session.latency_p99)}`]] as const)),
    ...(used(session) ? ([['used', used(session)]] as const) : []),
    ...Object.entries(session.feedback_stats ?? {}).map(
      ([key, statistics]) => [clean(key), summary(statistics, runs, repetitions?.spreads.get(key))] as const,
    ),
    ...Object.entries(session.session_feedback_stats ?? {}).map(
      ([key, statistics]) => [clean(key), `${shownValue(statistics)} (whole experiment)`] as const,
    ),
  ]);
}

export function showExperiments({ out }: Context, sessions: readonly Session[]): void {
  if (sessions.length === 0) return out.note('No experiments.');
  const isUsed = sessions.some((session) => used(session) !== '');
  out.table(
    [
      { title: 'NAME', whole: true },
      { title: 'STARTED', spare: true },
      { title: 'RUNS', right: true },
      { title: 'ERRORS', right: true },
      { title: 'P50', right: true },
      ...(isUsed ? usedColumns : []),
      { title: 'SCORES', flexible: true },
      { title: 'ID', id: true },
    ],
    sessions.map((session) => [
      out.cell('bold', clean(session.name)),
      when(session.start_time),
      session.run_count === null ? '…' : String(session.run_count),
      percent(session.error_rate),
      seconds(session.latency_p50),
      ...(isUsed ? [String(session.total_tokens ?? '-'), cost(session.total_cost)] : []),
      scores(session),
      session.id,
    ]),
  );
}

const usedColumns: readonly Column[] = [
  { title: 'TOKENS', right: true, spare: true },
  { title: 'COST', right: true, spare: true },
];

/** Tokens and cost of all runs; empty where none says them. */
function used({ total_tokens: tokens, total_cost: total }: Session): string {
  const parts = [...(tokens == null ? [] : [`${tokens} tokens`]), ...(total == null ? [] : [`cost ${cost(total)}`])];
  return parts.join(', ');
}

function cost(total: string | null | undefined): string {
  return score(total == null ? null : Number(total));
}

/** Values with the number of runs that they are over, of all runs; `spread` between the runs of a row. */
function summary(statistics: Statistics, runs: number | null, spread?: number): string {
  const { n, avg, scores = n, scored = scores, values } = statistics;
  const all = runs ?? n;
  const labels = shownLabels(values);
  const labelled = Object.values(values ?? {}).reduce((sum, count) => sum + count, 0);
  const several = scores === scored ? '' : `, ${scores} scores`;
  const parts = [
    ...(avg === null
      ? []
      : [`${score(avg)}${spread === undefined ? '' : ` ± ${score(spread)}`} (${scored} of ${all} scored${several})`]),
    ...(labels ? [`${labels} (${labelled} of ${all} with a value)`] : []),
  ];
  return parts.join(', ') || `- (0 of ${all} scored)`;
}

function shownValue({ avg, values }: Statistics): string {
  return (avg === null ? shownLabels(values) : score(avg)) || '-';
}

function shownLabels(values: Statistics['values']): string {
  const texts = Object.entries(values ?? {}).map(([value, count]) => `${clean(value)} ${count}`);
  return texts.slice(0, SHOWN_SCORES).join(', ') + (texts.length > SHOWN_SCORES ? ', …' : '');
}

/** Scores of the whole experiment come first: they are few, and sum up the others. */
function scores({ feedback_stats, session_feedback_stats }: Session): string {
  const all = [...Object.entries(session_feedback_stats ?? {}), ...Object.entries(feedback_stats ?? {})];
  const scored = all.filter(([, { avg }]) => avg !== null);
  const shown = scored.slice(0, SHOWN_SCORES).map(([key, { avg }]) => `${clean(key)} ${score(avg)}`);
  return shown.join(', ') + (scored.length > SHOWN_SCORES ? ', …' : '');
}
