import type { Pool } from 'pg';
import { reading, sharedReading, writing } from './reading';
import { openRequestPool } from './request-pool';
import { testDatabase, type TestDatabase } from '../testing';

const NEVER = new AbortController().signal;

describe('The pool for requests', () => {
  let database: TestDatabase;
  let pool: Pool;
  let close: () => Promise<void>;

  beforeAll(async () => {
    database = await testDatabase([]);
    await database.pool.query('create table held (id int)');
  });
  afterAll(() => database.drop());
  afterEach(() => close());

  function open(timeout = 60_000, connections = 4): void {
    ({ pool, close } = openRequestPool(database.pool, { url: database.url, connections, timeout }));
  }

  const read = (owner: string, statement: string, signal = NEVER) =>
    reading({ owner, signal }, () => pool.query<Record<string, string>>(statement));

  /** Statements of reads that run on the server now. */
  async function running(): Promise<number> {
    const { rowCount } = await database.pool.query(
      `select from pg_stat_activity where datname = current_database() and application_name = 'fairlead/2 reads' and state = 'active'`,
    );
    return rowCount ?? 0;
  }

  async function until(count: number): Promise<void> {
    while ((await running()) !== count);
  }

  /** Runs `work` while whatever reads the table waits. */
  async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
    const client = await database.pool.connect();
    try {
      await client.query('begin; lock table held');
      return await work();
    } finally {
      await client.query('rollback');
      client.release();
    }
  }

  it('leaves what does not only read on the connections that it had', async () => {
    open();
    const setting = `select current_setting('application_name') as name`;
    expect((await pool.query(setting)).rows).toEqual([{ name: 'fairlead/2' }]);
    expect((await read('a', setting)).rows).toEqual([{ name: 'fairlead/2 reads' }]);
  });

  it('never lets one owner have more than half of the connections, and serves the others meanwhile', async () => {
    open();
    const reads = await whileHeld(async () => {
      const all = Array.from({ length: 20 }, () => read('greedy', 'select from held'));
      await until(2);
      expect((await read('other', 'select 1 as one')).rows).toEqual([{ one: 1 }]);
      expect(await running()).toBe(2);
      return all;
    });
    await expect(Promise.all(reads)).resolves.toHaveLength(20);
  });

  it('refuses what would wait behind two hundred others of its owner, and nobody else', async () => {
    open();
    const reads = await whileHeld(async () => {
      const all = Array.from({ length: 203 }, () => read('greedy', 'select from held'));
      await expect(all.at(-1)).rejects.toThrow('Too many reads of one workspace wait for the database.');
      expect((await read('other', 'select 1 as one')).rows).toEqual([{ one: 1 }]);
      return all.slice(0, -1);
    });
    await Promise.all(reads);
  });

  it('ends a statement that takes longer than the limit', async () => {
    open(100);
    await whileHeld(() => expect(read('a', 'select from held')).rejects.toMatchObject({ code: '57014' }));
  });

  it('cancels the statement of a client that goes away, and begins none for it afterwards', async () => {
    open();
    const client = new AbortController();
    await whileHeld(async () => {
      // A statement of an earlier test can still be ending.
      await until(0);
      const ended = expect(read('a', 'select from held', client.signal)).rejects.toMatchObject({ code: '57014' });
      await until(1);
      client.abort();
      await ended;
      await until(0);
    });
    await expect(read('a', 'select 1', client.signal)).rejects.toThrow(/abort/);
    // The place is free again.
    await expect(Promise.all([read('a', 'select 1'), read('a', 'select 1')])).resolves.toHaveLength(2);
  });

  it('takes a client that goes away out of the queue', async () => {
    open();
    const client = new AbortController();
    await whileHeld(async () => {
      const two = [read('a', 'select from held'), read('a', 'select from held')];
      await until(2);
      const third = read('a', 'select from held', client.signal);
      client.abort();
      await expect(third).rejects.toThrow(/abort/);
      expect(pool.waitingCount).toBe(0);
      return two;
    }).then((two) => Promise.all(two));
  });

  it('goes on with what others wait for as well', async () => {
    open();
    const client = new AbortController();
    const shared = await whileHeld(async () => {
      const read = reading({ owner: 'a', signal: client.signal }, () =>
        sharedReading(() => pool.query('select from held')),
      );
      await until(1);
      client.abort();
      return [read];
    });
    await expect(shared[0]).resolves.toMatchObject({ rowCount: 0 });
  });

  describe('for writes', () => {
    /** Begins as many writes of one owner as it may have connections, which wait for what is locked. */
    async function greedyWrites(): Promise<Promise<unknown>[]> {
      const share = Math.floor(database.pool.options.max / 2);
      const all = Array.from({ length: share + 5 }, () =>
        writing('greedy', () => pool.query('insert into held values (1)')),
      );
      await untilWriting(share);
      return all;
    }

    async function untilWriting(count: number): Promise<void> {
      const waiting = `select from pg_stat_activity where datname = current_database() and query like 'insert into held%' and state = 'active'`;
      while ((await reading({ owner: 'watch', signal: NEVER }, () => pool.query(waiting))).rowCount !== count);
    }

    it('never lets one owner have more than half of the connections, and serves the others meanwhile', async () => {
      open();
      const writes = await whileHeld(async () => {
        const all = await greedyWrites();
        expect((await writing('other', () => pool.query('select 1 as one'))).rows).toEqual([{ one: 1 }]);
        expect(pool.waitingCount).toBe(5);
        return all;
      });
      await expect(Promise.all(writes)).resolves.toHaveLength(writes.length);
      expect(pool.waitingCount).toBe(0);
    });

    it('gives a write that has a connection a second one although its owner has its share', async () => {
      open();
      await writing('greedy', async () => {
        const client = await pool.connect();
        const writes = await whileHeld(async () => {
          const share = Math.floor(database.pool.options.max / 2);
          const others = Array.from({ length: share }, () =>
            writing('greedy', () => pool.query('insert into held values (2)')),
          );
          await untilWriting(share - 1);
          expect((await pool.query('select 2 as two')).rows).toEqual([{ two: 2 }]);
          return others;
        });
        client.release();
        await Promise.all(writes);
      });
    });

    it('refuses what would wait behind two hundred others of its owner, and nobody else', async () => {
      open();
      const share = Math.floor(database.pool.options.max / 2);
      const writes = await whileHeld(async () => {
        const all = Array.from({ length: share + 201 }, () =>
          writing('greedy', () => pool.query('insert into held values (3)')),
        );
        await expect(all.at(-1)).rejects.toThrow('Too many writes of one workspace wait for the database.');
        expect((await writing('other', () => pool.query('select 1 as one'))).rows).toEqual([{ one: 1 }]);
        return all.slice(0, -1);
      });
      await Promise.all(writes);
    });

    it('refuses no write that has had a connection, because it may have written something', async () => {
      open();
      const share = Math.floor(database.pool.options.max / 2);
      await writing('greedy', async () => {
        await pool.query('select 1 as one');
        const all = await whileHeld(async () => {
          const others = Array.from({ length: share + 200 }, () =>
            writing('greedy', () => pool.query('insert into held values (4)')),
          );
          const later = pool.query('select 2 as two');
          await untilWriting(share);
          expect(pool.waitingCount).toBe(201);
          return [later, ...others];
        });
        const [later] = await Promise.all(all);
        expect(later!.rows).toEqual([{ two: 2 }]);
      });
    });
  });
});
