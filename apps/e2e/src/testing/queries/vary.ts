import * as fc from 'fast-check';
import { EXPERIMENT_SORTS, type Literal, type Query, ROW_KINDS, type RowSort, SESSION_SORTS } from './query';
import { allSessions, KEYS, SOURCES, SPLITS, type Things, TYPES } from './things';
import { exampleFilters, maybe, runFilters, sessionFilters, some, time, word } from './vary-filters';

/** Everything that varies about a query. */

const page = { offset: fc.oneof(fc.constant(0), fc.nat(12)), limit: fc.integer({ min: 1, max: 40 }) };
/** Pages of lists that are short enough to be read to their end. */
const ending = { ...page, toEnd: maybe(fc.constant(true), 1) };

export function queries(things: Things): fc.Arbitrary<Query> {
  const runs = [...things.projects, ...things.experiments].flatMap((session) => session.runs);
  const sessions = allSessions(things);
  const runPlace = fc.nat(runs.length - 1);
  const runFilter = runFilters(things);
  const selection = {
    sessions: maybe(fc.uniqueArray(fc.nat(sessions.length - 1), { minLength: 1, maxLength: 4 }), 4),
    ids: maybe(fc.uniqueArray(runPlace, { minLength: 1, maxLength: 9 }), 0.3),
    trace: maybe(runPlace, 0.2),
    parentRun: maybe(runPlace, 0.2),
    type: maybe(some(TYPES), 0.5),
    error: maybe(fc.boolean(), 0.5),
    isRoot: maybe(fc.boolean(), 0.5),
    from: maybe(time, 0.5),
    to: maybe(time, 0.5),
    filter: maybe(runFilter, 9),
    searchFilter: maybe(runFilter, 0.5),
    traceFilter: maybe(runFilter, 0.5),
    treeFilter: maybe(runFilter, 0.5),
  };
  // The second version of the list has no such members.
  const none = fc.constant(undefined);
  const pages = {
    order: some(['asc', 'desc'] as const),
    limit: fc.integer({ min: 1, max: 100 }),
    then: maybe(fc.integer({ min: 1, max: 100 })),
  };
  const metadata = some<Readonly<Record<string, Literal>>>([
    { model: 'small' },
    { n: 1 },
    { flag: true, model: 'large' },
    { nothing: null },
  ]);
  const operator = some(['>=', '<=', '>', '<', '='] as const);
  const bound = some([0, 0.25, 0.5, 0.6, 0.75, 1, -1]);
  const uploads = things.uploads.map((_, place) => place);
  const experiments = fc.shuffledSubarray(uploads, { minLength: 1 });
  const compared = experiments.chain((places) => {
    const place = fc.integer({ min: 1, max: Math.max(1, places.length - 1) });
    const key = some(['quality', 'pass'] as const);
    const kinds = fc.uniqueArray(some(ROW_KINDS), { minLength: 1, maxLength: 3 });
    const plain = some(['regression', 'improvement', 'row'] as const);
    const alone = places.length === 1;
    return fc.record({
      of: some(['comparison', 'export'] as const),
      format: some(['csv', 'jsonl'] as const),
      experiments: fc.constant(places),
      rows: alone
        ? fc.constant(undefined)
        : maybe(fc.array(fc.record({ place, key, kinds }), { minLength: 1, maxLength: 2 }), 2),
      text: maybe(
        word.filter((one) => one !== ''),
        1,
      ),
      sort: alone
        ? maybe(plain, 2)
        : maybe(
            fc.oneof<fc.Arbitrary<RowSort>[]>(
              plain,
              fc.record({ place, key }),
              fc.record({ slowest: fc.nat(places.length - 1) }),
            ),
            4,
          ),
      ...page,
    });
  });
  const query: fc.Arbitrary<Query>[] = [
    fc.record({ of: fc.constant('runs' as const), ...pages, ...selection }),
    fc.record({ of: fc.constant('runs v2' as const), ...pages, ...selection, parentRun: none, searchFilter: none }),
    fc.record({ of: fc.constant('stats' as const), ...selection }),
    fc.record({
      of: fc.constant('sessions' as const),
      filter: maybe(sessionFilters(things), 6),
      contains: maybe(some(['PROJECT', 'sent', 'one', '_', '%', 'nowhere']), 0.5),
      metadata: maybe(metadata, 0.5),
      free: maybe(fc.boolean(), 0.5),
      sort: some(SESSION_SORTS),
      key: some(KEYS),
      descending: fc.boolean(),
      ...ending,
    }),
    fc.record({
      of: fc.constant('examples' as const),
      filter: maybe(exampleFilters(things), 6),
      texts: maybe(
        fc.array(
          word.filter((one) => one !== ''),
          { minLength: 1, maxLength: 2 },
        ),
        0.5,
      ),
      metadata: maybe(metadata, 0.5),
      splits: maybe(fc.uniqueArray(some([...SPLITS, 'base']), { minLength: 1, maxLength: 2 }), 0.5),
      order: some(['recent', 'recently_created', 'id'] as const),
      descending: maybe(fc.boolean(), 3),
      ...ending,
    }),
    fc.record({
      of: fc.constant('feedback' as const),
      sessions: maybe(
        fc.uniqueArray(fc.nat(things.projects.length + things.experiments.length - 1), { minLength: 1, maxLength: 3 }),
        3,
      ),
      runs: maybe(fc.uniqueArray(runPlace, { minLength: 1, maxLength: 9 }), 1),
      keys: maybe(fc.uniqueArray(some([...KEYS, 'nowhere']), { minLength: 1, maxLength: 2 })),
      sources: maybe(fc.uniqueArray(some(SOURCES), { minLength: 1, maxLength: 2 })),
      hasComment: maybe(fc.boolean()),
      hasScore: maybe(fc.boolean()),
      level: maybe(some(['run', 'session'] as const)),
      from: maybe(time, 0.5),
      to: maybe(time, 0.5),
      ...ending,
    }),
    experiments.chain((places) =>
      fc.record({
        of: fc.constant('view' as const),
        experiments: fc.constant(places),
        filters: fc.array(fc.array(runFilter, { maxLength: 2 }), { maxLength: places.length }),
        sortKey: maybe(some(KEYS), 3),
        ascending: fc.boolean(),
        ...page,
      }),
    ),
    compared,
    fc.record({
      of: fc.constant('experiments' as const),
      text: maybe(some(['SENT', 'one', 'about', 'rows', 'why', '%', '_', '\\', 'nowhere']), 1),
      datasets: maybe(fc.uniqueArray(fc.nat(1), { minLength: 1, maxLength: 2 }), 1),
      metadata: maybe(metadata, 0.5),
      scores: maybe(fc.array(fc.record({ key: some(KEYS), operator, bound }), { minLength: 1, maxLength: 2 }), 1),
      sort: maybe(some(EXPERIMENT_SORTS), 6),
      descending: fc.boolean(),
      limit: fc.integer({ min: 1, max: 30 }),
      then: maybe(fc.integer({ min: 1, max: 30 })),
    }),
  ];
  const weighted = query.map((arbitrary, place) => ({ arbitrary, weight: place === 0 ? 6 : 2 }));
  return fc.oneof<typeof weighted>(...weighted);
}
