import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { HostedApps, publications } from '@fairlead/contracts';
import {
  connectConsumers,
  eventingMigrations,
  type EventingParts,
  Followers,
  kafka as loadKafka,
  masterKeyFile,
  measureEventing,
  requireSameLog,
  Vault,
} from '@fairlead/eventing';
import { createServer, httpMigrations, type ServerOptions, startTracing } from '@fairlead/edge';
import {
  type EntityClass,
  makeDirectory,
  type MigrationClass,
  openDatabase,
  openDataSource,
  openRequestPool,
  startEmbedded,
} from '@fairlead/postgres';
import type { DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { destination, type Logger, pino } from 'pino';
import { Registry } from 'prom-client';
import { measureApps } from './apps/app-metrics';
import { appPagesAt, hasAppPages } from './apps/app-pages';
import { openEventStore } from './event-store/open-event-store';
import { finishUpgrade } from './finish-upgrade';
import { requireOneWorkspace, withExecutor } from './one-workspace';
import { listenProblem, StartProblem, writeProblem } from './problem';
import type { Settings } from './settings/settings';

/** The program of a process. */
export interface Program {
  /** Name of its consumers, which all replicas share. */
  readonly name: string;
  /** Migrations, without those of the foundations, which every process runs. */
  readonly migrations: readonly MigrationClass[];
  /** The read models of its modules. */
  readonly entities: readonly EntityClass[];
  readonly module: (parts: EventingParts, settings: Settings) => DynamicModule;
  /** Returns the options of its server. `app` is set when the first request comes. */
  readonly server: (
    app: () => NestFastifyApplication,
  ) => Pick<ServerOptions, 'authenticate' | 'behindGateway' | 'refused' | 'doors' | 'pages'>;
  /** Runs before the process listens. */
  readonly prepare?: (app: NestFastifyApplication) => Promise<void>;
  /** True: starts a PostgreSQL of its own when `databaseUrl` is unset. */
  readonly embedded?: boolean;
  /** True: chooses an executor itself when no setting names one. */
  readonly choosesExecutor?: boolean;
  /** Time that others have to close their connections when it stops (ms). */
  readonly drain?: number;
}

/**
 * Value of `drain` for programs that are replaced while others send them requests. A gateway keeps an unused connection
 * for a shorter time.
 */
export const DRAIN_MS = 5000;

/** A process that listens. */
export interface Running {
  /** Address at which it listens, without a path. */
  readonly url: string;
  readonly executor: Settings['rollouts']['executor'];
  /** Stops accepting, lets requests under way finish (10 s at most), stops the followers, then the embedded PostgreSQL. */
  stop(): Promise<void>;
}

/**
 * Number of new connections that may wait while the process is busy. Connections beyond it are dropped by the system
 * and come again only after seconds.
 */
const BACKLOG = 8192;

/** Share of the database connections for requests that only read. */
const READ_SHARE = 2 / 5;

type Undo = () => Promise<void>;

/**
 * Starts a program in this process and listens. When a start fails, what had been started is stopped again.
 * @throws StartProblem, DatabaseProblem and other errors with one line for the operator.
 */
export async function start(program: Program, settings: Settings): Promise<Running> {
  const logger = pino({ level: settings.logLevel }, destination({ sync: false }));
  const started: Undo[] = [];
  const stop = () => undoAll(started);
  try {
    return { ...(await listening(program, settings, logger, started)), stop };
  } catch (error) {
    await stop().catch(() => undefined);
    throw writeProblem(error, settings.dataDir) ?? error;
  }
}

/** Undoes the last step first. A step that cannot be undone leaves none of the others; its error is thrown at the end. */
export async function undoAll(started: Undo[]): Promise<void> {
  const errors: unknown[] = [];
  for (let undo = started.pop(); undo; undo = started.pop()) await undo().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

async function listening(
  program: Program,
  given: Settings,
  logger: Logger,
  started: Undo[],
): Promise<Omit<Running, 'stop'>> {
  const { tracesTo } = given;
  if (tracesTo !== undefined) {
    const tracing = await startTracing({ endpoint: tracesTo, service: `fairlead-${program.name}` });
    started.push(() => tracing.stop());
  }
  const parts = await open(program, given, logger, started);
  const settings = program.choosesExecutor
    ? await withExecutor(given, parts, (warning) => logger.warn(warning))
    : given;
  const { executor } = settings.rollouts;
  await requireOneWorkspace(parts, settings);
  const registry = new Registry();
  const app: NestFastifyApplication = await createServer(program.module(parts, settings), {
    ...program.server(() => app),
    logger,
    dialect: settings.dialect,
    edge: settings.edge,
    metrics: { registry, token: settings.metricsToken },
    traced: tracesTo !== undefined,
    webSockets: executor === 'local' || executor === 'kubernetes',
    hosted: hasAppPages(settings) ? appPagesAt : undefined,
    limits: {
      body: settings.limits.bodyMaxBytes,
      values: settings.limits.bodyMaxValues,
      depth: settings.limits.maxDepth,
      drain: program.drain ?? 0,
    },
  });
  started.push(() => close(app, program.drain));
  measureEventing(registry, app.get(Followers), parts.pool);
  if (executor === 'local') measureApps(registry, app.get(HostedApps, { strict: false }));
  await connectConsumers(app, program.name);
  await program.prepare?.(app);
  return { url: await listen(app, settings), executor };
}

/** Opens the log, the database with its tables, the vault, and Kafka if it is set. */
async function open(
  { migrations, entities, embedded }: Program,
  settings: Settings,
  logger: Logger,
  started: Undo[],
): Promise<EventingParts> {
  makeDataDirectory(settings.dataDir);
  if (!settings.databaseUrl && !embedded)
    throw new StartProblem('DATABASE_URL must name the database of all services.');
  const url = settings.databaseUrl ?? (await startPostgres(settings, logger, started));
  const readConnections = Math.floor(settings.databaseConnections * READ_SHARE);
  const main = await openDatabase({
    url,
    migrations: [...eventingMigrations, ...httpMigrations, ...migrations],
    poolSize: settings.databaseConnections - readConnections,
  });
  started.push(() => main.end());
  started.push(finishUpgrade(url, migrations, logger));
  const requests = openRequestPool(main, { url, connections: readConnections, timeout: settings.readTimeout });
  started.push(() => requests.close());
  const db = await openDataSource(requests.pool, entities);
  const store = await openEventStore(requests.pool, settings.eventStoreUrl);
  started.push(() => store.close());
  await requireSameLog(store, requests.pool);
  const masterKeys = settings.masterKeys ?? (await masterKeyFile(join(settings.dataDir, 'master.key')));
  const kafka = settings.kafka && { cluster: new (loadKafka().KafkaCluster)(settings.kafka), publications };
  const vault = new Vault(main, masterKeys);
  const { seals, quotas } = settings;
  return { store, db, pool: requests.pool, vault, kafka, seals, quotas };
}

async function startPostgres({ dataDir }: Settings, logger: Logger, started: Undo[]): Promise<string> {
  const server = await startEmbedded({ dataDir: join(dataDir, 'postgres'), log: (line) => logger.warn(line) });
  started.push(() => server.stop());
  return server.url;
}

/** Refuses the executor `local` where rollouts and the gateway are not one process. @throws StartProblem */
export function requireTogether({ rollouts }: Pick<Settings, 'rollouts'>, together: boolean): void {
  if (rollouts.executor !== 'local' || together) return;
  throw new StartProblem('EXECUTOR=local runs deployments in the standalone form only (npm start).');
}

/** Makes the data directory when it does not exist. @throws StartProblem */
export function makeDataDirectory(directory: string): void {
  try {
    makeDirectory(directory);
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code;
    throw new StartProblem(`The data directory ${directory} cannot be made (${reason}): set FAIRLEAD_DATA_DIR.`, {
      cause: error,
    });
  }
}

async function listen(app: NestFastifyApplication, { host, port }: Settings): Promise<string> {
  try {
    // Nest's own `listen` would log the error as well.
    await app.getHttpAdapter().getInstance().listen({ port, host, backlog: BACKLOG });
  } catch (error) {
    throw listenProblem(error, host, port) ?? error;
  }
  return shownUrl(host, (app.getHttpServer().address() as AddressInfo).port);
}

/** Returns the address at which this machine reaches a server on a host and port. */
export function shownUrl(host: string, port: number): string {
  const shown = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${shown}:${port}`;
}

/**
 * Stops the server. After `drain` milliseconds, each connection is closed as soon as its last request is answered;
 * connections that are kept alive would delay the end for seconds.
 */
async function close(app: NestFastifyApplication, drain = 0): Promise<void> {
  const until = Date.now() + drain;
  const timer = setInterval(() => {
    if (Date.now() >= until) app.getHttpServer().closeIdleConnections();
  }, 20);
  await app.close();
  clearInterval(timer);
}
