import { HostedApps } from '@fairlead/contracts';
import { connectConsumers, streamName } from '@fairlead/eventing';
import { TestStores } from '@fairlead/eventing/testing';
import { httpMigrations } from '@fairlead/edge';
import { type Answered, type Method, provided, send, type Sent, startModules, TENANT } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
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
    private readonly stores: TestStores,
    /** Every line logged so far. */
    readonly log: readonly string[],
  ) {}

  static async start(
    hosting: Hosting = 'any',
    more: ConstructorParameters<typeof DeploymentsOptions>[1] = {},
    apps?: HostedApps,
  ): Promise<TestService> {
    const stores = await TestStores.create([...httpMigrations, ...deploymentsMigrations], deploymentsEntities);
    const deployments = DeploymentsModule.register(new DeploymentsOptions(hosting, more));
    const log: string[] = [];
    const app = await startModules(
      [
        ...(apps ? [provided({ provide: HostedApps, useValue: apps })] : []),
        stores.module(),
        { ...deployments, controllers: [...deployments.controllers!, InstantHost] },
      ],
      log,
    );
    await connectConsumers(app, 'deployments');
    const service = new TestService(app, stores, log);
    await service.integration(INTEGRATION);
    return service;
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.stores.drop();
  }

  get store() {
    return this.stores.store;
  }

  get database() {
    return this.stores.database;
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
