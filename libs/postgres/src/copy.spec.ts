import { copyIn, copyLine } from './copy';
import { transaction } from './database';
import { testDatabase, type TestDatabase } from './testing';

describe('COPY', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await testDatabase([]);
    await database.pool.query('create table t (id int primary key, body text, raw bytea, flag boolean)');
  });
  afterAll(() => database.drop());
  beforeEach(() => database.pool.query('truncate t'));

  it('gives every hostile text back unchanged', async () => {
    const bodies = [
      'tab\there',
      'back\\slash \\N \\. \\x41',
      'new\nline',
      'carriage\r\nreturn',
      '\\.',
      '',
      null,
      '"quoted", \'quoted\'',
      'snow ☃ and 𝒳 and é',
      '\u0001\u001f\u007f\u2028',
      'x'.repeat(200_000),
    ];
    const lines = bodies.map((body, id) => copyLine([id, body, null, null]));
    const stored = await transaction(database.pool, (client) => copyIn(client, 'copy t from stdin', lines));
    expect(stored).toBe(bodies.length);
    const { rows } = await database.pool.query<{ body: string }>('select body from t order by id');
    expect(rows.map((row) => row.body)).toEqual(bodies);
  });

  it('stores bytes and booleans', async () => {
    const raw = Buffer.from([0, 1, 9, 10, 13, 92, 255]);
    await transaction(database.pool, (client) =>
      copyIn(client, 'copy t from stdin', [
        copyLine([1, '', raw, true]),
        Buffer.from(copyLine([2, null, null, false])),
      ]),
    );
    const { rows } = await database.pool.query('select raw, flag from t order by id');
    expect(rows).toEqual([
      { raw, flag: true },
      { raw: null, flag: false },
    ]);
  });

  it('stores nothing and throws when the lines fail half way', async () => {
    const lines = function* () {
      yield copyLine([1, 'x'.repeat(100_000), null, null]);
      throw new Error('bad row');
    };
    await expect(transaction(database.pool, (client) => copyIn(client, 'copy t from stdin', lines()))).rejects.toThrow(
      'bad row',
    );
    const { rows } = await database.pool.query('select * from t');
    expect(rows).toEqual([]);
  });

  it('throws what the server says of a bad line', async () => {
    await expect(
      transaction(database.pool, (client) => copyIn(client, 'copy t from stdin', ['not a number\n'])),
    ).rejects.toThrow(/integer/);
  });
});
