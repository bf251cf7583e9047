import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  connectConsumers,
  eventingMigrations,
  EventingModule,
  EventStore,
  Followers,
  parseMasterKeys,
  ParkedSubjects,
  PostgresEventStore,
  QUOTA_DEFAULTS,
  Vault,
} from '@fairlead/eventing';
import { type Actor } from '@fairlead/api';
import { createServer, httpMigrations } from '@fairlead/edge';
import { isBehind } from '@fairlead/edge/testing';
import { NotFound, Unauthorized } from '@fairlead/schema';
import { testDatabase } from '@fairlead/postgres/testing';
import { type DynamicModule, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { v4 as uuid } from 'uuid';
import type { ExperimentLimits, NamedComparisons } from '@fairlead/runs';
import { ExperimentsModule } from '../experiments.module';
import { experimentsView } from '../experiments.projection';
import { experimentsMigrations } from '../domain';

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body. */
  readonly json: ReturnType<typeof JSON.parse>;
}

type Chunks = Iterable<Buffer | string> | AsyncIterable<Buffer | string>;

/** The whole service on a database of its own, with two tenants `a` and `b`. */
export interface Uploading {
  readonly app: NestFastifyApplication;
  readonly pool: Pool;
  /** Address of the database. */
  readonly url: string;
  readonly store: EventStore;
  readonly followers: Followers;
  readonly tenants: Readonly<Record<'a' | 'b', string>>;
  /** Uploads a body: JSON of an object, or bytes as they are. */
  upload(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, tenant?: 'a' | 'b'): Promise<Answer>;
  send(method: string, path: string, body: Chunks, headers?: Record<string, string>): Promise<Answer>;
  /** Resolves when everything that happened so far can be read. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

/** Feedback names no comparative experiments where no library is above this one. */
class NoComparisons implements NamedComparisons {
  find(): Promise<never> {
    return Promise.reject(new NotFound());
  }
}

/** The service without libraries above it. */
function aloneModule(limits: Partial<ExperimentLimits>): DynamicModule {
  @Module({})
  class AloneModule {
    constructor(followers: Followers) {
      followers.register(experimentsView());
    }
  }
  return { module: AloneModule, imports: [ExperimentsModule.register(NoComparisons, limits)] };
}

export async function startUploading(
  limits: Partial<ExperimentLimits> = {},
  storedBytes?: number,
  moduleOf = aloneModule,
): Promise<Uploading> {
  const database = await testDatabase([...eventingMigrations, ...httpMigrations, ...experimentsMigrations]);
  const store = new PostgresEventStore(database.pool);
  const tenants = { a: uuid(), b: uuid() };
  const keys = parseMasterKeys(randomBytes(32).toString('base64'), 'the test');
  const vault = new Vault(database.pool, keys);
  const quotas = { ...QUOTA_DEFAULTS, ...(storedBytes !== undefined && { stored_bytes: storedBytes }) };
  const eventing = EventingModule.forRoot({ store, db: database.db, pool: database.pool, vault, quotas });

  @Module({ imports: [eventing, moduleOf(limits)] })
  class TestModule {}

  const app = await createServer(TestModule, {
    logger: pino({ level: process.env.TEST_LOG ?? 'silent' }),
    authenticate(incoming): Promise<Actor> {
      const tenantId = tenants[incoming.headers['x-api-key'] as 'a' | 'b'] as string | undefined;
      if (!tenantId) return Promise.reject(new Unauthorized());
      return Promise.resolve({ keyId: 'k', tenantId, organizationId: 'o', scopes: new Set(['admin' as const]) });
    },
  });
  const followers = app.get(Followers);
  await connectConsumers(app, 'test');
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;

  const send: Uploading['send'] = (method, path, body, headers = {}) => exchange(port, method, path, body, headers);
  return {
    app,
    pool: database.pool,
    url: database.url,
    store,
    followers,
    tenants,
    send,
    upload(body, headers = {}) {
      const bytes = Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body);
      return send('POST', '/api/v1/datasets/upload-experiment', [bytes], headers);
    },
    async get(path, tenant = 'a') {
      for (;;) {
        const answer = await send('GET', path, [], { 'x-api-key': tenant });
        if (!isBehind(answer.status, answer.text)) return answer;
      }
    },
    async settled() {
      // What a follower appends is waited for as well.
      for (let position = -1n; position !== (await store.head());) {
        position = await store.head();
        if (!(await followers.passed(position, undefined, 60_000))) throw new Error(await lag(followers));
        // What a consumer was not ready for is tried again.
        while ((await app.get(ParkedSubjects).list(1)).length > 0) await delay(5);
      }
    },
    async stop() {
      await app.close();
      await store.close();
      await database.drop();
    },
  };
}

async function lag(followers: Followers): Promise<string> {
  const status = await followers.status();
  return status.map(({ name, position, failing }) => `${name} at ${position}: ${failing ?? 'slow'}`).join('\n');
}

function exchange(
  port: number,
  method: string,
  path: string,
  body: Chunks,
  headers: Record<string, string>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      port,
      host: '127.0.0.1',
      method,
      path,
      headers: { 'x-api-key': 'a', ...(method === 'GET' ? {} : { 'content-type': 'application/json' }), ...headers },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const json: unknown = /[/+]json\b/.test(incoming.headers['content-type'] ?? '') ? JSON.parse(text) : undefined;
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json });
      });
    });
    void (async () => {
      try {
        for await (const chunk of body)
          if (!outgoing.write(chunk)) await new Promise((go) => outgoing.once('drain', go));
        outgoing.end();
      } catch (error) {
        outgoing.destroy(error as Error);
      }
    })();
  });
}

/** A valid upload of `rows` rows with the given members on top. */
export function experiment(members: Record<string, unknown> = {}, rows: readonly unknown[] = [row()]) {
  const made = {
    experiment_name: `experiment ${uuid()}`,
    experiment_start_time: '2026-01-01T00:00:00Z',
    experiment_end_time: '2026-01-02T00:00:00Z',
    dataset_name: `dataset ${uuid()}`,
    results: rows,
  };
  return { ...made, ...members };
}

/** A valid row with the given members on top. */
export function row(members: Record<string, unknown> = {}) {
  const made = {
    row_id: uuid(),
    inputs: { question: 'How deep is it?' },
    start_time: '2026-01-01T10:00:00.000001',
    end_time: '2026-01-01T10:00:01.500001Z',
  };
  return { ...made, ...members };
}
