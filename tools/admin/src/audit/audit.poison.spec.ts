import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { categoryOf, idOf, LogSigner, ParkedSubjects, Rebuild, type Recorded } from '@fairlead/eventing';
import { type TestDatabase, testDatabase, until } from '@fairlead/postgres/testing';
import { type Installation, openInstallation, readModels } from '..';
import fc from 'fast-check';
import { readSettings, type Standalone, startStandalone } from '@fairlead/standalone';
import { checkLog } from './log-check';
import { fill, type Filled, type Send } from '../testing/fill';
import { isFollowed, metric } from '../testing/settled';

const KEY = 'poison-spec-operator-key';
/** The workspace that every installation begins with. */
const DEFAULT = '00000000-0000-4000-8000-000000000001';

let folder: string;
let database: TestDatabase;
let standalone: Standalone;
let installation: Installation;

const settings = () => ({ DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: folder });
const start = () =>
  startStandalone(
    readSettings({ ...settings(), PORT: '0', FAIRLEAD_API_KEY: KEY, LOG_LEVEL: 'silent', EXECUTOR: 'record' }),
  );

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-poison-'));
  database = await testDatabase([]);
  standalone = await start();
  installation = await openInstallation(settings());
});
afterAll(async () => {
  await installation.close();
  await standalone.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A client of one workspace, which tries again while the views have many events before them. */
function clientOf(tenant: string): Send {
  return async (method, path, body) => {
    for (const deadline = Date.now() + 120_000; ;) {
      const answer = await fetch(standalone.url + path, {
        method,
        headers: { 'x-api-key': KEY, 'x-tenant-id': tenant, 'content-type': 'application/json' },
        body: body && JSON.stringify(body),
      });
      const text = await answer.text();
      if (answer.ok) return text === '' ? { id: '' } : JSON.parse(text);
      if (answer.status !== 503 || Date.now() > deadline)
        throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    }
  };
}

/** Another workspace, of which the operator's key is as well. */
const newTenant = async () =>
  (await clientOf(DEFAULT)('POST', '/api/v1/workspaces', { display_name: randomUUID() })).id;

/** One recorded event of each type of a workspace, or all of them. */
async function recorded(tenant: string, all = false): Promise<Recorded[]> {
  const events = new Map<string, Recorded>();
  const { store } = installation;
  const head = await store.head();
  for await (const batch of store.subscribe(0n, new AbortController().signal)) {
    const own = batch.events.filter(({ metadata }) => metadata.tenant === tenant);
    for (const event of own) events.set(all ? event.id : `${event.type} ${event.version === 1}`, event);
    if (batch.position >= head) break;
  }
  return [...events.values()];
}

/** Values that replace every leaf of an event's data. */
const LEAVES: unknown[] = [
  null,
  undefined,
  1e308,
  -1,
  '',
  'a\0b',
  '\ud800',
  'x'.repeat(20_000),
  '9999999999-13-45T00:00:00Z',
  '{"metadata":{"a":1e999999,"b":"\\u0000"}}',
  '{"cut',
  { deep: [[[[]]]] },
];

/** Number of mutations of one leaf that are tried. */
const CASES = Number(process.env.POISON_CASES ?? 40);
/** Every run of the tests tries the same cases; other seeds are tried by hand. */
const SEED = 379_495_791;
/** Appends at a time. */
const AT_ONCE = 25;
/** Types of events that must be among the mutated ones, at least one of each service. */
const NEEDED = [
  ...['DeploymentCreated', 'RevisionCreated', 'ListenerCreated', 'WebhookAdded', 'WebhookChanged'],
  ...['IntegrationAdded', 'IntegrationChanged', 'OAuthProviderAdded', 'OAuthProviderChanged'],
  ...['ExperimentUploaded', 'RunsReceived', 'FeedbackAdded', 'ComparativeExperimentCreated', 'DatasetCreated'],
];

function replaced(value: unknown, leaf: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => replaced(item, leaf));
  if (typeof value !== 'object' || value === null) return leaf;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, replaced(member, leaf)]));
}

/** Where the leaves of an event's data are. */
function paths(value: unknown, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  if (Array.isArray(value)) return value.flatMap((item, nth) => paths(item, [...at, nth]));
  return Object.entries(value).flatMap(([name, member]) => paths(member, [...at, name]));
}

