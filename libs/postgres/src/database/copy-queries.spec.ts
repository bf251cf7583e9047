import { copyAtOnce } from './copy-queries';
import { transaction } from './database';
import { testDatabase, type TestDatabase } from '../testing';

describe('COPY at once', () => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await testDatabase([]);
    await database.pool.query('create table a (id int primary key, body text); create table b (id int primary key)');
  });
  afterAll(() => database.drop());
  beforeEach(() => database.pool.query('truncate a, b'));

  const lines = (...rows: string[]) => Buffer.from(rows.map((row) => `${row}\n`).join(''));

  async function ids(table: string): Promise<number[]> {
    const { rows } = await database.pool.query<{ id: number }>(`select id from ${table} order by id`);
    return rows.map(({ id }) => id);
  }

  it('stores what follows each statement in its table', async () => {
    const body = 'x'.repeat(5_000_000);
    await transaction(database.pool, (client) =>
      copyAtOnce(client, [
        { statement: 'copy a from stdin', bytes: lines(`1\t${body}`, '2\t') },
        { statement: 'copy b from stdin', bytes: lines('3') },
        { statement: 'copy a from stdin', bytes: lines('4\t') },
      ]),
    );
    expect(await ids('a')).toEqual([1, 2, 4]);
    expect(await ids('b')).toEqual([3]);
    const { rows } = await database.pool.query<{ body: string }>('select body from a where id = 1');
    expect(rows[0]?.body === body).toBe(true);
  });

  it.each([
    ['a statement is refused', 'copy nowhere from stdin', lines('1'), /"nowhere" does not exist/],
    [
      'bytes are refused',
      'copy b from stdin',
      lines('not a number', ...Array<string>(100_000).fill('7')),
      /not a number/,
    ],
  ])('throws and leaves a connection that works when %s', async (_, statement, bytes, message) => {
    const copying = transaction(database.pool, (client) =>
      copyAtOnce(client, [
        { statement: 'copy a from stdin', bytes: lines('1\t') },
        { statement, bytes },
        { statement: 'copy a from stdin', bytes: lines('2\t') },
      ]),
    );
    await expect(copying).rejects.toThrow(message);
    expect(await ids('a')).toEqual([]);
    await transaction(database.pool, async (client) => {
      await expect(copyAtOnce(client, [{ statement, bytes }])).rejects.toThrow(message);
      await client.query('rollback; begin');
      await copyAtOnce(client, [{ statement: 'copy b from stdin', bytes: lines('5') }]);
    });
    expect(await ids('b')).toEqual([5]);
  });

  it('throws when the connection is lost', async () => {
    await transaction(database.pool, async (holder) => {
      await holder.query('lock table b');
      const client = await database.pool.connect();
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      const copying = copyAtOnce(client, [{ statement: 'copy b from stdin', bytes: lines('1') }]);
      await holder.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await expect(copying).rejects.toThrow();
      client.release(true);
    });
    expect(await ids('b')).toEqual([]);
  });
});
