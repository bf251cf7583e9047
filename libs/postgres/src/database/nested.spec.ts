import { Pool, type PoolClient } from 'pg';
import { nested } from './nested';
import { testDatabase, type TestDatabase } from '../testing';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await testDatabase([]);
  pool = new Pool({ connectionString: database.url, max: 4, connectionTimeoutMillis: 60_000 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** Takes so many connections, waits for one more and gives all of them back. */
async function work(held: number): Promise<number> {
  const clients: PoolClient[] = [];
  try {
    while (clients.length < held) clients.push(await pool.connect());
    await pool.query('select 1');
    return held;
  } finally {
    for (const client of clients) client.release();
  }
}

it('lets work that holds connections get one more, however much of it there is', async () => {
  const all = Array.from({ length: 60 }, (_, n) => 1 + (n % 3));
  expect(await Promise.all(all.map((held) => nested(pool, held, () => work(held))))).toEqual(all);
});

it('goes on after work that failed, and runs what needs all the rest alone', async () => {
  const failed = nested(pool, 3, () => Promise.reject(new Error('no room')));
  const after = [1, 3, 7].map((held) => nested(pool, held, () => Promise.resolve(held)));
  await expect(failed).rejects.toThrow('no room');
  expect(await Promise.all(after)).toEqual([1, 3, 7]);
});