/** The data with one leaf in place of the one at a path. */
function replacedAt(value: unknown, [first, ...rest]: readonly (string | number)[], leaf: unknown): unknown {
  if (first === undefined) return leaf;
  if (Array.isArray(value)) return value.map((item, nth) => (nth === first ? replacedAt(item, rest, leaf) : item));
  const members = value as Record<string, unknown>;
  return { ...members, [first]: replacedAt(members[first], rest, leaf) };
}

/** Up to so many events with one wrong leaf each, chosen by the seed. */
function singleMutations(samples: readonly Recorded[], seed: number): { sample: Recorded; data: unknown }[] {
  const leaves = samples.flatMap((sample) => paths(sample.data).map((path) => ({ sample, path })));
  const chosen = fc.sample(fc.tuple(fc.constantFrom(...leaves), fc.constantFrom(...LEAVES)), {
    seed,
    numRuns: CASES,
  });
  return chosen.map(([{ sample, path }, leaf]) => ({ sample, data: replacedAt(sample.data, path, leaf) }));
}

/** The event's data made wrong in every way, and its data as they are: ids and names that are in use. */
function mutations({ data }: Recorded): unknown[] {
  return [data, {}, null, [], 'text', ...LEAVES.map((leaf) => replaced(data, leaf))];
}

/** Waits until every follower has handled all that is recorded. */
const settled = () => until(() => isFollowed(standalone.url));

/** Every row of every table of the read models, by table and key, but of the audit log, which grows with each event. */
async function rowsOfAll(): Promise<Map<string, string>> {
  const rows = new Map<string, string>();
  for (const table of readModels(installation).flatMap(({ tables }) => tables)) {
    if (table === 'audit_log') continue;
    const { rows: found } = await installation.pool.query<{ key: string; row: string }>(
      `select t::text as row, (select json_build_array(${await keyOf(table)}))::text as key from ${table} t`,
    );
    for (const { key, row } of found) rows.set(`${table} ${key}`, row);
  }
  return rows;
}

async function keyOf(table: string): Promise<string> {
  const { rows } = await installation.pool.query<{ name: string }>(
    `select 't.' || quote_ident(attname) as name from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey)
     where indrelid = $1::regclass and indisprimary order by attnum`,
    [table],
  );
  return rows.map(({ name }) => name).join(', ');
}

/** The same events in streams of another workspace, as they are and adapted to it in part. */
interface Forged {
  readonly stream: string;
  readonly events: readonly { readonly type: string; readonly data: unknown }[];
}

/** Events that name the rows of a victim, beside the recorded ones: by category, so that they can follow a creation. */
function followUps(ids: Readonly<Record<string, string>>): Readonly<Record<string, Forged['events']>> {
  const time = '2026-01-01T00:00:00.000Z';
  const status = { previous_status: 'QUEUED', status: 'DEPLOY_FAILED' };
  const host = { deployment_id: ids.deployment, status: 'REMOVED' };
  return {
    deployment: [
      { type: 'RevisionStatusChanged', data: { revision_id: ids.revision, ...status } },
      { type: 'RevisionCommitResolved', data: { revision_id: ids.revision, repo_commit_sha: 'f'.repeat(40) } },
      { type: 'DeploymentDeleted', data: { name: 'agent', deployment_id: ids.deployment } },
    ],
    experiment: [
      { type: 'FeedbackChanged', data: { id: ids.feedback, score: 0, modified_at: time } },
      { type: 'FeedbackDeleted', data: { id: ids.feedback } },
      { type: 'SessionDeleted', data: {} },
    ],
    dataset: [{ type: 'DatasetDeleted', data: {} }],
    webhook: [{ type: 'WebhookRemoved', data: { webhook_id: ids.webhook } }],
    integration: [{ type: 'IntegrationRemoved', data: { integration_id: ids.integration } }],
    oauthProvider: [{ type: 'OAuthProviderRemoved', data: {} }],
    oauthToken: [
      { type: 'OAuthTokenDisconnected', data: { connection_id: ids.connection } },
      { type: 'OAuthTokenChanged', data: { is_default: true } },
    ],
    comparativeExperiment: [{ type: 'ComparativeExperimentDeleted', data: {} }],
    host: [{ type: 'HostStatusReported', data: host }],
    apiKey: [{ type: 'ApiKeyRevoked', data: { id: ids.key } }],
  };
}

