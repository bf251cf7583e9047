import {
  connectConsumers,
  eventingMigrations,
  EventingModule,
  parseMasterKeys,
  PostgresEventStore,
  Vault,
} from '@fairlead/eventing';
import { createServer, httpMigrations } from '@fairlead/edge';
import { OutboundPolicy, parseOutboundAllow } from '@fairlead/outbound';
import { type Answered, authenticateCaller, type Method, send, type Sent } from '@fairlead/edge/testing';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { IntegrationsModule } from '../integrations.module';
import { IntegrationsOptions } from '../integrations.options';
import { integrationsEntities } from '../entities';
import { integrationsMigrations } from '../migrations';

/** Times that tests can wait for. */
const HASTY = { headers: 1000, body: 1000 };

/** The integrations service alone over HTTP, on a database of its own. It may call 127.0.0.1. */
export class TestService {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly store: PostgresEventStore,
    private readonly database: TestDatabase,
    /** Every line logged so far. */
    readonly log: readonly string[],
  ) {}

  static async start({ fresh = 0, stale = 60_000, allow = '127.0.0.1', limits = HASTY } = {}): Promise<TestService> {
    const database = await testDatabase(
      [...eventingMigrations, ...httpMigrations, ...integrationsMigrations],
      integrationsEntities,
    );
    const { db, pool } = database;
    const store = new PostgresEventStore(pool);
    const vault = new Vault(pool, parseMasterKeys('11'.repeat(32), 'the test'));
    const outbound = new OutboundPolicy(parseOutboundAllow(allow), limits);
    const retry = { attempts: 3, backoff: 10, longestWait: 1500 };
    const options = new IntegrationsOptions(outbound, retry, fresh, stale, 6000, 6000);
    @Module({ imports: [EventingModule.with({ store, db, pool, vault }), IntegrationsModule.with(options)] })
    class ServiceModule {}
    const log: string[] = [];
    const app = await createServer(ServiceModule, {
      logger: pino({ level: 'trace' }, { write: (line: string) => void log.push(line) }),
      authenticate: authenticateCaller,
    });
    await connectConsumers(app, 'integrations');
    return new TestService(app, store, database, log);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.store.close();
    await this.database.drop();
  }

  send(method: Method, url: string, sent?: Sent): Promise<Answered> {
    return send(this.app, method, url, sent);
  }

  /** The id of a new integration. */
  async add(body: object): Promise<string> {
    const added = await this.send('POST', '/v1/integrations', { body: { name: 'host', ...body } });
    if (added.status !== 201) throw new Error(`${added.status}: ${added.text}`);
    return added.json.id as string;
  }
}
