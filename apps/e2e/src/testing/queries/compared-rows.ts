import { Asked, given, ids, many, type Of } from './asked';
import { contains, textsOf } from './matches';
import type { Query } from './query';
import { latencyOf, mean, meansOf } from './statistics';
import type { Run, Session } from './things';

/** An example with its runs in each experiment. */
export interface Row {
  readonly example: string;
  readonly runs: readonly (readonly Run[])[];
}

/** Queries about experiments that were uploaded. */
export abstract class ComparedAnswers<Q extends Query> extends Asked<Q> {
  protected compared(query: { readonly experiments: readonly number[] }): Session[] {
    return query.experiments.map((place) => this.things.uploads[place]!);
  }
}

/** Queries about the rows of a comparison. */
export abstract class RowAnswers<Q extends Query> extends ComparedAnswers<Q> {
  protected comparisonParameters(query: Of<'comparison'> | Of<'export'>): string {
    const sessions = this.compared(query);
    const rows = many(
      'rows',
      query.rows?.map(({ place, kinds, key }) => `${sessions[place]!.id}:${kinds.join(',')}:${key}`),
    );
    const { sort } = query;
    const order =
      typeof sort !== 'object'
        ? sort
        : 'slowest' in sort
          ? `latency:${sessions[sort.slowest]!.id}`
          : `difference:${sessions[sort.place]!.id}:${sort.key}`;
    return String(
      new URLSearchParams([['experiments', ids(sessions).join()], ...rows, ...given({ q: query.text, sort: order })]),
    );
  }

  /** The rows as a set, and their ranks in the order in which they stand. */
  protected inOrder(query: Of<'comparison'> | Of<'export'>, examples: readonly string[]) {
    const rank = this.rankOf(query);
    return { examples: [...examples].sort(), ranks: examples.map((example) => rank(example)) };
  }

  protected chosenRows(query: Of<'comparison'> | Of<'export'>): Row[] {
    return rowsOf(this.compared(query)).filter((row) => {
      const { runs } = row;
      const found = (text: string) =>
        runs
          .flat()
          .some(({ inputs, outputs, error, row: number, writer }) =>
            [inputs, outputs, error, { row: number! }]
              .flatMap((json) => textsOf(json, writer))
              .some((one) => contains(one, text)),
          );
      return (
        (query.text === undefined || found(query.text)) &&
        (query.rows ?? []).every(({ place, key, kinds }) => {
          const wanted = kinds.flatMap((kind) => (kind === 'changed' ? ['better', 'worse'] : [kind]));
          return wanted.includes(kindOf(row, place, key) ?? '');
        })
      );
    });
  }

  /** The rank of a row in the order of a query: the highest comes first, null last. */
  protected rankOf(query: Of<'comparison'> | Of<'export'>): (example: string) => number | null {
    const sessions = this.compared(query);
    const rows = new Map(rowsOf(sessions).map((row) => [row.example, row]));
    const sort = query.sort ?? (sessions.length > 1 ? 'regression' : 'row');
    return (example) => {
      const { runs } = rows.get(example)!;
      if (sort === 'row') return -this.placeOf(example);
      if (sort === 'regression' || sort === 'improvement') {
        const worst = this.worstOf(rows, runs, sessions.length);
        return worst === null || sort === 'regression' ? worst : -worst;
      }
      if ('slowest' in sort) {
        const latencies = runs[sort.slowest]!.flatMap((run) => latencyOf(run) ?? []);
        return latencies.length > 0 ? mean(latencies) : null;
      }
      const [before, after] = [scoreOf(runs[0]!, sort.key), scoreOf(runs[sort.place]!, sort.key)];
      return before === undefined || after === undefined ? null : before - after;
    };
  }

  /** The largest change for the worse of a row, as a share of the range of the scores of a key; a failure is 1. */
  protected worstOf(rows: ReadonlyMap<string, Row>, runs: Row['runs'], experiments: number): number | null {
    const changes: number[] = [];
    for (let place = 1; place < experiments; place++) {
      const failed = (of: readonly Run[]) => of.some(({ error }) => error !== null);
      if (runs[0]!.length > 0 && failed(runs[place]!) && !failed(runs[0]!)) changes.push(1);
      for (const key of ['quality', 'pass']) {
        const [before, after] = [scoreOf(runs[0]!, key), scoreOf(runs[place]!, key)];
        if (before === undefined || after === undefined) continue;
        const scores = [...rows.values()].flatMap((row) =>
          row.runs
            .flat()
            .flatMap(({ feedback }) =>
              feedback.flatMap((one) => (one.key === key && one.score !== null ? [one.score] : [])),
            ),
        );
        changes.push((before - after) / (Math.max(...scores) - Math.min(...scores) || 1));
      }
    }
    return changes.length > 0 ? Math.max(...changes) : null;
  }

  /** The place of an example among those of the uploads, as they were made. */
  private placeOf(example: string): number {
    return [...new Set(this.things.uploads.flatMap(({ runs }) => runs.map((run) => run.example!)))].indexOf(example);
  }
}

export function rowsOf(sessions: readonly Session[]): Row[] {
  const examples = new Set(sessions.flatMap(({ runs }) => runs.map(({ example }) => example!)));
  return [...examples].map((example) => ({
    example,
    runs: sessions.map(({ runs }) => runs.filter((run) => run.example === example)),
  }));
}

/** The mean over the runs of the mean over the scores of each; undefined without any. */
export function scoreOf(runs: readonly Run[], key: string): number | undefined {
  const means = runs.flatMap(({ feedback }) => meansOf(feedback).get(key) ?? []);
  return means.length > 0 ? mean(means) : undefined;
}

export function kindOf({ runs }: Row, place: number, key: string): string | undefined {
  const [before, after] = [runs[0]!, runs[place]!];
  if (before.length === 0 && after.length === 0) return undefined;
  if (after.length === 0) return 'missing';
  if (before.length === 0) return 'extra';
  const [one, other] = [scoreOf(before, key), scoreOf(after, key)];
  if (one === undefined || other === undefined) {
    const failed = (of: readonly Run[], score: number | undefined) =>
      score === undefined && of.some(({ error }) => error !== null);
    return failed(before, one) || failed(after, other) ? 'errored' : 'unscored';
  }
  return other === one ? 'same' : other > one ? 'better' : 'worse';
}
