import { connect, fillWorkspaces, type MigrationClass, replacePrimaryKeys } from '@fairlead/postgres';
import { PeriodicWork } from '@fairlead/schema';
import type { Logger } from 'pino';

/** Interval of looks for what services of earlier versions have written, or needed, meanwhile (ms). */
const EVERY_MS = 10 * 60 * 1000;

/**
 * Finishes in the background what an upgrade leaves until services of earlier versions are gone: earlier keys are replaced
 * and earlier rows get their workspace. Returns a function that ends it.
 */
export function finishUpgrade(url: string, migrations: readonly MigrationClass[], logger: Logger): () => Promise<void> {
  const ending = new AbortController();
  const tell = (line: string) => logger.info(line);
  const finish = async () => {
    try {
      await replaceKeys();
    } finally {
      // A key that cannot be replaced keeps no rows from getting their workspace.
      await fillWorkspaces(url, migrations, tell, ending.signal);
    }
  };
  const replaceKeys = async () => {
    const client = await connect(url);
    try {
      await replacePrimaryKeys(client, migrations, tell);
    } finally {
      await client.end();
    }
  };
  const work = new PeriodicWork(finish, (error) => logger.warn(error));
  void work.run();
  work.start(EVERY_MS);
  return () => {
    ending.abort();
    return work.stop();
  };
}
