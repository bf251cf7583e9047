import {
  connectConsumers,
  eventingMigrations,
  EventingModule,
  parseMasterKeys,
  PostgresEventStore,
  Vault,
} from '@fairlead/eventing';
import {
  type Actor,
  createServer,
  httpMigrations,
  OutboundPolicy,
  parseOutboundAllow,
  type Scope,
  Unauthorized,
} from '@fairlead/http';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { IntegrationsModule } from '../integrations.module';
import { IntegrationsOptions } from '../integrations.options';
import { integrationsMigrations } from '../migrations';

export const TENANT = '7f0d0f6e-5c3e-4c1a-9a61-111111111111';
export const OTHER_TENANT = '7f0d0f6e-5c3e-4c1a-9a61-222222222222';

const actor = (keyId: string, tenantId: string, ...scopes: Scope[]): Actor => ({
  keyId,
  tenantId,
  organizationId: tenantId,
  scopes: new Set(scopes),
});

const ACTORS: Readonly<Record<string, Actor>> = {
  writer: actor('writer', TENANT, 'write'),
  reader: actor('reader', TENANT, 'read'),
  stranger: actor('stranger', OTHER_TENANT, 'write'),
};

export interface Sent {
  readonly as?: keyof typeof ACTORS;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  // Answers are looked into by the tests, whatever their shape.
  readonly json: ReturnType<typeof JSON.parse>;
}

/** Times that tests can wait for. */
export const HASTY = { headers: 300, body: 300 };

/** The integrations service alone over HTTP, on a database of its own. It may call 127.0.0.1. */
export class TestService {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly store: PostgresEventStore,
    private readonly database: TestDatabase,
    /** Every line logged so far. */
    readonly log: readonly string[],
  ) {}

  static async start({ fresh = 0, stale = 60_000, allow = '127.0.0.1' } = {}): Promise<TestService> {
    const database = await testDatabase([...eventingMigrations, ...httpMigrations, ...integrationsMigrations]);
    const { db, pool } = database;
    const store = new PostgresEventStore(pool);
    const vault = new Vault(pool, parseMasterKeys('11'.repeat(32), 'the test'));
    const outbound = new OutboundPolicy(parseOutboundAllow(allow), HASTY);
    const retry = { attempts: 3, backoff: 10, longestWait: 1500 };
    const options = new IntegrationsOptions(outbound, retry, fresh, stale, 3000, 2000);
    @Module({ imports: [EventingModule.with({ store, db, pool, vault }), IntegrationsModule.with(options)] })
    class ServiceModule {}
    const log: string[] = [];
    const app = await createServer(ServiceModule, {
      logger: pino({ level: 'trace' }, { write: (line: string) => void log.push(line) }),
      authenticate: (request) => {
        const known = ACTORS[String(request.headers['x-api-key'])];
        return known ? Promise.resolve(known) : Promise.reject(new Unauthorized());
      },
    });
    await connectConsumers(app, 'integrations');
    return new TestService(app, store, database, log);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.store.close();
    await this.database.drop();
  }

  async send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, sent: Sent = {}): Promise<Answered> {
    const { as = 'writer', body, headers = {} } = sent;
    const answer = await this.app.inject({
      method,
      url,
      headers: { 'x-api-key': as, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = answer.payload;
    const isJson = String(answer.headers['content-type']).includes('json');
    return { status: answer.statusCode, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  /** The id of a new integration. */
  async add(body: object): Promise<string> {
    const added = await this.send('POST', '/v1/integrations', { body: { name: 'host', ...body } });
    if (added.status !== 201) throw new Error(`${added.status}: ${added.text}`);
    return added.json.id as string;
  }
}
