import { testDatabase } from '@fairlead/postgres/testing';
import { eventingMigrations, PostgresEventStore } from '..';
import { storeContract } from '../testing';

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: PostgresEventStore;
beforeAll(async () => {
  database = await testDatabase(eventingMigrations);
  store = new PostgresEventStore(database.pool);
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

storeContract('PostgreSQL', () => store);

it('sends appends that wait together in few commits, each judged by its own version', async () => {
  const appends = Array.from({ length: 200 }, (_, n) =>
    store.append(`batch-${n % 150}`, n < 150 ? 0 : 7, [{ type: 'Noted', data: { n } }], {}),
  );
  const outcomes = await Promise.allSettled(appends);
  expect(outcomes.slice(0, 150).every(({ status }) => status === 'fulfilled')).toBe(true);
  expect(outcomes.slice(150).every(({ status }) => status === 'rejected')).toBe(true);
  const { rows } = await database.pool.query(
    `select count(distinct xmin::text)::int as commits, count(*)::int as events,
            max("position")::int as last from events`,
  );
  expect(rows[0]).toMatchObject({ events: rows[0].last });
  expect(rows[0].commits).toBeLessThan(60);
});

it('lets an event that cannot be stored fail alone', async () => {
  const [, other] = await Promise.allSettled([
    store.append('fine-0', 0, [{ type: 'Noted', data: {} }], {}),
    store.append('bad-1', 0, [{ id: 'not a uuid', type: 'Noted', data: {} }], {}),
    store.append('fine-1', 0, [{ type: 'Noted', data: {} }], {}),
  ]);
  expect(other.status).toBe('rejected');
  expect(await store.read('fine-0')).toHaveLength(1);
  expect(await store.read('fine-1')).toHaveLength(1);
});
