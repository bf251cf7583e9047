import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bool, check, datetime, int, list, literal, num, Problems, record, str, union, uuid } from '.';
import type { Schema } from '.';

type Answer = { value: unknown } | { errors: { type: string; loc: unknown[]; msg: string; ctx?: object }[] };

const schemas: Record<string, Schema<unknown>> = {
  str: str(),
  strc: str({ min: 2, max: 4, pattern: /^[a-z]+$/ }),
  intc: int({ ge: 1, le: 100 }),
  floatn: num({ ge: 0, le: 1 }),
  bool: bool(),
  uuid: uuid(),
  dt: datetime(),
  listc: list(int(), { min: 1, max: 2 }),
  rec: record(int()),
  lit: literal(['a', 'b', 'c']),
  u: union(num(), int(), bool()),
};

/** Answers of pydantic 2.13.4 to the same inputs, recorded; of FastAPI 0.165 to booleans beyond 2^53. */
const rows = readFileSync(join(__dirname, 'testing/pydantic-answers.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => ({ line, row: JSON.parse(line) as [string, unknown, Answer] }));

const utc = (iso: string) => {
  const fraction = iso.slice(20, 26);
  const ms = Date.parse(`${iso.slice(0, 19)}${iso.length > 26 ? iso.slice(26) : '+00:00'}`);
  return { iso: `${new Date(ms).toISOString().slice(0, 19)}${fraction === '000000' ? '' : `.${fraction}`}+00:00` };
};

/** Years 0 and 10000 after the change to UTC: pydantic keeps the offset, an Instant cannot. */
const exceptions = new Set(['0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00']);

describe('schemas and pydantic agree', () => {
  it.each(Object.keys(schemas))('on %s', (name) => {
    const own = rows.filter(({ row }) => row[0] === name && !exceptions.has(row[1] as string));
    expect(own.length).toBeGreaterThan(5);
    const answers = own.map(({ row: [, input] }) => {
      const problems = new Problems();
      const value = check(schemas[name] as Schema<unknown>, input, [], problems);
      if (problems.total === 0) return [name, input, { value }];
      return [
        name,
        input,
        { errors: problems.kept.map(({ type, loc, msg, ctx }) => ({ type, loc, msg, ...(ctx && { ctx }) })) },
      ];
    });
    const expected = own.map(({ row: [, input, answer] }) => {
      if (name !== 'dt' || 'errors' in answer) return [name, input, answer];
      const { iso } = utc((answer.value as { iso: string }).iso);
      return [name, input, { value: { iso, micros: expect.any(Number) } }];
    });
    expect(answers).toEqual(expected);
  });
});
