import { copyAtOnce, transaction } from '@fairlead/postgres';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { CopyRows, encodedFields } from './copy-rows';
import { uuidBytes } from './uuid-bytes';

describe('rows in the binary format of COPY', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase([]);
    await database.pool.query(
      'create table t (n integer, a uuid, b uuid, body text, "time" timestamptz, score double precision)',
    );
  });
  afterAll(() => database.drop());
  beforeEach(() => database.pool.query('truncate t'));

  /** The number of rows that it adds. */
  const store = (rows: CopyRows) =>
    transaction(database.pool, async (client) => {
      const count = async () => (await client.query<{ n: number }>('select count(*)::int as n from t')).rows[0]!.n;
      const before = await count();
      await copyAtOnce(client, [{ statement: 'copy t from stdin (format binary)', bytes: rows.finish() }]);
      return (await count()) - before;
    });
  const A = '01234567-89ab-4cde-8f01-23456789abcd';
  const B = 'fedcba98-7654-4321-8fed-cba987654321';
  const ids = encodedFields(uuidBytes(A), uuidBytes(B.toUpperCase()));

  it('are what was written, also at the ends of what numbers and times there are', async () => {
    const rows = new CopyRows();
    // Before 1970, before and after 2000, about 2^32 microseconds around it, and beyond 2^53.
    const times = [
      '0001-01-01T00:00:00Z',
      '1969-12-31T23:59:59.999Z',
      '2000-01-01T00:00:00Z',
      '1999-12-31T23:59:59.999Z',
    ];
    times.push(
      '2000-01-01T01:11:34.968Z',
      '1999-12-31T22:48:25.032Z',
      '2026-02-28T12:34:56.789Z',
      '9999-12-31T23:59:59.999Z',
    );
    for (const [n, time] of times.entries()) {
      rows
        .row(6)
        .integer(n - 4)
        .encoded(ids)
        .field(Buffer.from('é'.repeat(n * 20)))
        .time(Date.parse(time) * 1000)
        .double(n === 0 ? null : n / 7);
    }
    expect(await store(rows)).toBe(times.length);
    const stored = await database.pool.query('select * from t order by n');
    expect(stored.rows).toEqual(
      times.map((time, n) => {
        return { n: n - 4, a: A, b: B, body: 'é'.repeat(n * 20), time: new Date(time), score: n === 0 ? null : n / 7 };
      }),
    );
  });

  it('have decimals of any size and precision', async () => {
    const texts = ['0', '7', '10000', '12345678', '9007199254740991', '1000000000000', '0.1', '0.00012', '1234.56789'];
    texts.push('100000000.00000001', '1e-7', '1.25e-12', '1e+21', '0.0');
    const rows = new CopyRows();
    for (const text of [...texts, null]) rows.row(1).decimal(text);
    await database.pool.query('create table decimals (place serial, given numeric)');
    await transaction(database.pool, (client) =>
      copyAtOnce(client, [{ statement: 'copy decimals (given) from stdin (format binary)', bytes: rows.finish() }]),
    );
    const { rows: stored } = await database.pool.query<{ given: string | null; same: boolean }>(
      `select d.given::text as given, d.given is not distinct from t.text::numeric
         and scale(d.given) is not distinct from scale(t.text::numeric) as same
       from decimals d join unnest($1::text[]) with ordinality t (text, place) using (place) order by place`,
      [[...texts, null]],
    );
    expect(stored.filter(({ same }) => !same)).toEqual([]);
    expect(stored).toHaveLength(texts.length + 1);
  });

  it('are others after they have been cleared, in the same memory', async () => {
    const rows = new CopyRows();
    const fill = (from: number, count: number) => {
      for (let n = from; n < from + count; n++) {
        rows
          .row(6)
          .integer(n)
          .encoded(ids)
          .field(Buffer.from(`${n} `.repeat(100)))
          .time(null)
          .double(n);
      }
    };
    fill(0, 500);
    expect(await store(rows)).toBe(500);
    rows.clear();
    expect(rows.rows).toBe(0);
    fill(500, 3);
    expect(await store(rows)).toBe(3);
    const { rows: stored } = await database.pool.query(
      'select count(*)::int, sum(n)::int, min("time") as "time" from t',
    );
    expect(stored).toEqual([{ count: 503, sum: (503 * 502) / 2, time: null }]);
  });
});
