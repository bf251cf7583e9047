import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { headText, type LogHash, type LogSeal, LogSeals, LogSigner, type Recorded, Rebuild } from '@fairlead/eventing';
import { EsdbLog, EventStoreDbDouble } from '@fairlead/eventstoredb/testing';
import { type TestDatabase, testDatabase, until } from '@fairlead/postgres/testing';
import { chosen, type Installation, openInstallation, readModels } from '..';
import { readSettings, type Standalone, startStandalone } from '@fairlead/standalone';
import { forgedLog } from '../testing/forged-log';
import { settled } from '../testing/settled';
import { checkLog } from './log-check';
import { readHeads, readKeys, type Trust } from './trust';
import { verdict } from './verdict';

const KEY = 'audit-spec-operator-key';

let folder: string;
let database: TestDatabase;
let double: EventStoreDbDouble;
let standalone: Standalone;
let installation: Installation;
let env: Record<string, string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-audit-'));
  database = await testDatabase([]);
  double = await EventStoreDbDouble.start();
  env = { DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: folder, EVENTSTORE_URL: double.url };
  standalone = await startStandalone(
    readSettings({ ...env, PORT: '0', FAIRLEAD_API_KEY: KEY, LOG_LEVEL: 'silent', EXECUTOR: 'record' }),
  );
  installation = await openInstallation(env);
  for (const name of ['one', 'two', 'three']) await create(name);
});
afterAll(async () => {
  await installation.close();
  await standalone.stop();
  await double.stop();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

async function create(name: string): Promise<void> {
  const answer = await fetch(`${standalone.url}/v2/deployments`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({
      name,
      source: 'external_container',
      source_config: {},
      source_revision_config: { image_uri: 'registry.example.com/agent:1' },
      secrets: [{ name: 'TOKEN', value: 'sealed' }],
    }),
  });
  expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)]);
}

async function rebuilt(name: string, then: 'compare' | 'swap') {
  const { store, pool, url } = installation;
  const [model] = chosen(readModels(installation), [name]);
  const rebuild = new Rebuild(store, pool, url, model!);
  try {
    await rebuild.fill();
    if (then === 'compare') return (await rebuild.compare()).differences;
    await rebuild.swap();
    return [];
  } finally {
    await rebuild.close();
  }
}
async function audited(trust: Omit<Trust, 'sealEveryMs'> = {}) {
  // Of its own, because streams are remembered with a store.
  const opened = await openInstallation(env, { olderLog: true });
  try {
    const { store, pool, vault } = opened;
    const always = { ...trust, sealEveryMs: 3_600_000 };
    return await checkLog(store, pool, new LogSigner(store, vault), always, () => undefined);
  } finally {
    await opened.close();
  }
}

/** Waits until the service has hashed the log up to its end, so that it adds nothing to what is hashed. */
async function allHashed(): Promise<void> {
  const { store, pool } = installation;
  await settled(standalone.url, installation);
  const head = await store.head();
  await until(async () => {
    const { rows } = await pool.query<{ position: string }>('select "position" from log_hashes');
    return BigInt(rows[0]?.position ?? -1) >= head;
  });
}

/** Seals the log up to its end, and returns the seal. */
async function sealed(): Promise<LogSeal> {
  const { store, pool, vault } = installation;
  await allHashed();
  return (await new LogSeals(store, pool, new LogSigner(store, vault)).sealNow())!;
}

async function all(): Promise<Recorded[]> {
  const head = await installation.store.head();
  const events: Recorded[] = [];
  for await (const batch of installation.store.subscribe(0n, new AbortController().signal)) {
    events.push(...batch.events);
    if (batch.position >= head) break;
  }
  return events;
}

/** Runs `work` with other data and metadata in the server's log, and with what the service says that it has hashed. */
async function withLog<T>(events: readonly Recorded[], hashed: LogHash, work: () => Promise<T>): Promise<T> {
  const { pool, store, vault } = installation;
  await allHashed();
  const written = double.log;
  const changed = new Map(events.map((event) => [event.id, event]));
  const { rows } = await pool.query<Record<string, unknown>>(
    'select "position", count::int as count, hash, key_id, signature from log_hashes',
  );
  const setHashed = ({ position, count, hash, key_id, signature }: Record<string, unknown>) =>
    pool.query('update log_hashes set "position" = $1, count = $2, hash = $3, key_id = $4, signature = $5', [
      ...[position, count, hash, key_id, signature],
    ]);
  try {
    double.log = new EsdbLog(
      undefined,
      written.records.map((record) => {
        const event = changed.get(record.id);
        if (!event) return record;
        const { originalTime } = JSON.parse(Buffer.from(record.metadata).toString()) as { originalTime?: string };
        const [data, metadata] = [event.data, { ...event.metadata, originalTime }];
        return { ...record, data: Buffer.from(JSON.stringify(data)), metadata: Buffer.from(JSON.stringify(metadata)) };
      }),
    );
    await setHashed({ ...hashed, ...(await new LogSigner(store, vault).sign(headText(hashed))) });
    return await work();
  } finally {
    double.log = written;
    await setHashed(rows[0]!);
  }
}

