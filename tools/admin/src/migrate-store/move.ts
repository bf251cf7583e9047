import { eventingMigrations, PostgresEventStore } from '@fairlead/eventing';
import { connect, LOCKS, OF_SERVICE, openDatabase } from '@fairlead/postgres';
import { eventStoreDb, placeOf } from '@fairlead/service';
import { compareOrder, compareStreams } from './compare';
import { copy } from './copy';
import { MoveProblem } from './problem';
import { shown } from './progress';
import { isMoved, switchOver } from './switch-over';

/**
 * Moves the log of a database to EventStoreDB, compares both, and only then makes the new one the one that counts. Run
 * again after whatever ended it, it goes on where it was. Answers the number of events.
 * @throws MoveProblem, DatabaseProblem, EventStoreUnreachable
 */
export async function move(databaseUrl: string, eventStoreUrl: string): Promise<number> {
  const lock = await connect(databaseUrl);
  try {
    const { rows } = await lock.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where ${OF_SERVICE}`,
    );
    if (rows[0]!.n > 0) throw new MoveProblem('Fairlead is running on this database: stop it first.');
    // Nothing is appended to the old log while it is moved.
    await lock.query('select pg_advisory_lock($1)', [LOCKS.append]);
    return await moveLocked(databaseUrl, eventStoreUrl);
  } finally {
    await lock.end();
  }
}

async function moveLocked(databaseUrl: string, eventStoreUrl: string): Promise<number> {
  const database = await openDatabase({ url: databaseUrl, migrations: eventingMigrations });
  const from = new PostgresEventStore(database);
  const { EventStoreDbStore } = eventStoreDb();
  const to = new EventStoreDbStore(eventStoreUrl);
  try {
    if (await isMoved(database)) throw new MoveProblem('The log of this database has been moved already.');
    const events = Number(await from.head());
    await shown('copy', events, (done) => {
      let before = 0n;
      return copy(database, from, to, (position) => {
        done(Number(position - before));
        before = position;
      });
    });
    await shown('compare', events, (done) => compareStreams(database, from, to, done));
    await shown('order', events, (done) => compareOrder(from, to, done));
    await switchOver(database, to, placeOf(eventStoreUrl));
    return events;
  } finally {
    await Promise.all([from.close(), to.close()]);
    await database.end();
  }
}
