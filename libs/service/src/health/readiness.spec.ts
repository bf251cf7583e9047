import { Degradation, eventingMigrations, Followers, ParkedSubjects, PostgresEventStore } from '@fairlead/eventing';
import { LOCKS, transaction } from '@fairlead/postgres';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { Pool } from 'pg';
import { Readiness } from './readiness';

describe('Readiness', () => {
  let database: TestDatabase;
  let store: PostgresEventStore;
  let followers: Followers;
  let degradation: Degradation;
  let readiness: Readiness;

  beforeEach(async () => {
    database = await testDatabase(eventingMigrations);
    store = new PostgresEventStore(database.pool);
    followers = new Followers(store, database.pool);
    degradation = new Degradation();
    readiness = new Readiness(store, followers, new ParkedSubjects(database.pool), degradation);
  });
  afterEach(async () => {
    await followers.onApplicationShutdown();
    await store.close();
    await database.drop();
  });

  it('has no reason against it when events can be appended, and appends none itself', async () => {
    await store.append('thing-1', 0, [{ type: 'Happened', data: {} }], {});
    expect(await readiness.reasons()).toEqual([]);
    expect(await store.head()).toBe(1n);
  });

  it('names what keeps an append from getting its turn', async () => {
    const reasons = await transaction(database.pool, async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [LOCKS.append]);
      return readiness.reasons();
    });
    expect(reasons).toEqual([
      { what: 'Events cannot be appended', why: expect.stringMatching(/lock timeout/) as string },
    ]);
  });

  it('names a database that takes no writes', async () => {
    await database.pool.query(
      `alter database ${new URL(database.url).pathname.slice(1)} set default_transaction_read_only = on`,
    );
    const readOnly = new Pool({ connectionString: database.url });
    const parked = new ParkedSubjects(readOnly);
    const unwritable = new PostgresEventStore(readOnly);
    expect(await new Readiness(unwritable, followers, parked, degradation).reasons()).toEqual([
      { what: 'Events cannot be appended', why: expect.stringMatching(/read-only/) as string },
    ]);
    await readOnly.end();
  });

  it('names a follower that fails, how far it is behind and why', async () => {
    followers.register({ name: 'broken', handle: () => Promise.reject(new Error('no such column')) });
    followers.register({ name: 'whole', handle: () => Promise.resolve() });
    followers.onApplicationBootstrap();
    const { position } = await store.append('thing-1', 0, [{ type: 'Happened', data: {} }], {});
    await followers.passed(position, ['whole'], 60_000);
    while (!(await followers.status()).some(({ failing }) => failing)) await followers.passed(position, ['broken'], 10);
    expect(await readiness.reasons()).toEqual([{ what: 'broken is 1 behind the newest event', why: 'no such column' }]);
  });

  it('counts what is late or given up, but could be served without, as degraded', async () => {
    followers.register({ name: 'relay', optional: true, handle: () => Promise.reject(new Error('no broker')) });
    followers.onApplicationBootstrap();
    await store.append('thing-1', 0, [{ type: 'Happened', data: {} }], {});
    while (!(await followers.status()).some(({ failing }) => failing)) await followers.passed(1n, ['relay'], 10);
    degradation.report('Kafka consumer', 'no broker');
    const parked = new ParkedSubjects(database.pool);
    const [event] = await store.read('thing-1');
    await parked.park('mailer', event!, 'no such address', 60_000);
    await parked.park('printer', event!, 'no paper', 0);
    const [, printer] = (await parked.list(2)).sort((a, b) => a.consumer.localeCompare(b.consumer));
    await parked.failed(printer!.id, event!, 10, 'no paper', null);
    expect(await readiness.health()).toEqual({
      reasons: [],
      degraded: [
        { what: 'Kafka consumer does not work', why: 'no broker' },
        { what: 'relay is 1 behind the newest event', why: 'no broker' },
        { what: 'mailer tries 1 subject again' },
        { what: 'printer gave up on 1 subject: see /v1/parked-subjects' },
      ],
    });
  });

  it('names a database that is gone', async () => {
    await database.drop();
    expect(await readiness.reasons()).toHaveLength(2);
  });
});
