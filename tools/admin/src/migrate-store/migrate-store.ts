import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppendTooLarge } from '@fairlead/eventing';
import { DatabaseProblem, startEmbedded } from '@fairlead/postgres';
import { eventStoreDb, readSettings, SettingsProblem } from '@fairlead/service';
import { Command } from 'commander';
import { move } from './move';
import { MoveProblem } from './problem';

const USAGE = `Moves the log from PostgreSQL to EventStoreDB: EVENTSTORE_URL=esdb://… npm run migrate-store
The database is the one in DATABASE_URL, else the embedded one below FAIRLEAD_DATA_DIR (.fairlead).`;

/** Exit codes: 0 moved and found equal, 1 not moved, 2 not understood. */
export function migrateStore(): Command {
  return new Command('migrate-store').description(USAGE).action(() =>
    run().then(
      (code) => process.exit(code),
      (error: unknown) => {
        const { EventStoreUnreachable } = eventStoreDb();
        const known = [MoveProblem, SettingsProblem, DatabaseProblem, EventStoreUnreachable, AppendTooLarge];
        console.error(known.some((problem) => error instanceof problem) ? (error as Error).message : error);
        process.exit(error instanceof SettingsProblem ? 2 : 1);
      },
    ),
  );
}

async function run(): Promise<number> {
  const { eventStoreUrl, databaseUrl, dataDir } = readSettings(process.env);
  if (!eventStoreUrl) {
    console.error(USAGE);
    return 2;
  }
  const postgres = join(dataDir, 'postgres');
  if (!databaseUrl && !existsSync(postgres)) {
    console.error(`No installation in ${dataDir}: set FAIRLEAD_DATA_DIR or DATABASE_URL.`);
    return 1;
  }
  const embedded = databaseUrl ? undefined : await startEmbedded({ dataDir: postgres });
  // What has been copied stays; only a server of our own would outlive this process.
  const end = () => void Promise.resolve(embedded?.stop()).finally(() => process.exit(1));
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    const events = await move(databaseUrl ?? embedded!.url, eventStoreUrl);
    console.log(`${events} events were moved and compared. Start Fairlead with EVENTSTORE_URL from now on.`);
    return 0;
  } finally {
    await embedded?.stop();
  }
}