/**
 * Another workspace's streams that repeat what a workspace recorded: all ids kept, or the stream's own changed to fit.
 * `adapted` changes JSON text to name what the other workspace has.
 */
function forgeries(
  samples: readonly Recorded[],
  adapted: (text: string) => string,
  ids: Readonly<Record<string, string>>,
): Forged[] {
  const forged: Forged[] = [];
  const more = followUps(ids);
  for (const category of new Set([...samples.map(({ stream }) => categoryOf(stream)), ...Object.keys(more)])) {
    const own = samples.filter(({ stream }) => categoryOf(stream) === category);
    const creations = own.filter(({ version }) => version === 1);
    const others = [...own.filter(({ version }) => version > 1), ...(more[category] ?? [])];
    const made = () => `${category}-${randomUUID()}`;
    for (const { type, data } of [...own, ...others]) {
      const fitting = JSON.parse(adapted(JSON.stringify(data))) as unknown;
      for (const one of [data, fitting]) forged.push({ stream: made(), events: [{ type, data: one }] });
    }
    for (const creation of creations) {
      const victim = idOf(creation.stream);
      for (const other of others) {
        const stream = made();
        const fitted = (value: unknown, keep = false): unknown => {
          const text = adapted(JSON.stringify(value));
          return JSON.parse(keep ? text : text.replaceAll(victim, idOf(stream)));
        };
        const begun = { type: creation.type, data: fitted(creation.data) };
        forged.push({ stream, events: [begun, { type: other.type, data: fitted(other.data, true) }] });
      }
    }
  }
  return forged;
}

/** Records a token and the agent that uses it: no request makes them without a provider that answers. */
async function grantToken(tenant: string, provider: string, connection: string): Promise<void> {
  const id = randomUUID();
  const sealed = { subject: id, sealed: '1.aaaaaaaaaaa.bbbb' };
  const grant = { id, tenant_id: tenant, provider, provider_id: 'login', user_id: null, is_default: true };
  const scopes = { scopes: [], requested_scopes: [], issued_by: 'https://login.example' };
  const ends = { obtained_at: '2026-01-01T00:00:00.000Z', expires_at: null };
  const data = { ...grant, ...scopes, ...ends, access_token: sealed, refresh_token: null };
  const connected = { connection_id: connection, agent_id: 'agent', created_by: 'somebody' };
  await installation.store.append(
    `oauthToken-${id}`,
    0,
    [
      { type: 'OAuthTokenGranted', data },
      { type: 'OAuthTokenConnected', data: connected },
    ],
    { tenant },
  );
}

/** Tables that keep rows about a removed workspace. Answers for repeated requests end by themselves. */
const KEPT = new Set([
  ...['tenants', 'stopped_workspaces', 'workspace_removals', 'audit_log', 'refused_requests', 'idempotency_keys'],
  ...['stored_bytes', 'stored_run_bytes'],
]);

/** The tables that hold something of a workspace. */
async function tablesWith(tenant: string): Promise<string[]> {
  const { rows } = await installation.pool.query<{ name: string }>(
    `select table_name as name from information_schema.columns
     where column_name = 'tenant_id' and table_schema = 'public' order by 1`,
  );
  const counts = rows.map(async ({ name }) => {
    const found = await installation.pool.query(`select from ${name} where tenant_id::text = $1 limit 1`, [tenant]);
    return found.rowCount === 0 || KEPT.has(name) ? [] : [name];
  });
  return (await Promise.all(counts)).flat();
}

/** Makes every read model again beside the live one; answers how they differ, and puts the new ones in place. */
async function replayed(): Promise<string[]> {
  const { store, pool, url } = installation;
  const found: string[] = [];
  for (const model of readModels(installation)) {
    const rebuild = new Rebuild(store, pool, url, model);
    try {
      await rebuild.fill();
      found.push(...(await rebuild.compare()).differences.map((one) => JSON.stringify(one)));
      await rebuild.swap();
      found.push(...rebuild.leftOut().map((one) => JSON.stringify(one)));
    } finally {
      await rebuild.close();
    }
  }
  return found;
}

