import { type Answered, ids, type Of, rounded, slice } from './asked';
import { ComparedAnswers, kindOf, RowAnswers, rowsOf, scoreOf } from './compared-rows';
import { matches } from './matches';
import { written } from './query';
import { mean, sortedBy } from './statistics';
import { runSubject } from './subjects';

const KINDS = ['better', 'worse', 'same', 'missing', 'extra', 'errored', 'unscored'] as const;

export class ViewAnswers extends ComparedAnswers<Of<'view'>> {
  async actual(query: Of<'view'>): Promise<unknown> {
    const sessions = this.compared(query);
    const { offset, limit, sortKey, ascending } = query;
    const filters = query.filters.map((list, place) => [sessions[place]!.id, list.map(written)]);
    const rows = await this.ask('POST', `/api/v1/datasets/${sessions[0]!.dataset}/runs`, {
      ...{ session_ids: sessions.map(({ id }) => id), filters: Object.fromEntries(filters), offset, limit },
      ...(sortKey && { sort_params: { sort_by: `feedback.${sortKey}`, sort_order: ascending ? 'ASC' : 'DESC' } }),
    });
    return (rows as { id: string; runs: { id: string }[] }[]).map(({ id, runs }) => ({ id, runs: ids(runs).sort() }));
  }

  expected(query: Of<'view'>): unknown[] {
    const sessions = this.compared(query);
    const [first] = sessions;
    const rows = rowsOf(sessions).filter(({ runs }) =>
      query.filters.every(
        (list, place) =>
          list.length === 0 || runs[place]!.some((run) => list.every((filter) => matches(filter, runSubject(run)))),
      ),
    );
    const order = sortedBy(
      rows,
      [
        ({ runs }) => (query.sortKey === undefined ? null : (scoreOf(runs[0]!, query.sortKey) ?? null)),
        !query.ascending,
      ],
      [
        ({ runs }) => (runs[0]!.length > 0 ? Math.min(...runs[0]!.map((run) => first!.runs.indexOf(run))) : null),
        false,
      ],
      [
        ({ runs }) =>
          runs
            .flat()
            .map(({ start }) => start)
            .sort()[0]!,
        false,
      ],
      [({ example }) => example, false],
    );
    return slice(query, order).map(({ example, runs }) => ({ id: example, runs: ids(runs.flat()).sort() }));
  }
}

export class ComparisonAnswers extends RowAnswers<Of<'comparison'>> {
  /**
   * All rows of a comparison, and one page of them. Rows of equal rank may come in any order, so that the ranks are
   * compared: those that the model gives the rows in the order of the answer, against the same sorted.
   */
  async actual(query: Of<'comparison'>): Promise<unknown> {
    const sessions = this.compared(query);
    const path = `/api/v1/datasets/${sessions[0]!.dataset}/compare?${this.comparisonParameters(query)}`;
    const whole = await this.ask('GET', `${path}&limit=100`);
    const part = await this.ask('GET', `${path}&offset=${query.offset}&limit=${query.limit}`);
    const examples = (page: Answered) => page.rows.map((row: Answered) => row.example_id) as string[];
    const all = examples(whole.page);
    if (examples(part.page).join() !== slice(query, all).join()) throw new Error('A page is not a part of the whole.');
    const keys = (whole.keys as Answered[]).filter(({ key }) => key === 'quality' || key === 'pass');
    return {
      total: part.page.total,
      ...this.inOrder(query, all),
      keys: Object.fromEntries(
        keys.map(({ key, results }) => [
          key,
          results.map(({ mean: ofRows, scored, difference, counts }: Answered) => ({
            ...rounded({ mean: ofRows, difference: difference ?? null }),
            ...{ scored, counts: counts ?? null },
          })),
        ]),
      ),
      scores: whole.page.rows
        .map((row: Answered) => ({
          example: row.example_id,
          cells: row.cells.map(
            (cell: Answered) =>
              cell && {
                runs: cell.runs,
                scores: Object.fromEntries(
                  (whole.keys as Answered[]).flatMap(({ key }, place) =>
                    key === 'quality' || key === 'pass' ? [[key, cell.scores[place]]] : [],
                  ),
                ),
              },
          ),
        }))
        .sort((a: Answered, b: Answered) => (a.example < b.example ? -1 : 1)),
    };
  }

  expected(query: Of<'comparison'>): unknown {
    const sessions = this.compared(query);
    const rows = this.chosenRows(query);
    const ranks = rows.map(({ example }) => this.rankOf(query)(example));
    const all = rowsOf(sessions);
    const keys = (['pass', 'quality'] as const).filter((key) =>
      all.some(({ runs }) => runs.some((one) => scoreOf(one, key) !== undefined)),
    );
    return {
      total: rows.length,
      examples: rows.map(({ example }) => example).sort(),
      ranks: sortedBy(ranks, [(rank) => rank, true]),
      keys: Object.fromEntries(
        keys.map((key) => [
          key,
          sessions.map((_, place) => {
            const scores = all.flatMap(({ runs }) => scoreOf(runs[place]!, key) ?? []);
            const kinds = all.map((row) => kindOf(row, place, key));
            const differences = all.flatMap(({ runs }, row) =>
              ['better', 'worse', 'same'].includes(kinds[row]!)
                ? [scoreOf(runs[place]!, key)! - scoreOf(runs[0]!, key)!]
                : [],
            );
            const count = (kind: string) => kinds.filter((one) => one === kind).length;
            const counts = {
              rows: kinds.filter((one) => one !== undefined).length,
              ...Object.fromEntries(KINDS.map((kind) => [kind, count(kind)])),
            };
            const difference = place > 0 && differences.length > 0 ? mean(differences) : null;
            return {
              ...rounded({ mean: scores.length > 0 ? mean(scores) : null, difference }),
              ...{ scored: scores.length, counts: place === 0 ? null : counts },
            };
          }),
        ]),
      ),
      scores: rows
        .map(({ example, runs }) => ({
          example,
          cells: runs.map((own) =>
            own.length === 0
              ? null
              : { runs: own.length, scores: Object.fromEntries(keys.map((key) => [key, scoreOf(own, key) ?? null])) },
          ),
        }))
        .sort((a, b) => (a.example < b.example ? -1 : 1)),
    };
  }
}
