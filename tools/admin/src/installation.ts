import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { masterKeyFile, requireSameLog, Vault } from '@fairlead/eventing';
import { findEmbedded, startEmbedded } from '@fairlead/postgres';
import { type OpenEventStore, openEventStore, readSettings } from '@fairlead/service';
import { Pool } from 'pg';

/** The database, the log and the vault of an installation, whether its service runs or not. */
export interface Installation {
  readonly url: string;
  readonly pool: Pool;
  readonly store: OpenEventStore;
  readonly vault: Vault;
  /** Milliseconds after which an event is to be sealed. */
  readonly sealEveryMs: number;
  close(): Promise<void>;
}

/**
 * Opens the installation that the same settings would start: `DATABASE_URL`, or the embedded PostgreSQL in
 * `FAIRLEAD_DATA_DIR`, which is started for as long as this takes when it does not run; the log may be in the
 * EventStoreDB of `EVENTSTORE_URL`. Nothing is migrated.
 * @throws Error when there is none, in one line; SettingsProblem; OlderLog unless the caller deals with an older log.
 */
export async function openInstallation(
  env: NodeJS.ProcessEnv,
  { olderLog = false }: { readonly olderLog?: boolean } = {},
): Promise<Installation> {
  const { dataDir, databaseUrl, eventStoreUrl, masterKeys, seals } = readSettings(env);
  const postgres = join(dataDir, 'postgres');
  const keyFile = join(dataDir, 'master.key');
  if (!databaseUrl && !existsSync(postgres)) throw new Error(`No installation in ${dataDir}: set FAIRLEAD_DATA_DIR.`);
  if (!masterKeys && !existsSync(keyFile)) {
    throw new Error(`There is no ${keyFile}: set FAIRLEAD_DATA_DIR or FAIRLEAD_MASTER_KEY.`);
  }
  const running = databaseUrl ?? findEmbedded(postgres);
  const own = running ? undefined : await startEmbedded({ dataDir: postgres });
  const url = running ?? own!.url;
  const pool = new Pool({ connectionString: url, max: 4, application_name: 'fairlead tools' });
  pool.on('error', () => undefined);
  const release = async () => {
    await pool.end();
    await own?.stop();
  };
  try {
    const store = await openEventStore(pool, eventStoreUrl);
    if (!olderLog)
      await requireSameLog(store, pool).catch((error) => store.close().then(() => Promise.reject(error as Error)));
    const vault = new Vault(pool, masterKeys ?? (await masterKeyFile(keyFile)));
    return { url, pool, store, vault, sealEveryMs: seals.everyMs, close: () => store.close().then(release) };
  } catch (error) {
    await release();
    throw error;
  }
}
