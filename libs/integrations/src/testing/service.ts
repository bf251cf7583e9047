import { connectConsumers } from '@fairlead/eventing';
import { TestStores } from '@fairlead/eventing/testing';
import { httpMigrations } from '@fairlead/edge';
import { OutboundPolicy, parseOutboundAllow } from '@fairlead/outbound';
import { type Answered, type Method, provided, send, type Sent, startModules } from '@fairlead/edge/testing';
import {
  plainRepository,
  type PushFollower,
  PushFollowers,
  type VerdictAbout,
  VerdictReports,
} from '@fairlead/contracts';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { IntegrationsModule } from '../integrations.module';
import { IntegrationsOptions } from '../integration/integrations.options';
import { integrationsEntities, integrationsMigrations } from '../domain';

/** Longer than the machine stops for. */
const PATIENT = { headers: 60_000, body: 60_000 };
/** Times that tests can wait for; on a busy machine a host that answers may miss them. */
export const HASTY: typeof PATIENT = { headers: 1000, body: 1000 };

interface Started {
  readonly fresh?: number;
  readonly stale?: number;
  readonly allow?: string;
  readonly limits?: typeof PATIENT;
  readonly deliveries?: Partial<IntegrationsOptions['deliveries']>;
}

/** Markdown of verdicts, as the service of experiments would make it. */
class TestVerdicts extends VerdictReports {
  asked: VerdictAbout[] = [];
  more = '';

  override markdown(_: string, about: VerdictAbout): Promise<string> {
    this.asked.push(about);
    return Promise.resolve(`## ${about.name}: ${about.standing}${this.more}`);
  }
}

/** The integrations service alone over HTTP, on a database of its own. It may call 127.0.0.1. */
export class TestService {
  private constructor(
    readonly app: NestFastifyApplication,
    private readonly stores: TestStores,
    /** Every line logged so far. */
    readonly log: readonly string[],
    /** Stands for the deployments of the workspace. */
    readonly followers: PushFollower[],
    /** Stands for what experiments have shown. */
    readonly verdicts: TestVerdicts,
  ) {}

  static async start({
    fresh = 0,
    stale = 60_000,
    allow = '127.0.0.1',
    limits = PATIENT,
    deliveries = {},
  }: Started = {}): Promise<TestService> {
    const stores = await TestStores.create([...httpMigrations, ...integrationsMigrations], integrationsEntities);
    const outbound = new OutboundPolicy(parseOutboundAllow(allow), limits);
    const retry = { attempts: 3, backoff: 10, longestWait: 1500 };
    const options = new IntegrationsOptions(outbound, 'https://fairlead.example', retry, fresh, stale, 6000, 6000, {
      ...new IntegrationsOptions().deliveries,
      pauses: [20],
      ...deliveries,
    });
    const followers: PushFollower[] = [];
    class TestFollowers extends PushFollowers {
      override async of(_: string, __: string, repositories: readonly string[]) {
        return Promise.resolve(followers.filter(({ repo_url }) => repositories.includes(plainRepository(repo_url))));
      }
    }
    const log: string[] = [];
    const verdicts = new TestVerdicts();
    const deployments = provided(
      { provide: PushFollowers, useValue: new TestFollowers() },
      { provide: VerdictReports, useValue: verdicts },
    );
    const app = await startModules([deployments, stores.module(), IntegrationsModule.register(options)], log);
    await connectConsumers(app, 'integrations');
    return new TestService(app, stores, log, followers, verdicts);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.stores.drop();
  }

  get pool() {
    return this.stores.database.pool;
  }

  get store() {
    return this.stores.store;
  }

  send(method: Method, url: string, sent?: Sent): Promise<Answered> {
    return send(this.app, method, url, sent);
  }

  /** Lets a delivery have come some time before (ms). */
  async age(deliveryId: string, ms: number): Promise<void> {
    await this.stores.database.pool.query(
      `update integration_deliveries set received_at = received_at - $2 * interval '1 millisecond' where id = $1`,
      [deliveryId, ms],
    );
  }

  /** The number of rows of an integration in a table. */
  async rows(table: string, integrationId: string): Promise<number> {
    const { rows } = await this.stores.database.pool.query<{ count: number }>(
      `select count(*)::int as count from ${table} where integration_id = $1`,
      [integrationId],
    );
    return rows[0]!.count;
  }

  /** The id of a new integration. */
  async add(body: object): Promise<string> {
    const added = await this.send('POST', '/v1/integrations', { body: { name: 'host', ...body } });
    if (added.status !== 201) throw new Error(`${added.status}: ${added.text}`);
    return added.json.id as string;
  }
}
