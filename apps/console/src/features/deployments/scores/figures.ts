import type { Schemas } from '../../../api/client';
import { duration, figure, middle, percent, whole } from '../../../ui/format';

export type Scores = Schemas['RevisionScores'];
/** Runs of experiments together, or live runs. */
type Statistics = Omit<Scores['live'], 'first_start' | 'last_start' | 'project_id'>;

/** Scores that a cell of a list names. */
const MOST_NAMED = 2;
const MOST_NAME = 16;

/** Experiments of a revision, and its live runs, as far as there are any. */
export function sourcesOf({ evaluated, live }: Scores) {
  return [
    ...(evaluated.experiments > 0 ? [{ kind: 'experiments' as const, of: evaluated as Statistics }] : []),
    ...(live.runs > 0 ? [{ kind: 'live' as const, of: live as Statistics }] : []),
  ];
}

export type Source = ReturnType<typeof sourcesOf>[number];

/**
 * Sources of what a list tells of a revision: scores are those of its experiments, or of its live runs where the
 * experiments have none; the rest is of its live runs, or of its experiments where there are no live ones.
 */
export function toldOf(scores: Scores): { readonly scored?: Source; readonly used?: Source } {
  const sources = sourcesOf(scores);
  return { scored: sources.find(({ of }) => Object.keys(of.scores).length > 0) ?? sources[0], used: sources.at(-1) };
}

/** Names the experiments or the live runs of a source. */
export function sourceName({ kind, of }: Source, experiments: number): string {
  const count = kind === 'live' ? of.runs : experiments;
  return `${whole(count)}${of.more ? '+' : ''} ${kind === 'live' ? 'live run' : 'experiment'}${count === 1 && !of.more ? '' : 's'}`;
}

/** The scores with the most values, and how many others there are. */
export function scoreTexts({ scores, scores_left_out: leftOut }: Statistics) {
  const all = Object.entries(scores).map(([key, { mean }]) => `${middle(key, MOST_NAME)} ${figure(mean)}`);
  return { named: all.slice(0, MOST_NAMED), all, others: Math.max(0, all.length - MOST_NAMED) + leftOut };
}

/** Latency, errors, tokens and cost of a run; a dash for what is not known. */
export function usageTexts({ runs, error_rate, latency_p50, total_tokens, total_cost }: Statistics) {
  const ofRun = (total: number | null) => figure(total === null || runs === 0 ? null : total / runs);
  return {
    latency: duration(latency_p50),
    errors: percent(error_rate),
    tokens: ofRun(total_tokens),
    cost: ofRun(total_cost),
  };
}

/** Feedback keys of several revisions, those first that most of them have. */
export function keysOf(all: readonly Scores[]): string[] {
  const counts = new Map<string, number>();
  for (const key of all.flatMap((scores) => sourcesOf(scores).flatMap(({ of }) => Object.keys(of.scores)))) {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).map(([key]) => key);
}

/** The newest experiments of each revision on the first dataset on which all of them have one; undefined without it. */
export function comparable(all: readonly Scores[]) {
  const [first, ...others] = all.map(({ newest }) => newest.filter(({ persisted }) => persisted));
  for (const one of first ?? []) {
    const found = others.map((experiments) => experiments.find(({ dataset_id: id }) => id === one.dataset_id));
    if (others.length > 0 && found.every((other) => other !== undefined)) {
      return { dataset: one.dataset_id, experiments: [one, ...found].map(({ id }) => id) };
    }
  }
  return undefined;
}

/** Datasets of the newest experiments of the revisions, and the feedback keys of those on one of them by frequency. */
export function evaluatedOn(all: readonly Scores[]) {
  const newest = all
    .flatMap((scores) => scores.newest)
    .sort((a, b) => Date.parse(b.start_time) - Date.parse(a.start_time));
  const keysOn = (dataset: string) => {
    const counts = new Map<string, number>();
    for (const { dataset_id: id, scores } of newest) {
      if (id !== dataset) continue;
      for (const key of Object.keys(scores)) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]).map(([key]) => key);
  };
  return { datasets: [...new Set(newest.map(({ dataset_id: id }) => id))], keysOn };
}
