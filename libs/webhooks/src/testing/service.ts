import { connectConsumers, type DomainEvent } from '@fairlead/eventing';
import { TestStores } from '@fairlead/eventing/testing';
import { httpMigrations } from '@fairlead/edge';
import { OutboundPolicy, parseOutboundAllow } from '@fairlead/outbound';
import { type Answered, type Caller, type Method, send, type Sent, startModules, TENANT } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { v7 as uuid } from 'uuid';
import { webhooksMigrations } from '../domain';
import { TargetStore } from '../deliveries/target.store';
import { WebhooksModule } from '../webhooks.module';
import { WebhooksOptions } from '../webhook/webhooks.options';

/** The webhooks service over HTTP, on a database of its own; it can be started several times. It may call 127.0.0.1. */
export class TestService {
  /** Milliseconds that the service's clock is ahead. */
  ahead = 0;
  /** Every line logged so far. */
  readonly log: string[] = [];
  private readonly apps: NestFastifyApplication[] = [];

  private constructor(private readonly stores: TestStores) {}

  static async start(options: Partial<WebhooksOptions> = {}): Promise<TestService> {
    const service = new TestService(await TestStores.create([...httpMigrations, ...webhooksMigrations]));
    await service.startAnother(options);
    return service;
  }

  readonly now = (): number => Date.now() + this.ahead;

  /** Another process of the same service, as far as one process can play two. */
  async startAnother(options: Partial<WebhooksOptions> = {}): Promise<NestFastifyApplication> {
    const outbound = new OutboundPolicy(parseOutboundAllow('127.0.0.1'));
    const all = new WebhooksOptions({ outbound, now: this.now, grace: 100, ...options });
    const app = await startModules([this.stores.module(), WebhooksModule.register(all)], this.log);
    await connectConsumers(app, 'webhooks');
    this.apps.push(app);
    return app;
  }

  get store() {
    return this.stores.store;
  }

  get database() {
    return this.stores.database;
  }

  get app(): NestFastifyApplication {
    return this.apps[0]!;
  }

  /** Lets time pass for the schedule. */
  pass(ms: number): void {
    this.ahead += ms;
    this.app.get(TargetStore).wake();
  }

  async stop(): Promise<void> {
    for (const app of this.apps) await app.close();
    await this.stores.drop();
  }

  send(method: Method, url: string, sent?: Sent): Promise<Answered> {
    return send(this.app, method, `/v1/webhooks${url}`, sent);
  }

  /** A new webhook for everything, with its secret. */
  async add(url: string, body: object = {}, as: Caller = 'writer'): Promise<{ id: string; secret: string }> {
    const added = await this.send('POST', '', { as, body: { url, event_types: ['*'], ...body } });
    if (added.status !== 201) throw new Error(`${added.status}: ${added.text}`);
    return added.json;
  }

  /** Something happens to a deployment, a new one unless one is given; answers its id. */
  async happen(event: DomainEvent = activated, tenant = TENANT, id = uuid()): Promise<string> {
    await this.store.append(`deployment-${id}`, 'any', [event], { tenant });
    return id;
  }

  /** The newest delivery of a webhook, with its attempts. */
  async newest(id: string): Promise<Answered['json']> {
    const { json } = await this.send('GET', `/${id}/deliveries?limit=1`);
    const found = json.resources[0];
    return found && (await this.send('GET', `/${id}/deliveries/${found.id}`)).json;
  }

  /** Waits until the newest delivery of a webhook has been tried so often; answers it. */
  async tried(id: string, attempts: number): Promise<Answered['json']> {
    return until(
      () => this.newest(id),
      (delivery) => delivery?.attempt_count >= attempts,
    );
  }
}

/** An event that is published as `revision.activated`. */
export const activated = {
  type: 'RevisionActivated',
  data: { revision_id: '7f0d0f6e-5c3e-4c1a-9a61-333333333333', previous_revision_id: null },
};
