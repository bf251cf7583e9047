import { randomBytes } from 'node:crypto';
import { PayloadStore } from '@fairlead/blobs';
import {
  Consistency,
  EventStore,
  eventingMigrations,
  Followers,
  parseMasterKeys,
  PostgresEventStore,
  type Projection,
  StoredBytes,
  Vault,
  ViewsGuard,
  Workspaces,
} from '@fairlead/eventing';
import { type Actor, Idempotency, type Route, routes } from '@fairlead/api';
import { createServer, httpMigrations, type ServerOptions } from '@fairlead/edge';
import { injected } from '@fairlead/edge/testing';
import { NotFound, Unauthorized } from '@fairlead/schema';
import { testDatabase } from '@fairlead/postgres/testing';
import { Module, type Provider, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Pool } from 'pg';
import { pino } from 'pino';
import { v4 as newId } from 'uuid';
import {
  Attachments,
  AwaitedFeedback,
  ExperimentLimits,
  LiveRuns,
  LiveRunsThread,
  NamedComparisons,
  PublicUrl,
  RefusedItems,
  RunBatches,
  RunsModule,
  SessionCommands,
  UploadThread,
} from '@fairlead/runs';
import { DatasetCommands, DatasetCopies, DatasetsModule, ExamplesThread } from '@fairlead/datasets';
import { experimentsView } from '../experiments.projection';
import { InfoController } from '../info.controller';
import { experimentsMigrations } from '../domain';
import { ExperimentsController } from '../sessions/experiments.controller';
import { SessionsController } from '../sessions/sessions.controller';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The parsed body. */
  readonly json: ReturnType<typeof JSON.parse>;
}

type Row = Readonly<Record<string, unknown>>;

/** The reading side on a database of its own, with two tenants `a` and `b`. */
export interface Reading {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly followers: Followers;
  readonly tenants: Readonly<Record<'a' | 'b', string>>;
  readonly routes: readonly Route[];
  send(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    body?: unknown,
    tenant?: 'a' | 'b',
    headers?: Record<string, string>,
  ): Promise<Answer>;
  get(url: string, tenant?: 'a' | 'b', headers?: Record<string, string>): Promise<Answer>;
  post(url: string, body: unknown, tenant?: 'a' | 'b'): Promise<Answer>;
  /** Inserts a row straight into a table and gives back its id. */
  insert(table: string, row: Row): Promise<string>;
  stop(): Promise<void>;
}

/** Additions of a library above this one to the server. */
export interface Added {
  readonly controllers: readonly Type[];
  readonly providers: readonly Provider[];
  readonly projections: readonly Projection[];
}

/** The service without libraries above it, in which feedback names no comparative experiments. */
const ALONE: Added = {
  controllers: [],
  providers: [{ provide: NamedComparisons, useValue: { find: () => Promise.reject(new NotFound()) } }],
  projections: [experimentsView()],
};

/** Starts the server on tables that are empty. */
export async function startReading(
  limits: ServerOptions['limits'] = {},
  ofExperiments: Partial<ExperimentLimits> = {},
  { controllers, providers, projections }: Added = ALONE,
): Promise<Reading> {
  const database = await testDatabase([...eventingMigrations, ...httpMigrations, ...experimentsMigrations]);
  const store = new PostgresEventStore(database.pool);
  const tenants = { a: newId(), b: newId() };
  const keys = parseMasterKeys(randomBytes(32).toString('base64'), 'the test');
  const vault = new Vault(database.pool, keys);

  @Module({
    controllers: [
      ...controllers,
      ExperimentsController,
      SessionsController,
      InfoController,
      ...DatasetsModule.controllers,
      ...RunsModule.controllers,
    ],
    providers: [
      ...providers,
      { provide: EventStore, useValue: store },
      { provide: Pool, useValue: database.pool },
      { provide: StoredBytes, useValue: new StoredBytes(database.pool) },
      { provide: ExperimentLimits, useValue: new ExperimentLimits(ofExperiments) },
      DatasetCopies,
      ExamplesThread,
      LiveRunsThread,
      UploadThread,
      { provide: PayloadStore, inject: [Pool], useFactory: (pool: Pool) => new PayloadStore(pool) },
      { provide: RunBatches, inject: [Pool], useFactory: (pool: Pool) => new RunBatches(pool) },
      { provide: PublicUrl, useValue: new PublicUrl() },
      RefusedItems,
      Attachments,
      { provide: Vault, useValue: vault },
      { provide: Idempotency, useValue: new Idempotency(database.pool, vault) },
      DatasetCommands,
      SessionCommands,
      AwaitedFeedback,
      LiveRuns,
      Followers,
      Workspaces,
      Consistency,
      Workspaces,
      { provide: APP_GUARD, useClass: ViewsGuard },
    ],
  })
  class ReadingModule {
    constructor(followers: Followers, awaited: AwaitedFeedback, liveRuns: LiveRuns) {
      for (const projection of [...projections, awaited, liveRuns]) followers.register(projection);
    }
  }

  const app = await createServer(ReadingModule, {
    logger: pino({ level: process.env.TEST_LOG ?? 'silent' }),
    limits,
    authenticate: (request) => {
      const key = String(request.headers['x-api-key']);
      if (key !== 'a' && key !== 'b') return Promise.reject(new Unauthorized());
      return Promise.resolve(actor(key, tenants[key]));
    },
  });
  const send: Reading['send'] = (method, url, body, tenant = 'a', headers) =>
    request(app, method, url, body, tenant, headers);
  return {
    pool: database.pool,
    store,
    followers: app.get(Followers),
    tenants,
    routes: routes(app),
    send,
    get: (url, tenant = 'a', headers) => request(app, 'GET', url, undefined, tenant, headers),
    post: (url, body, tenant) => send('POST', url, body, tenant),
    insert: (table, row) => insert(database.pool, table, row),
    async stop() {
      await app.close();
      await store.close();
      await database.drop();
    },
  };
}

