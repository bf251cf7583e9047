import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogSeals, LogSigner, Rebuild } from '@fairlead/eventing';
import { EventStoreDbDouble } from '@fairlead/eventing/testing';
import { type TestDatabase, testDatabase } from '@fairlead/postgres/testing';
import { chosen, type Installation, openInstallation, readModels } from '..';
import { readSettings, type Standalone, startStandalone } from '@fairlead/standalone';
import { checkLog } from './log-check';

const KEY = 'audit-spec-operator-key';

let folder: string;
let database: TestDatabase;
let double: EventStoreDbDouble;
let standalone: Standalone;
let installation: Installation;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-audit-'));
  database = await testDatabase([]);
  double = await EventStoreDbDouble.start();
  const env = { DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: folder, EVENTSTORE_URL: double.url };
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
const audited = () => {
  const { store, pool, vault } = installation;
  return checkLog(store, pool, new LogSigner(store, vault), { sealEveryMs: 3_600_000 }, () => undefined);
};

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
  const { store, pool, vault } = installation;
  const head = await store.head();
  for (let hashed = -1n; hashed < head;) {
    const { rows } = await pool.query<{ position: string }>('select "position" from log_hashes');
    hashed = BigInt(rows[0]?.position ?? -1);
  }
  await new LogSeals(store, pool, new LogSigner(store, vault)).sealNow();
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
