import { type Route, routes } from '@fairlead/api';
import { type createServer as create } from '@fairlead/edge';
import { EventStore, Followers } from '@fairlead/eventing';
import { type TestDatabase, until } from '@fairlead/postgres/testing';
import { Installation, OPERATOR, type ServiceProcess, type startWhole } from '@fairlead/service/testing';
import { type CommandPlace, Executor } from '@fairlead/executors';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Outside, startOutside } from './outside';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export type Headers = Readonly<Record<string, string>>;

/** The whole service, with clients of as many tenants as a test wants, and what it calls in the world outside. */
export class RouteService {
  private constructor(
    private readonly installation: Installation,
    readonly app: NestFastifyApplication,
    readonly outside: Outside,
    /** All its routes. */
    readonly table: readonly Route[],
  ) {}

  /** Starts the service; `created` is the spied `createServer` that will be called for it, `token` what providers give out. */
  static async start(
    created: jest.MockedFunction<typeof create>,
    token: string,
    environment: Readonly<Record<string, string>> = {},
    startUp?: typeof startWhole,
  ): Promise<RouteService> {
    const installation = await Installation.start({ OUTBOUND_ALLOW: '127.0.0.1', ...environment }, startUp);
    const outside = await startOutside(token);
    const app = (await created.mock.results.at(-1)!.value) as NestFastifyApplication;
    return new RouteService(installation, app, outside, routes(app));
  }

  /** A subject that a consumer gave up on, of no tenant. */
  async parkedSubject(): Promise<string> {
    const { rows } = await this.installation.database.pool.query<{ id: string }>(
      `insert into parked_subjects (consumer, subject, event_type, version, last_version, attempts, reason)
       values ('gone.Sent', $1, 'Sent', 1, 1, 10, 'no such street') returning id`,
      [`parcel-${crypto.randomUUID()}`],
    );
    return rows[0]!.id;
  }

  /** Lets an executor have deployed a revision of a deployment that has none, as its rollout would report it. */
  async deployedBy(executor: string, deploymentId: string): Promise<void> {
    const store = this.app.get(EventStore);
    const stream = `deployment-${deploymentId}`;
    const [created] = await store.read(stream);
    const data = { revision_id: crypto.randomUUID(), previous_revision_id: null, executor };
    const events = [
      { type: 'RevisionActivated', data },
      { type: 'DeploymentProvisioned', data: {} },
    ] as const;
    await store.append(stream, 'any', events, { tenant: created!.metadata.tenant });
  }

  /** Lets the commit of a revision be found out, as its rollout would report it. */
  async resolvedCommit(deploymentId: string, revision_id: string): Promise<void> {
    const store = this.app.get(EventStore);
    const stream = `deployment-${deploymentId}`;
    const [created] = await store.read(stream);
    const data = { revision_id, repo_commit_sha: 'c'.repeat(40) };
    await store.append(stream, 'any', [{ type: 'RevisionCommitResolved', data }], { tenant: created!.metadata.tenant });
  }

  /** Lets the executor of the service have deployed a deployment, and answer commands without running them. */
  async takesCommands(deploymentId: string): Promise<void> {
    const executor = this.app.get(Executor, { strict: false });
    await this.deployedBy(executor.name, deploymentId);
    const run: CommandPlace['run'] = async (words, take) => {
      await take('stdout', `${words.join(' ')}\n`);
      return { exitCode: 0, reason: null };
    };
    executor.commands = async () => ({ revisionId: crypto.randomUUID(), secrets: [], run, close: () => undefined });
  }

  /** Another server of the installation, in a process of its own; it is not started yet. */
  another(preload: readonly string[]): ServiceProcess<'standalone'> {
    return this.installation.another(preload);
  }

  get database(): TestDatabase {
    return this.installation.database;
  }

  /** Rows of the database. */
  async query<T extends object>(text: string, values: unknown[] = []): Promise<T[]> {
    return (await this.installation.database.pool.query<T>(text, values)).rows;
  }

  /** Keeps a follower from moving its checkpoint until the function that is given back is called. */
  async holdCheckpoint(follower: string): Promise<() => Promise<void>> {
    const client = await this.installation.database.pool.connect();
    await client.query('begin');
    await client.query('select from checkpoints where name = $1 for update', [follower]);
    return async () => {
      await client.query('rollback');
      client.release();
    };
  }

  /**
   * Resolves when nothing is under way in the background: no rollout has anything left to do, and every view and
   * consumer has handled the whole log.
   */
  async rest(): Promise<void> {
    const [store, followers] = [this.app.get(EventStore), this.app.get(Followers)];
    await until(async () => {
      const head = await store.head();
      const names = (await followers.status()).map(({ name }) => name);
      if (!(await followers.passed(head, names, 60_000))) return false;
      const rollouts = await this.query('select from rollout_duties where holder is not null or due_at <= now()');
      return rollouts.length === 0 && (await store.head()) === head;
    });
  }

  get url(): string {
    return this.installation.url;
  }

  /** Sends a request with a JSON body, or with a form. */
  request(method: string, path: string, key: string, body?: object, headers: Headers = {}): Promise<Response> {
    return fetch(this.url + path, {
      method,
      headers: {
        'x-api-key': key,
        ...(body && !(body instanceof FormData) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
  }

  async send(...request: Parameters<RouteService['request']>): Promise<Answer> {
    const response = await this.request(...request);
    return { status: response.status, text: await response.text() };
  }

  /** The JSON of an answer. @throws Error unless it is a success. */
  async ask<T>(...request: Parameters<RouteService['request']>): Promise<T> {
    const { status, text } = await this.send(...request);
    const [method, path] = request;
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return JSON.parse(text) as T;
  }

  /** A key of a new tenant that may do everything there. */
  async newTenant(name: string): Promise<string> {
    const { id } = await this.ask<{ id: string }>('POST', '/api/v1/workspaces', OPERATOR, { display_name: name });
    const body = { scopes: ['admin', 'secrets:read', 'tokens:read'], description: name };
    return (await this.ask<{ key: string }>('POST', '/api/v1/api-key', OPERATOR, body, { 'x-tenant-id': id })).key;
  }

  async stop(): Promise<void> {
    this.outside.stop();
    await this.installation.stop();
  }
}

/** Asks until the answer holds what is wanted: read models follow uploads within seconds. */
export async function askUntil<T>(found: () => Promise<T | undefined>): Promise<T> {
  return until(found, (value) => value !== undefined);
}
