import { eventingMigrations } from '@fairlead/eventing';
import { expectOwnWrites } from '@fairlead/eventing/testing';
import { testDatabase } from '@fairlead/postgres/testing';
import { EventStoreDbStore } from '.';
import { EventStoreDbDouble } from './testing';

it('shows every writer what it has written, whichever process reads', async () => {
  const database = await testDatabase(eventingMigrations);
  const double = await EventStoreDbDouble.start();
  const options = { database: database.pool, limits: { attempt: 20_000, total: 60_000 } };
  await expectOwnWrites(database.pool, 'esdb', () => new EventStoreDbStore(double.url, options));
  await double.stop();
  await database.drop();
});