it('finds nothing in what the service wrote, and what was changed in a table until it is made again', async () => {
  for (const { name } of readModels(installation)) expect([name, await rebuilt(name, 'compare')]).toEqual([name, []]);
  const { rowCount } = await database.pool.query(
    `update deployment_documents set document = replace(document, '"two"', '"zwei"') where document like '%"two"%'`,
  );
  const found = await rebuilt('deployments', 'compare');
  expect([found.length, found.every(({ kind }) => kind === 'different')]).toEqual([rowCount, true]);
  await rebuilt('deployments', 'swap');
  expect(await rebuilt('deployments', 'compare')).toEqual([]);
  await create('four');
  expect(await rebuilt('deployments', 'compare')).toEqual([]);
});

it('holds the log against its seals, and names an event that was changed', async () => {
  await sealed();
  expect(await audited()).toMatchObject({ findings: [], seals: 1 });
  const { records } = double.log;
  const index = records.findIndex(({ type }) => type === 'DeploymentCreated');
  const written = records[index]!;
  const changed = { ...written, data: Buffer.from(Buffer.from(written.data).toString().replace('agent:1', 'agent:2')) };
  records[index] = changed;
  const { findings } = await audited();
  records[index] = written;
  expect(findings.map(({ where }) => where).join('\n')).toContain(`${written.stream}, versions `);
  expect((await audited()).findings).toEqual([]);
});

it('refuses a log that was changed, hashed again and sealed again by the service, with a seal or a head that was kept', async () => {
  const seal = await sealed();
  const answer = await fetch(`${standalone.url}/v1/audit/keys`);
  writeFileSync(join(folder, 'keys.json'), await answer.text());
  writeFileSync(join(folder, 'seals.jsonl'), `${JSON.stringify(seal)}\n`);
  const keys = readKeys(join(folder, 'keys.json'));
  const kept = [readHeads(join(folder, 'seals.jsonl')), readHeads(`${seal.position}:${seal.hash}`)];
  for (const heads of kept) expect((await audited({ keys, heads })).findings).toEqual([]);
  const { store, vault } = installation;
  const change = (event: Recorded): Recorded =>
    event.type === 'DeploymentCreated' && JSON.stringify(event.data).includes('"one"')
      ? { ...event, data: JSON.parse(JSON.stringify(event.data).replace('"one"', '"eins"')) as object }
      : event;
  const written = await all();
  const { events, reached } = forgedLog(written, change, await new LogSigner(store, vault).key());
  expect(events.filter((event, index) => event !== written[index]).length).toBeGreaterThan(2);
  await withLog(events, reached, async () => {
    // By what the stores say themselves, and with the keys that made every signature, nothing is wrong and nothing claimed.
    for (const trust of [{}, { keys }]) {
      const report = await audited(trust);
      expect([report.findings, report.unchecked.join()]).toEqual([[], expect.stringContaining('No head was given')]);
      expect(verdict(0, report, 'all').code).toBe(3);
    }
    for (const heads of kept) {
      const report = await audited({ keys, heads });
      expect(report.findings).toContainEqual({
        where: `the head at position ${seal.position}`,
        reason: 'what lies before it is not what it was when the head was kept',
      });
      expect(verdict(report.findings.length, report, 'all').code).toBe(1);
    }
  });
  for (const heads of kept) expect((await audited({ keys, heads })).findings).toEqual([]);
});

it('names every stream that was deleted in the server by hand, those that it needs itself among them', async () => {
  const deleted = (where: string) => {
    return { where, reason: 'it was deleted, or its oldest events were cut off, in the event store' };
  };
  const { stream } = double.log.events.find(({ type }) => type === 'DeploymentCreated')!;
  double.log.tombstone(stream);
  expect((await audited()).findings).toEqual([deleted(stream)]);
  const streams = new Map(double.log.events.map((event) => [event.stream.split('-', 1)[0]!, event.stream]));
  expect([...streams.keys()]).toEqual(expect.arrayContaining(['logKey', 'logSeals', 'tenant', 'apiKey']));
  for (const each of streams.values()) if (each !== stream) double.log.tombstone(each);
  const { findings } = await audited();
  expect(findings).toEqual(expect.arrayContaining([stream, ...streams.values()].map(deleted)));
  const { store, vault } = installation;
  await expect(new LogSigner(store, vault).sign('text')).rejects.toThrow('--replace-key');
  const id = await new LogSigner(store, vault).replaceLost('somebody cleaned the server up');
  expect(await new LogSigner(store, vault).sign('text')).toMatchObject({ key_id: id });
  const after = (await audited()).findings;
  expect(after).toContainEqual(deleted('logKey-1'));
  expect(after.filter(({ where }) => where.startsWith('logKey-2'))).toEqual([]);
});