function actor(key: string, tenantId: string): Actor {
  return { keyId: key, tenantId, organizationId: tenantId, scopes: new Set(['admin']) };
}

async function request(
  app: NestFastifyApplication,
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  body: unknown,
  tenant: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const sent = await payloadOf(body);
  const answer = await injected(app, {
    method,
    url,
    headers: { ...(sent && { 'content-type': sent.type }), ...headers, 'x-api-key': tenant },
    ...(sent && { payload: sent.payload }),
  });
  const json = /[/+]json\b/.test(String(answer.headers['content-type']))
    ? (JSON.parse(answer.payload) as unknown)
    : undefined;
  return { status: answer.statusCode, text: answer.payload, headers: answer.headers, json };
}

/** Text and bytes as they are, parts of a form, other values as JSON. */
async function payloadOf(body: unknown): Promise<{ payload: string | Buffer; type: string } | undefined> {
  if (body === undefined) return undefined;
  if (body instanceof FormData) {
    const form = new Response(body);
    return { payload: Buffer.from(await form.arrayBuffer()), type: form.headers.get('content-type')! };
  }
  return {
    payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
    type: 'application/json',
  };
}

async function insert(pool: Pool, table: string, row: Row): Promise<string> {
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  await pool.query(`insert into ${table} (${columns.join(', ')}) values (${places.join(', ')})`, Object.values(row));
  return String(row.id);
}

/** Rows with everything that a table needs, to be changed where a test cares. */
export const rows = {
  dataset: (tenant: string, row: Row = {}): Row => ({
    id: newId(),
    tenant_id: tenant,
    name: `dataset-${newId()}`,
    created_at: '2026-01-01T00:00:00Z',
    modified_at: '2026-01-01T00:00:00Z',
    externally_managed: true,
    version: 1,
    ...row,
  }),
  session: (tenant: string, row: Row = {}): Row => ({
    id: newId(),
    tenant_id: tenant,
    name: `session-${newId()}`,
    start_time: '2026-01-01T00:00:00Z',
    created_at: '2026-01-01T00:00:00Z',
    trace_tier: 'longlived',
    persisted: true,
    run_count: 0,
    version: 1,
    ...row,
  }),
  example: (tenant: string, dataset: string, row: Row = {}): Row => ({
    id: newId(),
    dataset_id: dataset,
    tenant_id: tenant,
    valid_from: '2026-01-01T00:00:00Z',
    created_at: '2026-01-01T00:00:00Z',
    name: 'example',
    inputs: '{"question":1}',
    ...row,
  }),
  run: (tenant: string, session: string, row: Row = {}): Row => ({
    id: newId(),
    tenant_id: tenant,
    session_id: session,
    name: 'run',
    run_type: 'chain',
    start_time: '2026-01-01T00:00:00Z',
    end_time: '2026-01-01T00:00:01Z',
    status: 'success',
    inputs: '{}',
    row_number: 0,
    ...row,
  }),
  feedback: (tenant: string, session: string, row: Row = {}): Row => ({
    id: newId(),
    tenant_id: tenant,
    session_id: session,
    key: 'quality',
    source_type: 'api',
    created_at: '2026-01-01T00:00:00Z',
    modified_at: '2026-01-01T00:00:00Z',
    ...row,
  }),
};

/** JSON that breaks naive code: escapes that databases refuse, numbers beyond doubles, doubled and special names. */
export const HOSTILE =
  '{ "nul":"a\\u0000b", "lone":"\\ud800", "escaped":"\\\\u0000", "pair":"\\ud83d\\ude00", "__proto__":{"x":1}, "big":12345678901234567890,' +
  ' "huge":1e400, "one":1.0, "twice":1, "twice":2, "deep":[[[[[]]]]], "text":"é\\u00e9" }';
