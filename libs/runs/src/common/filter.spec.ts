import { parseFilter } from './filter';
import { FilterError } from './filter.errors';
import { compileFilter } from './filter-sql';
import { runVocabulary } from '../run/runs-vocabulary';
import { Parameters } from './sql';

const compiled = (source: string) => {
  const parameters = new Parameters();
  return { sql: compileFilter(source, runVocabulary('$9'), parameters), values: parameters.values };
};

describe('the filter language', () => {
  it('reads calls, fields, strings in both quotes, numbers, constants and lists', () => {
    expect(parseFilter(String.raw`and(eq(name, "a \"b\" \u0041"), in(status, ['x']))`)).toEqual({
      kind: 'call',
      name: 'and',
      args: [
        {
          kind: 'call',
          name: 'eq',
          args: [
            { kind: 'field', name: 'name' },
            { kind: 'literal', value: 'a "b" A' },
          ],
        },
        {
          kind: 'call',
          name: 'in',
          args: [
            { kind: 'field', name: 'status' },
            { kind: 'list', values: ['x'] },
          ],
        },
      ],
    });
    expect(parseFilter('eq(a, -1.5e3)')).toMatchObject({ args: [{}, { value: -1500 }] });
    expect(parseFilter('eq(a, None)')).toMatchObject({ args: [{}, { value: null }] });
    expect(parseFilter('eq(a, TRUE)')).toMatchObject({ args: [{}, { value: true }] });
  });

  it('binds every value as a parameter', () => {
    const { sql, values } = compiled(`eq(name, "'; drop table runs; --")`);
    expect(sql).toBe('(r.name is not distinct from $1::text)');
    expect(values).toEqual([`'; drop table runs; --`]);
  });

  it('lets comparisons of one feedback speak of the same feedback', () => {
    expect(compiled('and(eq(feedback_key, "k"), gt(feedback_score, 0.5))')).toEqual({
      sql: '(exists (select 1 from feedback f where f.run_id = r.id and f.tenant_id = $9 and f.key is not distinct from $1::text and f.score > $2::float8))',
      values: ['k', 0.5],
    });
  });

  it('says that a run lacks what neq names alone', () => {
    expect(compiled('neq(feedback_key, "k")').sql).toBe(
      '(not exists (select 1 from feedback f where f.run_id = r.id and f.tenant_id = $9 and f.key is not distinct from $1::text))',
    );
  });

  it('takes latencies in seconds and with units', () => {
    expect(compiled('gt(latency, 2)').values).toEqual([2]);
    expect(compiled('gt(latency, "1500ms")').values).toEqual([1.5]);
    expect(compiled('gt(latency, "2m")').values).toEqual([120]);
  });

  it('takes times as UTC instants', () => {
    expect(compiled('gte(start_time, "2026-01-02T05:04:05.123456+02:00")').values).toEqual([
      '2026-01-02T03:04:05.123456+00:00',
    ]);
  });

  it.each([
    ['', 'it ends where'],
    ['name', 'it must be a call'],
    ['eq(name, "a"', "it ends where ')' was expected"],
    ['eq(name "a")', "',' or ')' was expected"],
    ['eq(name, "a") or true', "nothing may follow the expression, found 'or'"],
    ['eq(name, "a', "character 9 starts '\"a'"],
    ['eq(nme, "a")', "there is no field 'nme'"],
    ['eq(name, 1, 2)', 'eq() takes a field and a value'],
    ['eq("name", "x")', 'eq() takes a field and a value'],
    ['eq(constructor, "x")', "there is no field 'constructor'"],
    ['resembles(name, "a")', 'there is no call'],
    ['and()', 'and() needs an argument'],
    ['not()', 'not() needs an argument'],
    ['or(name)', "a call was expected, found 'name'"],
    ['eq(id, "a")', 'is not a uuid'],
    ['gt(start_time, "2026-02-30T00:00:00Z")', 'is not a time'],
    ['gt(latency, "soon")', 'is not a duration'],
    ['gt(feedback_score, "x")', 'is not a number'],
    ['in(status, "x")', 'takes a list'],
    ['search(1)', 'search() takes one string'],
    ['has(name, "x")', "has() is not supported for 'name'"],
    ['('.repeat(3), "was expected, found '('"],
    [`${'not('.repeat(50)}eq(name,"a")${')'.repeat(50)}`, 'nested deeper than'],
    [`eq(name, "${'x'.repeat(20_000)}")`, 'longer than'],
    [`and(${Array(100).fill('eq(name, "a")').join()})`, 'it has more than 100 calls'],
    [`or(${Array(6).fill('search("a")').join()})`, 'it calls search() more than 5 times'],
  ])('refuses %j and names what is not understood', (source, message) => {
    expect(() => compiled(source)).toThrow(FilterError);
    expect(() => compiled(source)).toThrow(message);
  });
});
