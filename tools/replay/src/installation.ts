import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type EventStore, masterKeyFile, openEventStore, parseMasterKeys, Vault } from '@fairlead/eventing';
import { findEmbedded, startEmbedded } from '@fairlead/postgres';
import { Pool } from 'pg';

/** The database, the log and the vault of an installation, whether its service runs or not. */
export interface Installation {
  readonly url: string;
  readonly pool: Pool;
  readonly store: EventStore;
  readonly vault: Vault;
  close(): Promise<void>;
}

/**
 * Opens the installation that the same settings would start: `DATABASE_URL`, or the embedded PostgreSQL in
 * `FAIRLEAD_DATA_DIR`, which is started for as long as this takes when it does not run; the log may be in the
 * EventStoreDB of `EVENTSTORE_URL`. Nothing is migrated.
 * @throws Error when there is none, in one line.
 */
export async function openInstallation(env: NodeJS.ProcessEnv): Promise<Installation> {
  const dataDir = env.FAIRLEAD_DATA_DIR || '.fairlead';
  const postgres = join(dataDir, 'postgres');
  const keyFile = join(dataDir, 'master.key');
  if (!env.DATABASE_URL && !existsSync(postgres))
    throw new Error(`No installation in ${dataDir}: set FAIRLEAD_DATA_DIR.`);
  if (!env.FAIRLEAD_MASTER_KEY && !existsSync(keyFile)) {
    throw new Error(`There is no ${keyFile}: set FAIRLEAD_DATA_DIR or FAIRLEAD_MASTER_KEY.`);
  }
  const running = env.DATABASE_URL || findEmbedded(postgres);
  const own = running ? undefined : await startEmbedded({ dataDir: postgres });
  const url = running ?? own!.url;
  const pool = new Pool({ connectionString: url, max: 4, application_name: 'fairlead tools' });
  pool.on('error', () => undefined);
  const store = await openEventStore(pool, env.EVENTSTORE_URL || undefined);
  const masterKeys = env.FAIRLEAD_MASTER_KEY
    ? parseMasterKeys(env.FAIRLEAD_MASTER_KEY, 'FAIRLEAD_MASTER_KEY')
    : await masterKeyFile(keyFile);
  return {
    url,
    pool,
    store,
    vault: new Vault(pool, masterKeys),
    async close() {
      await store.close();
      await pool.end();
      await own?.stop();
    },
  };
}