it('a removal of a workspace that a restart interrupts goes on, and replay and audit find nothing wrong', async () => {
  const { store, pool, vault } = installation;
  const tenant = await newTenant();
  const filled = await fill(clientOf(tenant));
  await grantToken(tenant, filled.oauth_providers!, randomUUID());
  await settled();
  expect((await tablesWith(tenant)).length).toBeGreaterThan(10);
  // One part cannot get on while its view stands still.
  const holder = await pool.connect();
  await holder.query('begin');
  await holder.query(`select from checkpoints where name = 'experiments-view' for update`);
  const operator = clientOf(DEFAULT);
  await operator('DELETE', `/api/v1/workspaces/${tenant}`);
  const done = async () =>
    (await pool.query(`select from workspace_removals where tenant_id = $1 and done_at is not null`, [tenant]))
      .rowCount;
  while ((await done())! < 1);
  const stopping = standalone.stop();
  await holder.query('rollback');
  holder.release();
  await stopping;
  const status = await pool.query('select status from stopped_workspaces where tenant_id = $1', [tenant]);
  expect(status.rows).toEqual([{ status: 'removing' }]);
  standalone = await start();
  while ((await operator('GET', `/api/v1/workspaces/${tenant}`)).status !== 'removed');
  await until(
    () => tablesWith(tenant),
    (tables) => tables.length === 0,
  );
  await settled();
  expect(await replayed()).toEqual([]);
  expect(await tablesWith(tenant)).toEqual([]);
  expect(await replayed()).toEqual([]);
  const trust = { sealEveryMs: 3_600_000 };
  const { findings } = await checkLog(store, pool, new LogSigner(store, vault), trust, () => undefined);
  expect(findings).toEqual([]);
});

it('no event in a stream of one workspace changes a row of another one', async () => {
  const { store, pool } = installation;
  const victim = await newTenant();
  const attacker = await newTenant();
  const send = clientOf(victim);
  const filled = await fill(send);
  const connection = randomUUID();
  await grantToken(victim, filled.oauth_providers!, connection);
  const { id: key } = await send('POST', '/api/v1/api-key', { scopes: ['read'], description: 'theirs' });
  const mine = await fill(clientOf(attacker));
  const moving = `select from revisions where status not in ('DEPLOYED', 'SKIPPED', 'INTERRUPTED')`;
  do await settled();
  while ((await pool.query(moving)).rowCount);
  const samples = (await recorded(victim)).filter(({ type }) => !type.startsWith('Tenant'));
  expect(samples.map(({ type }) => type)).toEqual(
    expect.arrayContaining([...NEEDED, 'OAuthTokenGranted', 'OAuthTokenConnected', 'ApiKeyCreated']),
  );
  const revisions = await pool.query<{ id: string }>('select id from revisions where deployment_id = $1', [
    filled.deployments,
  ]);
  const ids = {
    deployment: filled.deployments!,
    revision: revisions.rows[0]!.id,
    feedback: filled.feedback!,
    webhook: filled.webhooks!,
    integration: filled.integrations!,
    connection,
    key,
  };
  const before = await rowsOfAll();
  const targets = () => pool.query(`select * from webhook_targets where tenant_id = $1`, [victim]);
  const sealed = () =>
    pool.query('select subject from data_keys where subject = any($1) order by 1', [Object.values(filled)]);
  const [targetsBefore, sealedBefore] = [await targets(), await sealed()];
  const body = async (tenant: string) =>
    (await pool.query<{ sha256: string }>('select sha256 from payloads where tenant_id = $1', [tenant])).rows[0]!
      .sha256;
  const [theirBody, ownBody] = [await body(victim), await body(attacker)];
  const forged = forgeries(samples, (text) => text.replaceAll(victim, attacker).replaceAll(theirBody, ownBody), ids);
  for (let at = 0; at < forged.length; at += AT_ONCE) {
    await Promise.all(
      forged.slice(at, at + AT_ONCE).map(({ stream, events }) => store.append(stream, 0, events, { tenant: attacker })),
    );
  }
  await settled();
  const after = await rowsOfAll();
  const changed = [...before].filter(([name, row]) => after.get(name) !== row);
  expect(changed.map(([name, row]) => ({ name, row, now: after.get(name) }))).toEqual([]);
  expect((await sealed()).rows).toEqual(sealedBefore.rows);
  expect((await targets()).rows.map(({ webhook_id, removed }) => [webhook_id, removed])).toEqual(
    targetsBefore.rows.map(({ webhook_id }) => [webhook_id, false]),
  );
  // Both go on as before.
  await send('PATCH', `/v1/integrations/${filled.integrations}`, { name: 'still theirs' });
  await clientOf(attacker)('PATCH', `/v1/integrations/${mine.integrations}`, { name: 'still mine' });
});

