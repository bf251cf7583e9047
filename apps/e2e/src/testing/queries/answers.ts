import type { Installation } from '@fairlead/service/testing';
import {
  contains,
  exampleSubject,
  includes,
  latenciesOf,
  latencyOf,
  matches,
  mean,
  meansOf,
  runSubject,
  sessionSubject,
  shownMetadata,
  sortedBy,
  textsOf,
  usedBy,
} from './model';
import { allSessions, type Feedback, iso, micros, type Run, type Session, type Things } from './things';
import { type Filter, type Literal, type Query, written } from './vary';

/** A query as the service answers it over HTTP, and as the model does: both in the same form. */

type Of<K extends Query['of']> = Extract<Query, { of: K }>;
type Answered = ReturnType<typeof JSON.parse>;

/** Pages of a list that are followed before the rest is taken as one. */
const MOST_PAGES = 3;

export class Answers {
  private readonly sessions: readonly Session[];
  private readonly runs: readonly Run[];
  /** Runs that queries name by their places: their ids are the same in every run of the test. */
  private readonly named: readonly Run[];
  private readonly byId: ReadonlyMap<string, Run>;

  constructor(
    private readonly installation: Installation,
    readonly things: Things,
  ) {
    this.sessions = allSessions(things);
    this.runs = this.sessions.flatMap(({ runs }) => runs);
    this.named = [...things.projects, ...things.experiments].flatMap(({ runs }) => runs);
    this.byId = new Map(this.runs.map((run) => [run.id, run]));
  }

  /** The answer of the service. @throws Error when it is no success, or its pages do not fit together */
  async actual(query: Query): Promise<unknown> {
    switch (query.of) {
      case 'runs':
        return this.runPages(query);
      case 'stats':
        return statsOf(await this.ask('POST', '/api/v1/runs/stats', this.selectionBody(query)));
      case 'sessions':
        return ids(await this.ask('GET', `/api/v1/sessions?${sessionParameters(query)}`));
      case 'examples': {
        const parameters = exampleParameters(this.things.dataset, query);
        const page = `offset=${query.offset}&limit=${query.limit}&order=${query.order}`;
        const descending = query.descending === undefined ? '' : `&descending=${query.descending}`;
        const listed = await this.ask('GET', `/api/v1/examples?${parameters}&${page}${descending}`);
        return { ids: ids(listed), count: await this.ask('GET', `/api/v1/examples/count?${parameters}`) };
      }
      case 'feedback':
        return ids(await this.ask('GET', `/api/v1/feedback?${this.feedbackParameters(query)}`));
      case 'view':
        return this.view(query);
      case 'comparison':
        return this.comparison(query);
      case 'export':
        return this.exported(query);
    }
  }

  /** The answer of the model. */
  expected(query: Query): unknown {
    switch (query.of) {
      case 'runs': {
        const descending = query.order === 'desc';
        const keys = [[({ start }: Run) => start, descending] as const, [({ id }: Run) => id, descending] as const];
        return sortedBy(this.selected(query), ...keys).map(({ id }) => id);
      }
      case 'stats':
        return this.expectedStats(this.selected(query));
      case 'sessions':
        return slice(query, this.expectedSessions(query)).map(({ id }) => id);
      case 'examples': {
        const found = this.expectedExamples(query);
        return { ids: slice(query, found), count: found.length };
      }
      case 'feedback':
        return slice(query, this.expectedFeedback(query));
      case 'view':
        return slice(query, this.expectedView(query));
      case 'comparison':
        return this.expectedComparison(query);
      case 'export':
        return this.expectedExport(query);
    }
  }

  private ask(method: string, path: string, body?: object): Promise<Answered> {
    return this.installation.ask(method, path, body);
  }

  /** The ids of all pages; `limit` is the size of the first ones. Both directions of the cursors are followed. */
  private async runPages(query: Of<'runs'>): Promise<string[]> {
    const body = { ...this.selectionBody(query), order: query.order, select: ['id'] };
    const found: string[] = [];
    let limit = query.limit;
    for (let pages = 0, cursor: string | undefined; ; pages++) {
      if (pages === MOST_PAGES) limit = 100;
      const { runs, cursors } = await this.ask('POST', '/api/v1/runs/query', { ...body, limit, cursor });
      if (runs.length > limit) throw new Error(`A page of ${limit} has ${runs.length} runs.`);
      if (cursors.prev && runs.length > 0 && pages < 2) {
        const back = await this.ask('POST', '/api/v1/runs/query', { ...body, limit, cursor: cursors.prev });
        const expected = found.slice(-limit);
        if (ids(back.runs).join() !== expected.join()) {
          throw new Error(`The page before is ${ids(back.runs).join()}, not ${expected.join()}.`);
        }
      }
      found.push(...ids(runs));
      if (!cursors.next) return found;
      cursor = cursors.next as string;
    }
  }

