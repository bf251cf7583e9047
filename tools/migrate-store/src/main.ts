import { join, resolve } from 'node:path';
import { AppendTooLarge, EventStoreUnreachable, isEventStoreUrl } from '@fairlead/eventing';
import { DatabaseProblem, startEmbedded } from '@fairlead/postgres';
import { move } from './move';
import { MoveProblem } from './problem';

const USAGE = `Moves the log from PostgreSQL to EventStoreDB: EVENTSTORE_URL=esdb://… npm run migrate-store
The database is the one in DATABASE_URL, else the embedded one below FAIRLEAD_DATA_DIR (.fairlead).`;

/** Exit codes: 0 moved and found equal, 1 not moved, 2 not understood. */
async function main({ EVENTSTORE_URL, DATABASE_URL, FAIRLEAD_DATA_DIR }: NodeJS.ProcessEnv): Promise<number> {
  if (!EVENTSTORE_URL || !isEventStoreUrl(EVENTSTORE_URL)) {
    console.error(USAGE);
    return 2;
  }
  const embedded = DATABASE_URL
    ? undefined
    : await startEmbedded({ dataDir: join(resolve(FAIRLEAD_DATA_DIR || '.fairlead'), 'postgres') });
  try {
    const events = await move(DATABASE_URL || embedded!.url, EVENTSTORE_URL);
    console.log(`${events} events were moved and compared. Start Fairlead with EVENTSTORE_URL from now on.`);
    return 0;
  } finally {
    await embedded?.stop();
  }
}

main(process.env).then(
  (code) => process.exit(code),
  (error: unknown) => {
    const known = [MoveProblem, DatabaseProblem, EventStoreUnreachable, AppendTooLarge];
    console.error(known.some((problem) => error instanceof problem) ? (error as Error).message : error);
    process.exit(1);
  },
);
