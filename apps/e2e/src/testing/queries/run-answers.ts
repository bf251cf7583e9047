import { Asked, type Answered, ids, type Of, rounded } from './asked';
import { matches } from './matches';
import { type Filter, type Query, written } from './query';
import { latenciesOf, meansOf, sortedBy } from './statistics';
import { runSubject, usedBy } from './subjects';
import { type Feedback, iso, micros, type Run } from './things';

/** Pages of a list that are followed before the rest is taken as one. */
const MOST_PAGES = 3;

abstract class SelectedRuns<Q extends Query> extends Asked<Q> {
  protected selectionBody(query: Of<'runs'> | Of<'runs v2'> | Of<'stats'>) {
    const idsOf = <T extends { id: string }>(of: readonly T[], places?: readonly number[]) =>
      places?.map((place) => of[place]!.id);
    return {
      session: idsOf(this.sessions, query.sessions),
      id: idsOf(this.named, query.ids),
      trace: query.trace === undefined ? undefined : this.named[query.trace]!.id,
      parent_run: query.parentRun === undefined ? undefined : this.named[query.parentRun]!.id,
      ...{
        run_type: query.type,
        error: query.error,
        is_root: query.isRoot,
        start_time: query.from,
        end_time: query.to,
      },
      filter: query.filter && written(query.filter),
      search_filter: query.searchFilter && written(query.searchFilter),
      trace_filter: query.traceFilter && written(query.traceFilter),
      tree_filter: query.treeFilter && written(query.treeFilter),
    };
  }

  protected selected(query: Of<'runs'> | Of<'runs v2'> | Of<'stats'>): Run[] {
    const of = <T>(wanted: readonly T[] | undefined, value: T) => wanted === undefined || wanted.includes(value);
    const meets = (filter: Filter | undefined, run: Run) => filter === undefined || matches(filter, runSubject(run));
    const sessions = query.sessions?.map((place) => this.sessions[place]!.id);
    const wanted = query.ids?.map((place) => this.named[place]!.id);
    const trace = query.trace === undefined ? undefined : this.named[query.trace]!.id;
    const parent = query.parentRun === undefined ? undefined : this.named[query.parentRun]!.id;
    const rootOf = (run: Run) => run.trace ?? run.id;
    return this.runs.filter(
      (run) =>
        of(sessions, run.session) &&
        of(wanted, run.id) &&
        (trace === undefined || run.id === trace || run.trace === trace) &&
        (parent === undefined || run.parent === parent) &&
        (query.type === undefined || run.type === query.type) &&
        (query.error === undefined || (run.error !== null) === query.error) &&
        (query.isRoot === undefined || (run.parent === null) === query.isRoot) &&
        (query.from === undefined || run.start >= query.from) &&
        (query.to === undefined || run.start <= query.to) &&
        meets(query.filter, run) &&
        meets(query.searchFilter, run) &&
        (query.traceFilter === undefined || meets(query.traceFilter, this.byId.get(rootOf(run))!)) &&
        (query.treeFilter === undefined ||
          this.runs.some((other) => rootOf(other) === rootOf(run) && meets(query.treeFilter, other))),
    );
  }
}

/** Runs in the order of the model, which both versions of the list have. */
abstract class ListedRuns<Q extends Of<'runs'> | Of<'runs v2'>> extends SelectedRuns<Q> {
  expected(query: Q): string[] {
    const descending = query.order === 'desc';
    const keys = [[({ start }: Run) => start, descending] as const, [({ id }: Run) => id, descending] as const];
    return sortedBy(this.selected(query), ...keys).map(({ id }) => id);
  }

  /**
   * The ids of all pages. `limit` is the size of the first ones, every other has that of `then`. Pages before are read
   * where they have cursors.
   */
  protected async paged({ limit: first, then = first }: Q, read: ReadPage): Promise<string[]> {
    const found: string[] = [];
    for (let pages = 0, cursor: string | undefined; ; pages++) {
      const limit = pages >= MOST_PAGES ? 100 : pages % 2 === 0 ? first : then;
      const { page, next, previous } = await read(limit, cursor);
      if (page.length > limit) throw new Error(`A page of ${limit} has ${page.length} runs.`);
      if (previous && page.length > 0 && pages < 2) {
        const back = await read(limit, previous);
        const expected = found.slice(-limit);
        if (back.page.join() !== expected.join()) {
          throw new Error(`The page before is ${back.page.join()}, not ${expected.join()}.`);
        }
      }
      found.push(...page);
      if (!next) return found;
      cursor = next;
    }
  }
}

