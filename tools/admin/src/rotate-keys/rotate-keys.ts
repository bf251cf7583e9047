import { join } from 'node:path';
import { masterKeyFile, MasterKeyProblem, Vault } from '@fairlead/eventing';
import { DatabaseProblem, findEmbedded, openDatabase } from '@fairlead/postgres';
import { readSettings, SettingsProblem } from '@fairlead/service';
import { Command } from 'commander';

/** Exit codes: 0 every data key is wrapped with the current master key, 1 not all, 2 wrong settings. */
export function rotateKeys(): Command {
  return new Command('rotate-keys').description('Encrypts every data key with the current master key.').action(() =>
    run().then(
      (code) => process.exit(code),
      (error: unknown) => {
        const known = [SettingsProblem, DatabaseProblem, MasterKeyProblem].some((problem) => error instanceof problem);
        console.error(known ? (error as Error).message : error);
        process.exit(error instanceof SettingsProblem ? 2 : 1);
      },
    ),
  );
}

async function run(): Promise<number> {
  const { databaseUrl, dataDir, masterKeys } = readSettings(process.env);
  const url = databaseUrl ?? findEmbedded(join(dataDir, 'postgres'));
  if (url === undefined) {
    console.error(`No PostgreSQL runs in ${dataDir}: start Fairlead first, or set DATABASE_URL.`);
    return 2;
  }
  const keys = masterKeys ?? (await masterKeyFile(join(dataDir, 'master.key')));
  const pool = await openDatabase({ url, migrations: [] });
  try {
    const count = await new Vault(pool, keys).rotate();
    console.log(`${count} data keys were wrapped anew; all of them need only the first master key now.`);
    return 0;
  } finally {
    await pool.end();
  }
}
