import { type EventStore, PostgresEventStore } from '@fairlead/eventing';
import { EventStoreDbStore } from '@fairlead/eventstoredb';
import { SERVICE_NAMES } from '@fairlead/service';
import { Courier, hasEnded, Home, type Random, type Service, until } from '@fairlead/e2e/testing';
import { Pool } from 'pg';
import { ClusterPart } from './cluster.part';
import { EventStorePart } from './event-store.part';
import { KafkaPart } from './kafka.part';
import { EventLog } from './event-log';
import type { Part } from './part';
import { PostgresPart } from './postgres.part';
import { settings } from './settings';
import { StandalonePart } from './standalone.part';

/** Time limit of clients (ms): a request may need many answers of a server that takes five seconds for each. */
const PATIENCE_MS = 60_000;

export interface InstallationOptions {
  /** Every service in one process, or in as many of each as this says. */
  readonly replicas?: number;
  /** Keeps the log in EventStoreDB (a double) instead of PostgreSQL. */
  readonly eventStoreDb: boolean;
  readonly kafka: boolean;
}

/** The service on servers of its own, each of which can be killed, slowed down and cut off. */
export class Installation {
  readonly courier = new Courier(PATIENCE_MS);
  /** Parts that can be killed. */
  readonly parts: Part[] = [];
  /** Settings of tools that go around the proxies. */
  readonly direct: Record<string, string>;
  private readonly closing: (() => Promise<void>)[] = [];
  private readonly written: (() => string)[] = [];
  log!: EventLog;

  private constructor(readonly home: Home) {
    this.direct = { FAIRLEAD_DATA_DIR: home.data() };
  }

  /** `random` chooses which of several processes is killed. */
  static async start(options: InstallationOptions, random: Random): Promise<Installation> {
    const { replicas, eventStoreDb, kafka } = options;
    const home = replicas
      ? new Home('cluster', ['--no-kafka', '--replicas', String(replicas)], settings.full)
      : new Home('standalone', [], settings.full);
    const installation = new Installation(home);
    try {
      const env: Record<string, string> = { LOG_LEVEL: 'debug' };
      const postgres = await PostgresPart.start(installation.home.data('servers/postgres'));
      installation.add(postgres);
      env.DATABASE_URL = postgres.url;
      installation.direct.DATABASE_URL = postgres.direct;
      if (eventStoreDb) {
        const store = await EventStorePart.start(installation.home.data('servers/events'));
        installation.add(store);
        env.EVENTSTORE_URL = store.url;
        installation.direct.EVENTSTORE_URL = store.direct;
      }
      if (kafka) {
        const broker = await KafkaPart.start(installation.home.data('servers/kafka'));
        installation.add(broker);
        env.KAFKA_BROKERS = broker.addresses;
      }
      if (replicas) await installation.startCluster(env, random);
      else await installation.startService(env);
      installation.readLog();
      return installation;
    } catch (error) {
      await installation.stop();
      throw error;
    }
  }

  /** The part of this name. */
  part(name: string): Part {
    return this.parts.find((part) => part.name === name)!;
  }

  /** Everything that its processes have written. */
  get output(): string {
    return this.written.map((output) => output()).join('');
  }

  /** Ends everything and removes what it kept. */
  async stop(): Promise<void> {
    this.courier.giveUp();
    for (const close of this.closing.reverse()) await close();
    await this.home.end();
  }

  private add(part: Part): void {
    this.parts.push(part);
    this.closing.push(() => part.stop());
  }

  private async startService(env: Record<string, string>): Promise<void> {
    const start = () => this.startProcess(env);
    this.add(new StandalonePart(await start(), this.courier, start));
  }

  private async startCluster(env: Record<string, string>, random: Random): Promise<void> {
    const cluster = await this.startProcess(env);
    this.closing.push(async () => {
      // It ends its processes.
      cluster.process.kill('SIGTERM');
      await until(() => hasEnded(cluster.process));
    });
    for (const name of ['gateway', ...SERVICE_NAMES]) {
      this.parts.push(new ClusterPart(name, cluster, this.courier, random));
    }
  }

  private async startProcess(env: Record<string, string>): Promise<Service> {
    const service = await this.home.start(env);
    this.written.push(() => service.output() + service.errors());
    this.courier.target = { url: service.url, key: this.home.key() };
    return service;
  }

  private readLog(): void {
    const { DATABASE_URL, EVENTSTORE_URL } = this.direct;
    let store: EventStore & { close(): Promise<void> };
    if (EVENTSTORE_URL) {
      // It is not what is tested, and may be slow where everything is.
      store = new EventStoreDbStore(EVENTSTORE_URL, { limits: { attempt: 20_000, total: 60_000 } });
    } else {
      const pool = new Pool({ connectionString: DATABASE_URL, max: 4 });
      pool.on('error', () => undefined);
      this.closing.push(() => pool.end());
      store = new PostgresEventStore(pool);
    }
    this.closing.push(() => store.close());
    this.log = new EventLog(store);
  }
}