it('no event stops a projection, a consumer, a replay or an audit', async () => {
  const seed = Number(process.env.POISON_SEED ?? SEED);
  try {
    await poison(seed);
  } catch (error) {
    throw new Error(`It fails with POISON_SEED=${seed}.`, { cause: error });
  }
});

async function poison(seed: number): Promise<void> {
  const send = clientOf(DEFAULT);
  await fill(send);
  await settled();
  const { store } = installation;
  const samples = await recorded(DEFAULT);
  expect(samples.length).toBeGreaterThan(15);
  expect(samples.map(({ type }) => type)).toEqual(expect.arrayContaining(NEEDED));
  const before = [...(await rowsOfAll()).keys()];
  const real = new Set((await recorded(DEFAULT, true)).map(({ stream }) => stream));
  const wrong = [
    ...samples.flatMap((sample) => mutations(sample).map((data) => ({ sample, data }))),
    ...singleMutations(samples, seed),
  ];
  const streams = new Set<string>();
  for (let at = 0; at < wrong.length; at += AT_ONCE) {
    const appends = wrong.slice(at, at + AT_ONCE).map(({ sample: { stream, type, metadata }, data }) => {
      const another = `${categoryOf(stream)}-${randomUUID()}`;
      streams.add(another);
      return store.append(another, 0, [{ type, data }], metadata);
    });
    await Promise.all(appends);
  }
  // Others are served while what cannot be applied is set aside, and afterwards: their events are applied.
  await fillAgain();
  const others = await fill(clientOf(await newTenant()));
  await settled();
  const now = await rowsOfAll();
  const isOf = (name: string, made: Filled) =>
    Object.entries(made).some(([table, id]) => name.startsWith(`${table} `) && name.includes(id));
  expect([...now.keys()].filter((name) => isOf(name, others))).toHaveLength(Object.keys(others).length);
  expect(before.filter((name) => !now.has(name))).toEqual([]);
  expect(
    [...(await metric(standalone.url, 'fairlead_follower_failing'))].filter(([, failing]) => failing !== 0),
  ).toEqual([]);
  await fillAgain();
  const ready = await fetch(`${standalone.url}/health/ready`);
  expect(ready.status).toBe(200);
  const parked = await new ParkedSubjects(installation.pool).list(10_000);
  expect(new Set(parked.map(({ consumer }) => consumer))).toContain('experiments-view');
  for (const { subject, reason, event_type: type, attempts } of parked.filter(({ subject }) => streams.has(subject))) {
    expect({ subject, reason }).toEqual({ subject, reason: expect.stringMatching(/\S/) });
    expect({ type, known: samples.some((sample) => sample.type === type) }).toEqual({ type, known: true });
    expect(attempts).toBeGreaterThan(0);
  }
  // Nothing that was right is set aside.
  expect(parked.filter(({ subject }) => real.has(subject))).toEqual([]);

  const left = [];
  for (const model of readModels(installation)) {
    const rebuild = new Rebuild(store, installation.pool, installation.url, model);
    try {
      await rebuild.fill();
      await rebuild.compare();
      await rebuild.swap();
      left.push(...rebuild.leftOut());
    } finally {
      await rebuild.close();
    }
  }
  expect(left.map(({ projection }) => projection)).toEqual(expect.arrayContaining(['experiments-view']));
  await fillAgain();
  const made = await rowsOfAll();
  expect(before.filter((name) => !made.has(name))).toEqual([]);
  expect([...now.keys()].filter((name) => isOf(name, others) && !made.has(name))).toEqual([]);
  const { rows } = await installation.pool.query<{ stream: string }>(
    `select consumer || ' ' || subject as stream from parked_subjects where consumer = 'experiments-view' order by 1`,
  );
  const ours = left.filter(({ projection }) => projection === 'experiments-view');
  expect(rows.map(({ stream }) => stream)).toEqual(
    ours.map(({ projection, stream }) => `${projection} ${stream}`).sort(),
  );
}

/** Writes and reads a session. */
async function fillAgain(): Promise<void> {
  const send = clientOf(DEFAULT);
  const name = randomUUID();
  const { id } = await send('POST', '/api/v1/sessions', { name, extra: { metadata: { mine: name } } });
  expect((await send('GET', `/api/v1/sessions/${id}`)).id).toBe(id);
}