  private selectionBody(query: Of<'runs'> | Of<'stats'>): object {
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

  private selected(query: Of<'runs'> | Of<'stats'>): Run[] {
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

  private expectedStats(runs: readonly Run[]): unknown {
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

  private expectedSessions(query: Of<'sessions'>): Session[] {
    const found = this.sessions.filter(
      (session) =>
        (query.filter === undefined || matches(query.filter, sessionSubject(session))) &&
        (query.contains === undefined || contains(session.name, query.contains)) &&
        (query.metadata === undefined || includes(session.metadata, query.metadata)) &&
        (query.free === undefined || (session.dataset === null) === query.free),
    );
    const fieldOf = (name: string) => (session: Session) =>
      sessionSubject(session).fields[name] as string | number | null;
    const keyOf = {
      ...{ name: fieldOf('name'), start_time: fieldOf('start_time'), runs_count: fieldOf('run_count') },
      ...{ latency_p50: fieldOf('latency_p50'), error_rate: fieldOf('error_rate') },
      feedback: ({ runs }: Session) => meansOf(runs.flatMap(({ feedback }) => feedback)).get(query.key) ?? null,
    }[query.sort];
    return sortedBy(found, [keyOf, query.descending], [({ id }) => id, false]);
  }

  private expectedExamples(query: Of<'examples'>): string[] {
    const found = this.things.examples.filter((example) => {
      const { inputs, outputs, splits, writer } = example;
      const texts = [inputs, outputs].flatMap((json) => textsOf(json, writer));
      return (
        (query.filter === undefined || matches(query.filter, exampleSubject(example))) &&
        (query.texts ?? []).every((text) => texts.some((one) => contains(one, text))) &&
        (query.metadata === undefined || includes(shownMetadata(example), query.metadata)) &&
        (query.splits === undefined ||
          query.splits.some((split) => (splits.length === 0 ? split === 'base' : splits.includes(split))))
      );
    });
    if (query.order === 'id') return sortedBy(found, [({ id }) => id, query.descending ?? false]).map(({ id }) => id);
    const descending = query.descending ?? true;
    return sortedBy(found, [({ created }) => created, descending]).map(({ id }) => id);
  }

  private feedbackParameters(query: Of<'feedback'>): string {
    const sessions = many('session', ids(this.feedbackSessions(query)));
    const runs = many(
      'run',
      query.runs?.map((place) => this.named[place]!.id),
    );
    const keys = many('key', query.keys);
    const sources = many('source', query.sources);
    const { hasComment, hasScore, level, from, to, offset, limit } = query;
    const more = {
      has_comment: hasComment,
      has_score: hasScore,
      level,
      min_created_at: from,
      max_created_at: to,
      offset,
      limit,
    };
    return String(new URLSearchParams([...sessions, ...runs, ...keys, ...sources, ...given(more)]));
  }

  /** Feedback of uploads has ids that the service makes, so that it is not asked for. */
  private feedbackSessions({ sessions }: Of<'feedback'>): Session[] {
    const own = [...this.things.projects, ...this.things.experiments];
    return sessions?.map((place) => own[place]!) ?? own;
  }

  private expectedFeedback(query: Of<'feedback'>): string[] {
    const wanted = query.runs?.map((place) => this.named[place]!);
    const ofRuns = this.feedbackSessions(query).flatMap(({ runs }) =>
      runs.filter((run) => wanted === undefined || wanted.includes(run)).flatMap(({ feedback }) => feedback),
    );
    const ofSessions = wanted ? [] : this.feedbackSessions(query).flatMap(({ feedback }) => feedback);
    const all = [...(query.level === 'session' ? [] : ofRuns), ...(query.level === 'run' ? [] : ofSessions)];
    const found = all.filter(
      (one) =>
        (query.keys?.includes(one.key) ?? true) &&
        (query.sources?.some((source) => source === one.source) ?? true) &&
        (query.hasComment === undefined || (one.comment !== null) === query.hasComment) &&
        (query.hasScore === undefined || (one.score !== null) === query.hasScore) &&
        (query.from === undefined || one.created >= query.from) &&
        (query.to === undefined || one.created <= query.to),
    );
    return sortedBy(found, [({ created }) => created, true], [({ id }) => id, true]).map(({ id }) => id);
  }

  private compared(query: { readonly experiments: readonly number[] }): Session[] {
    return query.experiments.map((place) => this.things.uploads[place]!);
  }

  private async view(query: Of<'view'>): Promise<unknown> {
    const sessions = this.compared(query);
    const { offset, limit, sortKey, ascending } = query;
    const filters = query.filters.map((list, place) => [sessions[place]!.id, list.map(written)]);
    const rows = await this.ask('POST', `/api/v1/datasets/${sessions[0]!.dataset}/runs`, {
      ...{ session_ids: sessions.map(({ id }) => id), filters: Object.fromEntries(filters), offset, limit },
      ...(sortKey && { sort_params: { sort_by: `feedback.${sortKey}`, sort_order: ascending ? 'ASC' : 'DESC' } }),
    });
    return (rows as { id: string; runs: { id: string }[] }[]).map(({ id, runs }) => ({ id, runs: ids(runs).sort() }));
  }

  private expectedView(query: Of<'view'>): unknown[] {
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
    return order.map(({ example, runs }) => ({ id: example, runs: ids(runs.flat()).sort() }));
  }

  private comparisonParameters(query: Of<'comparison'> | Of<'export'>): string {
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

  /**
   * All rows of a comparison, and one page of them. Rows of equal rank may come in any order, so that the ranks are
   * compared: those that the model gives the rows in the order of the answer, against the same sorted.
   */
  private async comparison(query: Of<'comparison'>): Promise<unknown> {
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

  /** The rows as a set, and their ranks in the order in which they stand. */
  private inOrder(query: Of<'comparison'> | Of<'export'>, examples: readonly string[]) {
    const rank = this.rankOf(query);
    return { examples: [...examples].sort(), ranks: examples.map((example) => rank(example)) };
  }

  private expectedComparison(query: Of<'comparison'>): unknown {
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

  private chosenRows(query: Of<'comparison'> | Of<'export'>): Row[] {
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
  private rankOf(query: Of<'comparison'> | Of<'export'>): (example: string) => number | null {
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
  private worstOf(rows: ReadonlyMap<string, Row>, runs: Row['runs'], experiments: number): number | null {
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

  private async exported(query: Of<'export'>): Promise<unknown> {
    const sessions = this.compared(query);
    const path = `/api/v1/datasets/${sessions[0]!.dataset}/compare/export?${this.comparisonParameters(query)}&format=jsonl`;
    const response = await this.installation.fetch('GET', path);
    if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${await response.text()}`);
    const lines = (await response.text())
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    const examples = [...new Set(lines.map(({ example_id }) => example_id as string))];
    const runs = lines.flatMap((line) => line.experiments.flatMap((one: Answered) => one.run_id ?? []) as string[]);
    return { ...this.inOrder(query, examples), lines: lines.length, runs: runs.sort() };
  }

  private expectedExport(query: Of<'export'>): unknown {
    const rows = this.chosenRows(query);
    const rank = this.rankOf(query);
    return {
      examples: rows.map(({ example }) => example).sort(),
      ranks: sortedBy(
        rows.map(({ example }) => rank(example)),
        [(one) => one, true],
      ),
      lines: rows.reduce((sum, { runs }) => sum + Math.max(...runs.map(({ length }) => length)), 0),
      runs: rows.flatMap(({ runs }) => ids(runs.flat())).sort(),
    };
  }
}

const KINDS = ['better', 'worse', 'same', 'missing', 'extra', 'errored', 'unscored'] as const;

/** An example with its runs in each experiment. */
interface Row {
  readonly example: string;
  readonly runs: readonly (readonly Run[])[];
}

function rowsOf(sessions: readonly Session[]): Row[] {
  const examples = new Set(sessions.flatMap(({ runs }) => runs.map(({ example }) => example!)));
  return [...examples].map((example) => ({
    example,
    runs: sessions.map(({ runs }) => runs.filter((run) => run.example === example)),
  }));
}

/** The mean over the runs of the mean over the scores of each; undefined without any. */
function scoreOf(runs: readonly Run[], key: string): number | undefined {
  const means = runs.flatMap(({ feedback }) => meansOf(feedback).get(key) ?? []);
  return means.length > 0 ? mean(means) : undefined;
}

function kindOf({ runs }: Row, place: number, key: string): string | undefined {
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

/** Numbers as far as doubles that were added in another order agree. */
function rounded<T extends Readonly<Record<string, number | null>>>(numbers: T): T {
  const entries = Object.entries(numbers).map(([name, value]) => [
    name,
    value === null ? null : Number(value.toPrecision(9)),
  ]);
  return Object.fromEntries(entries) as T;
}

function sessionParameters({
  filter,
  contains: part,
  metadata,
  free,
  sort,
  key,
  descending,
  offset,
  limit,
}: Of<'sessions'>) {
  return String(
    new URLSearchParams(
      given({
        ...{ filter: filter && written(filter), name_contains: part, metadata: metadata && JSON.stringify(metadata) },
        ...{ reference_free: free, sort_by: sort, sort_by_desc: descending, offset, limit },
        ...(sort === 'feedback' && { sort_by_feedback_key: key }),
      }),
    ),
  );
}

function exampleParameters(dataset: string, { filter, texts, metadata, splits }: Of<'examples'>) {
  const plain = given({ dataset, filter: filter && written(filter), metadata: metadata && JSON.stringify(metadata) });
  return String(new URLSearchParams([...plain, ...many('full_text_contains', texts), ...many('splits', splits)]));
}

function given(parameters: Readonly<Record<string, Literal | undefined>>): [string, string][] {
  return Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
}

/** A parameter that is repeated. */
function many(name: string, values: readonly string[] = []): [string, string][] {
  return values.map((value) => [name, value]);
}

function ids(things: readonly { readonly id: string }[]): string[] {
  return things.map(({ id }) => id);
}

function slice<T>({ offset, limit }: { readonly offset: number; readonly limit: number }, of: readonly T[]): T[] {
  return of.slice(offset, offset + limit);
}
