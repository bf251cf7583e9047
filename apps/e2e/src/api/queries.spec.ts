import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { Installation } from '@fairlead/service/testing';
import { Answers } from '../testing/queries/answers';
import { Reached, wanted } from '../testing/queries/reached';
import { sendThings } from '../testing/queries/send-things';
import { makeThings } from '../testing/queries/make-things';
import type { Filter, Query } from '../testing/queries/query';
import { queries } from '../testing/queries/vary';

/**
 * Filters, lists, pages, sorting, statistics, comparisons and exports are held against a naive evaluation in memory.
 * `QUERIES` is the number of generated queries, `QUERIES_SEED` another seed of the queries and their data,
 * `QUERIES_REACHED=1` prints what has been reached. A query that fails goes into a file of `failures`, which run first.
 */
const COUNT = Number(process.env.QUERIES ?? 2000);
const SEED = Number(process.env.QUERIES_SEED ?? 1);
const FAILURES = join(__dirname, '../testing/queries/failures');

let installation: Installation;
let answers: Answers;

beforeAll(async () => {
  installation = await Installation.start({ RATE_LIMIT_KEY: 'off', RATE_LIMIT_ADDRESS: 'off' });
  const things = makeThings(SEED);
  await sendThings(installation, things);
  answers = new Answers(installation, things);
});
afterAll(() => installation?.stop());

/** Forms of a filter that mean the same. */
const SAME: readonly ((filter: Filter) => Filter)[] = [
  (filter) => filter,
  (filter) => ({ call: 'and', of: [filter, { call: 'neq', field: 'name', value: 'no thing has this name' }] }),
  (filter) => ({ call: 'not', of: [{ call: 'not', of: [filter] }] }),
  (filter) => ({ call: 'or', of: [filter, { call: 'eq', field: 'name', value: 'no thing has this name' }] }),
  reversed,
];

function reversed(filter: Filter): Filter {
  return 'of' in filter ? { ...filter, of: filter.of.map(reversed).reverse() } : filter;
}

function inForm(query: Query, form: number): Query {
  const other = (filter: Filter | undefined) => filter && SAME[form]!(filter);
  if (query.of === 'view') return { ...query, filters: query.filters.map((list) => list.map((one) => other(one)!)) };
  return 'filter' in query ? { ...query, filter: other(query.filter) } : query;
}

interface Kept {
  readonly seed: number;
  readonly form?: number;
  readonly query: Query;
}

const kept = readdirSync(FAILURES)
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name, JSON.parse(readFileSync(join(FAILURES, name), 'utf8')) as Kept] as const)
  .filter(([, { seed }]) => seed === SEED);

it('Queries that once gave another answer than the model are answered as it says', async () => {
  for (const [name, { query, form = 0 }] of kept) {
    expect({ name, answer: await answers.actual(inForm(query, form)) }).toEqual({
      name,
      answer: answers.expected(query),
    });
  }
});

it(`${COUNT} generated queries are answered as the model says`, async () => {
  const reached = new Reached();
  await fc.assert(
    fc.asyncProperty(queries(answers.things), fc.nat(SAME.length - 1), async (query, form) => {
      const expected = answers.expected(query);
      expect({ query, form, answer: await answers.actual(inForm(query, form)) }).toEqual({
        query,
        form,
        answer: expected,
      });
      reached.note(query, foundBy(expected));
    }),
    { numRuns: COUNT, seed: SEED, interruptAfterTimeLimit: undefined },
  );
  if (process.env.QUERIES_REACHED) process.stdout.write(`${reached.toString()}\n`);
  expect(reached.missing(wanted(COUNT))).toEqual([]);
}, 3_600_000);

function foundBy(answer: unknown): number {
  const { count, total, lines, run_count } = answer as Readonly<Record<string, number | undefined>>;
  return Array.isArray(answer)
    ? answer.length
    : (count ?? total ?? (Array.isArray(lines) ? lines.length : lines) ?? run_count ?? 0);
}
