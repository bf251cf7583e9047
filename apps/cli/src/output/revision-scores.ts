import type { Context } from '../api/context';
import type { Revision } from '../api/records';
import type { Cell } from './table';
import { clean, counted, percent, score, seconds } from './text';

interface Statistics {
  readonly runs: number;
  readonly error_rate: number | null;
  readonly latency_p50: number | null;
  readonly total_tokens: number | null;
  readonly total_cost: number | null;
  readonly scores: Readonly<Record<string, { readonly mean: number; readonly n: number }>>;
  readonly scores_left_out: number;
  readonly more: boolean;
}

type Named = Pick<Revision, 'id' | 'number'>;

/** Scores of a revision, in an answer of the API. */
export interface RevisionScores {
  readonly revision_id: string;
  readonly evaluated: Statistics & { readonly experiments: number };
  readonly live: Statistics;
}

const COLUMNS = [
  { title: 'REVISION' },
  { title: 'OF' },
  { title: 'RUNS', right: true },
  { title: 'ERRORS', right: true },
  { title: 'P50', right: true },
  { title: 'TOKENS', right: true, spare: true },
  { title: 'COST', right: true },
  { title: 'SCORES', flexible: true },
] as const;

/** Name of a revision: its number, or its id where the service tells none. */
export function revisionName({ id, number }: Named): string {
  return number === undefined ? id : `v${number}`;
}

/** A line for the experiments of each revision and one for its live runs, with tokens and cost of a run. */
export function showRevisionScores(
  { out }: Context,
  revisions: readonly Named[],
  known: ReadonlyMap<string, RevisionScores>,
): void {
  const rows = revisions.flatMap((revision) => {
    const { evaluated, live } = known.get(revision.id) ?? {};
    const lines: [string, Statistics][] = [];
    if (evaluated && evaluated.experiments > 0)
      lines.push([`${counted(evaluated.experiments, 'experiment')}${evaluated.more ? '+' : ''}`, evaluated]);
    if (live && live.runs > 0) lines.push([`live${live.more ? ', newest' : ''}`, live]);
    const name = out.cell('bold', revisionName(revision));
    if (lines.length === 0) return [[name, 'nothing yet', ...Array<string>(COLUMNS.length - 2).fill('-')]];
    return lines.map(([of, statistics], place) => [place === 0 ? name : '', of, ...cells(statistics)]);
  });
  out.table(COLUMNS, rows);
}

function cells({
  runs,
  error_rate,
  latency_p50,
  total_tokens,
  total_cost,
  scores,
  scores_left_out,
}: Statistics): Cell[] {
  const ofRun = (total: number | null) => score(total === null ? null : total / runs);
  const shown = Object.entries(scores).map(([key, { mean, n }]) => `${clean(key)} ${score(mean)} (${n})`);
  if (scores_left_out > 0) shown.push(`${scores_left_out} more`);
  const measured = [percent(error_rate), seconds(latency_p50), ofRun(total_tokens), ofRun(total_cost)];
  return [String(runs), ...measured, shown.join(', ') || '-'];
}
