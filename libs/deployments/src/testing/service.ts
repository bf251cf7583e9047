import { HostedApps } from '@fairlead/contracts';
import {
  connectConsumers,
  eventingMigrations,
  EventingModule,
  parseMasterKeys,
  PostgresEventStore,
  streamName,
  Vault,
} from '@fairlead/eventing';
import { createServer, httpMigrations } from '@fairlead/edge';
import { type Answered, authenticateCaller, type Method, send, type Sent, TENANT } from '@fairlead/edge/testing';
import { testDatabase, type TestDatabase, until } from '@fairlead/postgres/testing';
import { Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { pino } from 'pino';
import { DeploymentsModule } from '../deployments.module';
import { DeploymentsOptions } from '../model/deployments.options';
import { deploymentsEntities, deploymentsMigrations } from '../domain';
import type { Hosting } from '../model/source-rules';
import { InstantHost } from './instant.host';
import { INTEGRATION, LISTENER } from './samples';

/** The deployments service alone over HTTP, on a database of its own, with one integration. */
export class TestService {
  private constructor(
    readonly app: NestFastifyApplication,
    readonly store: PostgresEventStore,
    readonly database: TestDatabase,
    /** Every line logged so far. */
    readonly log: readonly string[],
  ) {}

  static async start(
    hosting: Hosting = 'any',
    more: ConstructorParameters<typeof DeploymentsOptions>[1] = {},
    apps?: HostedApps,
  ): Promise<TestService> {
    const database = await testDatabase(
      [...eventingMigrations, ...httpMigrations, ...deploymentsMigrations],
      deploymentsEntities,
    );
    const { db, pool } = database;
    const store = new PostgresEventStore(pool);
    const vault = new Vault(pool, parseMasterKeys('11'.repeat(32), 'the test'));
    const deployments = DeploymentsModule.register(new DeploymentsOptions(hosting, more));
    const paths = { provide: HostedApps, useValue: apps };
    @Module({})
    class AppsModule {}
    @Module({
      imports: [
        ...(apps ? [{ module: AppsModule, global: true, providers: [paths], exports: [HostedApps] }] : []),
        EventingModule.forRoot({ store, db, pool, vault }),
        { ...deployments, controllers: [...deployments.controllers!, InstantHost] },
      ],
    })
    class ServiceModule {}
    const log: string[] = [];
    const logger = pino({ level: 'trace' }, { write: (line: string) => void log.push(line) });
    const app = await createServer(ServiceModule, {
      logger,
      authenticate: authenticateCaller,
    });
    await connectConsumers(app, 'deployments');
    const service = new TestService(app, store, database, log);
    await service.integration(INTEGRATION);
    return service;
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.store.close();
    await this.database.drop();
  }

  send(method: Method, url: string, sent?: Sent): Promise<Answered> {
    return send(this.app, method, url, sent);
  }

  /** Adds an integration of `TENANT`, as the integrations service records it. */
  async integration(integration_id: string): Promise<void> {
    const data = { integration_id, tenant_id: TENANT, base_url: 'https://code.example' };
    const added = { type: 'IntegrationAdded', data };
    await this.store.append(streamName('integration', integration_id), 0, [added], { tenant: TENANT });
  }

  /** Adds the listener of `TENANT` that the samples name. */
  async listener(): Promise<void> {
    const compute_config = { cluster_namespaces: ['agents', 'others'] };
    const members = { tenant_id: TENANT, compute_type: 'k8s', compute_id: 'of the samples', compute_config };
    const created = { type: 'ListenerCreated', data: { listener_id: LISTENER, ...members } };
    await this.store.append(streamName('listener', LISTENER), 0, [created], { tenant: TENANT });
  }

  /** Asks again until the answer is as expected. */
  eventually(ask: () => Promise<Answered>, expected: (answer: Answered) => boolean): Promise<Answered> {
    return until(ask, expected);
  }

  /** A new deployment once it is READY. */
  async ready(body: object): Promise<{ id: string; latest_revision_id: string } & Record<string, unknown>> {
    const created = await this.send('POST', '/v2/deployments', { body });
    if (created.status !== 201) throw new Error(`${created.status}: ${created.text}`);
    const url = `/v2/deployments/${created.json.id}`;
    const { json } = await this.eventually(
      () => this.send('GET', url),
      (answer) => answer.json.status === 'READY',
    );
    return json;
  }
}
