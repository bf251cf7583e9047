import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogSeals, LogSigner, Rebuild, type Recorded } from '@fairlead/eventing';
import { type TestDatabase, testDatabase, until } from '@fairlead/postgres/testing';
import { chosen, type Installation, openInstallation, readModels } from '..';
import { readSettings, type Standalone, startStandalone } from '@fairlead/standalone';
import { settled } from '../testing/settled';
import { checkLog } from './log-check';

const KEY = 'audit-spec-operator-key';

let folder: string;
let database: TestDatabase;
let standalone: Standalone;
let installation: Installation;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-audit-'));
  database = await testDatabase([]);
  const env = { DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: folder };
  standalone = await startStandalone(
    readSettings({ ...env, PORT: '0', FAIRLEAD_API_KEY: KEY, LOG_LEVEL: 'silent', EXECUTOR: 'record' }),
  );
  installation = await openInstallation(env);
  await fill();
});
afterAll(async () => {
  await installation.close();
  await standalone.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function send(method: string, path: string, body?: object): Promise<{ id: string } & Record<string, unknown>> {
  const answer = await fetch(standalone.url + path, {
    method,
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  const text = await answer.text();
  return text === '' ? { id: '' } : JSON.parse(text);
}

const deployment = (name: string) => ({
  name,
  source: 'external_container',
  source_config: {},
  source_revision_config: { image_uri: 'registry.example.com/agent:1' },
  secrets: [{ name: 'TOKEN', value: 'sealed' }],
});
const times = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-01-01T00:00:02Z' };

/** Something of everything. */
async function fill(): Promise<void> {
  for (let n = 0; n < 3; n++) {
    const { id } = await send('POST', '/v2/deployments', deployment(`agent-${n}`));
    await send('PATCH', `/v2/deployments/${id}`, {
      source_revision_config: { image_uri: 'registry.example.com/agent:2' },
    });
    if (n === 2) await send('DELETE', `/v2/deployments/${id}`);
  }
  await send('POST', '/v1/webhooks', { url: 'https://hooks.example/in', event_types: ['*'], enabled: false });
  await send('POST', '/v2/listeners', {
    compute_type: 'k8s',
    compute_id: 'c',
    compute_config: { k8s_namespaces: ['a'] },
  });
  const { experiment, dataset } = await send('POST', '/api/v1/datasets/upload-experiment', {
    experiment_name: 'audited',
    dataset_name: 'audited',
    experiment_start_time: times.start_time,
    experiment_end_time: times.end_time,
    results: Array.from({ length: 20 }, (_, n) => ({
      row_id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
      inputs: { n },
      ...times,
      evaluation_scores: [{ key: 'correct', score: n % 2 }],
    })),
  });
  const { id } = experiment as { id: string };
  await persisted(id);
  await holdRevision((dataset as { id: string }).id);
  await send('POST', '/api/v1/feedback', { session_id: id, key: 'overall', score: 1 });
}

/** A deployment whose second revision its gates hold. */
async function holdRevision(dataset_id: string): Promise<void> {
  const image = (tag: number) => ({ source_revision_config: { image_uri: `registry.example.com/held:${tag}` } });
  const body = { name: 'held', source: 'external_container', source_config: {}, secrets: [], ...image(1) };
  const { id } = await send('POST', '/v2/deployments', body);
  const gates = [{ name: 'questions', dataset_id, keys: { correct: { max_drop: 0.1 } } }];
  await send('PUT', `/v2/deployments/${id}/gates`, { gates });
  await send('PATCH', `/v2/deployments/${id}`, image(2));
  const rows = () => database.pool.query('select from held_revisions where deployment_id = $1', [id]);
  await until(async () => (await rows()).rowCount === 1);
}

async function persisted(id: string): Promise<void> {
  await until(async () => (await send('GET', `/api/v1/sessions/${id}?include_stats=true`)).run_count === 20);
}

const names = () => readModels(installation).map(({ name }) => name);

async function compared(name: string) {
  const [model] = chosen(readModels(installation), [name]);
  const rebuild = new Rebuild(installation.store, installation.pool, installation.url, model!);
  try {
    await rebuild.fill();
    return await rebuild.compare();
  } finally {
    await rebuild.close();
  }
}

async function audited() {
  const { store, pool, vault } = installation;
  return checkLog(store, pool, new LogSigner(store, vault), { sealEveryMs: 3_600_000 }, () => undefined);
}

describe('an installation', () => {
  it('is found by settings in files, as by settings', async () => {
    const [url, key] = [join(folder, 'database-url'), join(folder, 'master.key')];
    writeFileSync(url, `${database.url}\n`);
    const found = await openInstallation({ DATABASE_URL_FILE: url, FAIRLEAD_MASTER_KEY_FILE: key });
    expect(found.url).toBe(database.url);
    await found.close();
  });

  it('is not made where there is none', async () => {
    const missing = join(folder, 'missing');
    await expect(openInstallation({ FAIRLEAD_DATA_DIR: missing })).rejects.toThrow(`No installation in ${missing}`);
    expect(existsSync(missing)).toBe(false);
  });
});

describe('a rebuild', () => {
  const rebuildOf = (name: string, ...more: [progress?: () => void, signal?: AbortSignal]) => {
    const [model] = chosen(readModels(installation), [name]);
    return new Rebuild(installation.store, installation.pool, installation.url, model!, ...more);
  };
  const isLeft = async (name: string) =>
    (await database.pool.query('select from pg_namespace where nspname = $1', [`rebuild_${name}`])).rowCount === 1;

  it('is refused while another one of the same read model lasts, which goes on unharmed', async () => {
    const first = rebuildOf('deployments');
    await first.fill();
    const second = rebuildOf('deployments');
    await expect(second.fill()).rejects.toThrow('deployments is being made again or compared by another process');
    await second.close();
    expect((await first.compare()).differences).toEqual([]);
    await first.swap();
    await first.close();
    expect((await compared('deployments')).differences).toEqual([]);
  });

  it('that is given up leaves nothing behind', async () => {
    const giving = new AbortController();
    const rebuild = rebuildOf('experiments', () => giving.abort(new Error('Given up.')), giving.signal);
    await expect(rebuild.fill()).rejects.toThrow('Given up.');
    expect(await isLeft('experiments')).toBe(true);
    await rebuild.close();
    expect(await isLeft('experiments')).toBe(false);
  });
});

describe('an audit of the read models', () => {
  it('finds nothing in what the service wrote, while it goes on writing', async () => {
    let writing = true;
    const writer = (async () => {
      for (let n = 0; writing; n++) await send('POST', '/v2/deployments', deployment(`written-${n}`));
    })();
    const found: Record<string, unknown> = {};
    let rows = 0;
    try {
      for (const name of names()) {
        const { differences, rows: some } = await compared(name);
        found[name] = differences;
        rows += some;
      }
    } finally {
      writing = false;
      await writer;
    }
    expect(found).toEqual(Object.fromEntries(names().map((name) => [name, []])));
    expect(rows).toBeGreaterThan(50);
  });

  it.each([
    [
      'deployments',
      `update deployment_documents set document = replace(document, 'agent-0', 'agent-X') where document like '%agent-0%'`,
      'different',
    ],
    ['experiments', `update feedback set score = 1 - score`, 'different'],
    ['experiments', `delete from runs where row_number = 3`, 'missing'],
    ['held-revisions', 'delete from held_revisions', 'missing'],
    [
      'tenants',
      `insert into tenants select gen_random_uuid(), organization_id, display_name, tenant_handle || 'x', created_at, version, status, status_since from tenants`,
      'unexpected',
    ],
  ])('names rows of %s that are not what the log says: %s', async (name, statement, kind) => {
    const before = await compared(name);
    expect(before.differences).toEqual([]);
    const [model] = chosen(readModels(installation), [name]);
    const { rowCount } = await database.pool.query(statement);
    const { differences, counts } = await compared(name);
    expect(rowCount).toBeGreaterThan(0);
    expect(Object.values(counts).reduce((a, b) => a + b)).toBe(rowCount);
    expect(differences.every((difference) => difference.kind === kind)).toBe(true);
    expect(JSON.parse(differences[0]!.key)).toMatchObject({ id: expect.any(String) });
    // The rebuild puts it right.
    const rebuild = new Rebuild(installation.store, installation.pool, installation.url, model!);
    await rebuild.fill();
    await rebuild.swap();
    await rebuild.close();
    expect((await compared(name)).differences).toEqual([]);
  });
});

describe('a replay', () => {
  it('takes the place of the tables without a failed request, and they are kept up to date as before', async () => {
    const definitions = async () => {
      const text = `select indexdef from pg_indexes where schemaname = 'public'
        union all select pg_get_statisticsobjdef(oid) from pg_statistic_ext order by 1`;
      return (await database.pool.query(text)).rows;
    };
    const before = await definitions();
    let asking = true;
    let asked = 0;
    const asker = (async () => {
      for (; asking; asked++) {
        await send('GET', '/v2/deployments?limit=5');
        await send('GET', '/api/v1/sessions?limit=5&include_stats=true');
        await send('POST', '/v2/deployments', deployment(`asked-${asked}`));
      }
    })();
    try {
      for (const model of readModels(installation)) {
        const rebuild = new Rebuild(installation.store, installation.pool, installation.url, model);
        await rebuild.fill();
        await rebuild.swap();
        await rebuild.close();
      }
    } finally {
      asking = false;
      await asker;
    }
    expect(asked).toBeGreaterThan(0);
    expect(await definitions()).toEqual(before);
    const { id } = await send('POST', '/v2/deployments', deployment('after the replay'));
    expect(await send('GET', `/v2/deployments/${id}`)).toMatchObject({ name: 'after the replay' });
    for (const name of names()) expect((await compared(name)).differences).toEqual([]);
  });
});

describe('an audit of the log', () => {
  const seals = () =>
    new LogSeals(installation.store, installation.pool, new LogSigner(installation.store, installation.vault));

  // The tests below take the events away and put them back, between which nobody may append.
  beforeAll(() => settled(standalone.url, installation));

  /** Seals everything there is so far. */
  async function seal(): Promise<void> {
    const head = await installation.store.head();
    await until(async () => {
      const { rows } = await database.pool.query('select "position" from log_hashes');
      return BigInt(rows[0]?.position ?? 0) >= head;
    });
    await seals().sealNow();
  }

  it('finds nothing in what the service wrote', async () => {
    await seal();
    const report = await audited();
    expect(report.findings).toEqual([]);
    expect(report).toMatchObject({ seals: 1 });
    expect(report.events).toBeGreaterThan(30);
  });

  const patched = `type = 'DeploymentPatched' and version = (select min(version) from events where type = 'DeploymentPatched')`;
  it.each([
    ['a changed event', `update events set data = replace(data::text, 'agent:2', 'agent:3')::json where ${patched}`],
    [
      'another actor',
      `update events set metadata = replace(metadata::text, '"actor":"', '"actor":"x')::json where ${patched}`,
    ],
    ['another time', `update events set "time" = "time" - interval '1 hour' where ${patched}`],
    ['the newest event of a stream', `update events e set data = '{}' where type = 'FeedbackAdded'`],
    ['a removed event', `delete from events where ${patched}`],
  ])('names %s', async (_, statement) => {
    const { rows } = await database.pool.query<Recorded & { position: string }>(
      'select * from events order by "position"',
    );
    const changed = await database.pool.query(`${statement} returning stream, version`);
    expect(changed.rowCount).toBeGreaterThan(0);
    const { findings } = await audited();
    const { stream, version } = changed.rows[0] as { stream: string; version: number };
    const where = findings.map((finding) => `${finding.where}: ${finding.reason}`).join('\n');
    // The newest event of its stream is covered by the day's seal alone.
    if (statement.includes('FeedbackAdded')) expect(where).toMatch(/^the log of \d{4}-\d\d-\d\d: what lies after/);
    else expect(where).toContain(`${stream}, versions `);
    expect(version).toBeGreaterThan(0);
    await database.pool.query('delete from events');
    for (const row of rows) {
      await database.pool.query(
        'insert into events ("position", stream, version, id, type, data, metadata, "time") values ($1, $2, $3, $4, $5, $6, $7, $8)',
        [
          row.position,
          row.stream,
          row.version,
          row.id,
          row.type,
          JSON.stringify(row.data),
          JSON.stringify(row.metadata),
          row.time,
        ],
      );
    }
    expect((await audited()).findings).toEqual([]);
  });
});
