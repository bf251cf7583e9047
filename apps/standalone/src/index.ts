import 'reflect-metadata';
import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { accessMigrations, Authenticator, registerAdminKey } from '@fairlead/access';
import { auditMigrations, RefusalBook } from '@fairlead/audit';
import { authProvidersMigrations } from '@fairlead/auth-providers';
import { deploymentsMigrations } from '@fairlead/deployments';
import {
  eventingMigrations,
  EventStoreTransport,
  Followers,
  masterKeyFile,
  PostgresEventStore,
  Vault,
} from '@fairlead/eventing';
import { experimentsMigrations } from '@fairlead/experiments';
import { createServer, httpMigrations } from '@fairlead/http';
import { integrationsMigrations } from '@fairlead/integrations';
import { openDatabase, pool, startEmbedded } from '@fairlead/postgres';
import { rolloutsMigrations } from '@fairlead/rollouts';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { destination, type Logger, pino } from 'pino';
import { type AdminKey, adminKey } from './admin-key';
import { listenProblem, StartProblem } from './problem';
import type { Settings } from './settings';
import { StandaloneModule } from './standalone.module';

export type { AdminKey } from './admin-key';
export { readSettings, type Settings, SettingsProblem } from './settings';

export interface Standalone {
  /** Where it listens, without a path. */
  readonly url: string;
  readonly key: AdminKey;
  /** Stops accepting, lets requests under way finish (10 s at most), stops the followers, then the embedded PostgreSQL. */
  stop(): Promise<void>;
}

const MIGRATIONS = [
  ...eventingMigrations,
  ...httpMigrations,
  ...accessMigrations,
  ...auditMigrations,
  ...authProvidersMigrations,
  ...deploymentsMigrations,
  ...experimentsMigrations,
  ...integrationsMigrations,
  ...rolloutsMigrations,
];

/**
 * Starts every service in this process on an embedded PostgreSQL, or on the one in `databaseUrl`, and listens. When a
 * start fails, what had been started is stopped again.
 * @throws StartProblem, DatabaseProblem and other errors with one line for the operator.
 */
export async function startStandalone(settings: Settings): Promise<Standalone> {
  const logger = pino({ level: settings.logLevel }, destination({ sync: false }));
  const started: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (let undo = started.pop(); undo; undo = started.pop()) await undo();
  };
  try {
    return { ...(await start(settings, logger, started)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  settings: Settings,
  logger: Logger,
  started: (() => Promise<void>)[],
): Promise<Omit<Standalone, 'stop'>> {
  makeDataDirectory(settings.dataDir);
  const url = settings.databaseUrl ?? (await startPostgres(settings, logger, started));
  const db = await openDatabase({ url, migrations: MIGRATIONS });
  started.push(() => db.destroy());
  const store = new PostgresEventStore(pool(db));
  started.push(() => store.close());
  const masterKeys = settings.masterKeys ?? (await masterKeyFile(join(settings.dataDir, 'master.key')));
  const vault = new Vault(pool(db), masterKeys);

  const app: NestFastifyApplication = await createServer(
    StandaloneModule.with({ store, db, pool: pool(db), vault }, settings),
    {
      logger,
      authenticate: (request) => app.get(Authenticator).authenticate(request),
      refused: (request) => app.get(RefusalBook).add(request),
      dialect: settings.dialect,
      limits: { body: settings.limits.bodyMaxBytes, depth: settings.limits.maxDepth },
    },
  );
  started.push(() => close(app));
  app.connectMicroservice({ strategy: new EventStoreTransport(app.get(Followers), 'standalone') });
  await app.startAllMicroservices();
  const key = adminKey(settings);
  await registerAdminKey(app, key.text);
  return { url: await listen(app, settings), key };
}

async function startPostgres({ dataDir }: Settings, logger: Logger, started: (() => Promise<void>)[]): Promise<string> {
  const server = await startEmbedded({ dataDir: join(dataDir, 'postgres'), log: (line) => logger.warn(line) });
  started.push(() => server.stop());
  return server.url;
}

function makeDataDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw new StartProblem(`The data directory ${directory} cannot be made (${reason}): set FAIRLEAD_DATA_DIR.`, {
      cause: error,
    });
  }
}

async function listen(app: NestFastifyApplication, { host, port }: Settings): Promise<string> {
  try {
    await app.listen(port, host);
  } catch (error) {
    throw listenProblem(error, host, port) ?? error;
  }
  const address = app.getHttpServer().address() as AddressInfo;
  const shown = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${shown}:${address.port}`;
}

/** Closes a connection as soon as its last request is answered: one kept alive would hold up the end for seconds. */
async function close(app: NestFastifyApplication): Promise<void> {
  const timer = setInterval(() => app.getHttpServer().closeIdleConnections(), 20);
  await app.close();
  clearInterval(timer);
}