type ReadPage = (
  limit: number,
  cursor: string | undefined,
) => Promise<{ readonly page: string[]; readonly next?: string; readonly previous?: string }>;

export class RunAnswers extends ListedRuns<Of<'runs'>> {
  async actual(query: Of<'runs'>): Promise<string[]> {
    const body = { ...this.selectionBody(query), order: query.order, select: ['id'] };
    return this.paged(query, async (limit, cursor) => {
      const { runs, cursors } = await this.ask('POST', '/api/v1/runs/query', { ...body, limit, cursor });
      return { page: ids(runs), next: cursors.next, previous: cursors.prev };
    });
  }
}

export class RunV2Answers extends ListedRuns<Of<'runs v2'>> {
  async actual(query: Of<'runs v2'>): Promise<string[]> {
    const { session, id, trace, run_type, error, is_root, start_time, end_time, ...filters } =
      this.selectionBody(query);
    const body = {
      ...{ project_ids: session, ids: id, trace_id: trace, run_type, has_error: error, is_root, ...filters },
      ...{ min_start_time: start_time, max_start_time: end_time, sort_order: query.order.toUpperCase() },
    };
    return this.paged(query, async (limit, cursor) => {
      const { items, next_cursor } = await this.ask('POST', '/api/v2/runs/query', {
        ...body,
        page_size: limit,
        cursor,
      });
      return { page: ids(items), next: next_cursor };
    });
  }
}

export class StatsAnswers extends SelectedRuns<Of<'stats'>> {
  async actual(query: Of<'stats'>): Promise<unknown> {
    return statsOf(await this.ask('POST', '/api/v1/runs/stats', this.selectionBody(query)));
  }

  expected(query: Of<'stats'>): unknown {
    const runs = this.selected(query);
    const found = new Set(runs);
    const roots = new Set(runs.filter(({ parent }) => parent === null).map(({ id }) => id));
    const within = (run: Run) => found.has(run) || (run.trace !== null && roots.has(run.trace));
    // What a run says it used counts once: not where a run above it says so for both.
    const counted = this.runs.filter(
      (run) =>
        within(run) &&
        usedBy(run) !== undefined &&
        ![run.parent, run.trace].some((id) => {
          const above = id === null ? undefined : this.byId.get(id);
          return above !== undefined && above !== run && within(above) && usedBy(above) !== undefined;
        }),
    );
    const sum = (of: (used: NonNullable<ReturnType<typeof usedBy>>) => number | null) => {
      const amounts = counted.flatMap((run) => of(usedBy(run)!) ?? []);
      return amounts.length > 0 ? amounts.reduce((all, one) => all + one, 0) : null;
    };
    const starts = runs.map(({ start }) => start).sort();
    return {
      run_count: runs.length,
      ...rounded(latenciesOf(runs)),
      last_run_start_time: starts.at(-1) ?? null,
      total_tokens: sum(({ total }) => total),
      prompt_tokens: sum(({ input }) => input),
      completion_tokens: sum(({ output }) => output),
      total_cost: sum(({ cost }) => cost),
      feedback_stats: feedbackStatistics(runs.flatMap(({ feedback }) => feedback)),
    };
  }
}

function feedbackStatistics(given: readonly Feedback[]): unknown {
  return Object.fromEntries(
    [...meansOf(given)].map(([key, avg]) => {
      const own = given.filter((one) => one.key === key);
      const scores = own.flatMap(({ score }) => score ?? []);
      const values: Record<string, number> = {};
      for (const { value } of own) if (value !== null) values[String(value)] = (values[String(value)] ?? 0) + 1;
      const of = (pick: (...numbers: number[]) => number) => (scores.length > 0 ? pick(...scores) : null);
      return [key, { n: own.length, ...rounded({ avg }), min: of(Math.min), max: of(Math.max), values }];
    }),
  );
}

function statsOf(answer: Answered): unknown {
  const { run_count, latency_p50, latency_p99, latency_avg, error_rate, last_run_start_time, feedback_stats } = answer;
  return {
    run_count,
    ...rounded({ latency_p50, latency_p99, latency_avg, error_rate }),
    last_run_start_time: last_run_start_time && iso(micros(last_run_start_time)),
    ...{
      total_tokens: answer.total_tokens,
      prompt_tokens: answer.prompt_tokens,
      completion_tokens: answer.completion_tokens,
    },
    total_cost: answer.total_cost === null ? null : Number(answer.total_cost),
    feedback_stats: Object.fromEntries(
      Object.entries(feedback_stats as Record<string, Answered>).map(([key, { n, avg, min, max, values }]) => [
        key,
        { n, ...rounded({ avg }), min, max, values },
      ]),
    ),
  };
}
