import type { AddressInfo } from 'node:net';
import { Followers } from '@fairlead/eventing';
import { TestStores } from '@fairlead/eventing/testing';
import { httpMigrations } from '@fairlead/edge';
import { OutboundPolicy, parseOutboundAllow } from '@fairlead/outbound';
import { type Sent, startModules } from '@fairlead/edge/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
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
    private readonly stores: TestStores,
    /** Every line logged so far. */
    readonly log: readonly string[],
  ) {}

  static async start(shared?: TestStores, publicUrl?: string): Promise<TestService> {
    const stores =
      shared ?? (await TestStores.create([...httpMigrations, ...authProvidersMigrations], authProvidersEntities));
    const resolve = (hostname: string) =>
      Promise.resolve([{ address: hostname === 'inside.example' ? '10.0.0.8' : '93.184.216.34', family: 4 }]);
    const outbound = new OutboundPolicy(parseOutboundAllow('127.0.0.1'), {}, false, (hostname) =>
      hostname === '127.0.0.1' ? Promise.resolve([{ address: hostname, family: 4 }]) : resolve(hostname),
    );
    const log: string[] = [];
    const domain = AuthProvidersModule.register(new AuthProvidersOptions(outbound, publicUrl));
    const app = await startModules([stores.module(), domain], log);
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    return new TestService(`http://127.0.0.1:${port}`, app, stores, log);
  }

  get store() {
    return this.stores.store;
  }

  get database() {
    return this.stores.database;
  }

  /** Another process' worth of the same service, on the same database. */
  replica(): Promise<TestService> {
    return TestService.start(new TestStores(this.database), this.url);
  }

  async stop(options: { keepDatabase?: boolean } = {}): Promise<void> {
    await this.app.close();
    if (options.keepDatabase) await this.store.close();
    else await this.stores.drop();
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
