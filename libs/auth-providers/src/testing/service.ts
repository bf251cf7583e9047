import type { AddressInfo } from 'node:net';
import {
  eventingMigrations,
  EventingModule,
  Followers,
  parseMasterKeys,
  PostgresEventStore,
  Vault,
} from '@fairlead/eventing';
import { createServer, httpMigrations } from '@fairlead/edge';
import { OutboundPolicy, parseOutboundAllow } from '@fairlead/outbound';
import { authenticateCaller, type Sent } from '@fairlead/edge/testing';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { AuthProvidersModule } from '../auth-providers.module';
import { AuthProvidersOptions } from '../oauth/auth-providers.options';
import { authProvidersEntities, authProvidersMigrations } from '../domain';

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Answers are looked into by the tests, whatever their shape.
  readonly json: ReturnType<typeof JSON.parse>;
}

/** The service alone over HTTP, listening on 127.0.0.1; replicas share one database. */
export class TestService {
  private constructor(
    readonly url: string,
    readonly app: NestFastifyApplication,
    readonly store: PostgresEventStore,
    readonly database: TestDatabase,
    /** Every line logged so far. */
    readonly log: readonly string[],
  ) {}

  static async start(database?: TestDatabase, publicUrl?: string): Promise<TestService> {
    const shared =
      database ??
      (await testDatabase(
        [...eventingMigrations, ...httpMigrations, ...authProvidersMigrations],
        authProvidersEntities,
      ));
    const { db, pool } = shared;
    const store = new PostgresEventStore(pool);
    const vault = new Vault(pool, parseMasterKeys('11'.repeat(32), 'the test'));
    const resolve = (hostname: string) =>
      Promise.resolve([{ address: hostname === 'inside.example' ? '10.0.0.8' : '93.184.216.34', family: 4 }]);
    const outbound = new OutboundPolicy(parseOutboundAllow('127.0.0.1'), {}, false, (hostname) =>
      hostname === '127.0.0.1' ? Promise.resolve([{ address: hostname, family: 4 }]) : resolve(hostname),
    );
    @Module({
      imports: [
        EventingModule.forRoot({ store, db, pool, vault }),
        AuthProvidersModule.register(new AuthProvidersOptions(outbound, publicUrl)),
      ],
    })
    class ServiceModule {}
    const log: string[] = [];
    const logger = pino({ level: 'trace' }, { write: (line: string) => void log.push(line) });
    const app = await createServer(ServiceModule, {
      logger,
      authenticate: authenticateCaller,
    });
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    return new TestService(`http://127.0.0.1:${port}`, app, store, shared, log);
  }

  /** Another process' worth of the same service, on the same database. */
  replica(): Promise<TestService> {
    return TestService.start(this.database, this.url);
  }

  async stop(options: { keepDatabase?: boolean } = {}): Promise<void> {
    await this.app.close();
    await this.store.close();
    if (!options.keepDatabase) await this.database.drop();
  }

  async send(method: string, path: string, { as = 'writer', body, headers = {} }: Sent = {}): Promise<Answered> {
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        'x-api-key': as,
        connection: 'close',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.includes('json') ?? false;
    return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  /** Lets the read model catch up. */
  async settle(): Promise<void> {
    await this.app.get(Followers).passed(await this.store.head(), undefined, 60_000);
  }

  /** All that is stored outside the vault's own table: events and every other row, as text. */
  async stored(): Promise<string> {
    const { rows } = await this.database.pool.query<{ name: string }>(
      `select quote_ident(table_name) as name from information_schema.tables
       where table_schema = 'public' and table_type = 'BASE TABLE'`,
    );
    const texts = await Promise.all(
      rows.map(({ name }) => this.database.pool.query<{ text: string }>(`select t::text from ${name} as t`)),
    );
    return JSON.stringify(texts.map((result) => result.rows));
  }
}
