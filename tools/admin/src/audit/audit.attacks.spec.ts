import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EventStore,
  hashLog,
  headText,
  type LogHash,
  type LogSeal,
  LogSeals,
  LogSigner,
  NOTHING,
  type PublicKey,
  type Recorded,
  type Signature,
} from '@fairlead/eventing';
import { MemoryEventStore } from '@fairlead/eventing/testing';
import { type TestDatabase, testDatabase, until } from '@fairlead/postgres/testing';
import { type Installation, openInstallation } from '..';
import { forgedLog, SEALS } from '../testing/forged-log';
import { readSettings, startStandalone } from '@fairlead/standalone';
import { checkLog } from './log-check';
import { StepLimit } from './step-limit';
import { type ExpectedHead, readHeads, readKeys, type Trust } from './trust';
import { verdict } from './verdict';

const KEY = 'audit-spec-operator-key';
const MAIN = join(__dirname, '../main.ts');
const CLI = join(__dirname, '../../../../apps/cli/src/main.ts');
const HOOK = join(__dirname, '../../../test/typescript.cjs');

let folder: string;
let database: TestDatabase;
let installation: Installation;
let env: Record<string, string>;
let keys: readonly PublicKey[];
let head: ExpectedHead;
let written: Recorded[];
/** Position up to which the service had hashed the log, after each step. */
const hashed: object[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-attacks-'));
  database = await testDatabase([]);
  env = { DATABASE_URL: database.url, FAIRLEAD_DATA_DIR: folder };
  const service = await startStandalone(
    readSettings({ ...env, PORT: '0', FAIRLEAD_API_KEY: KEY, LOG_LEVEL: 'silent', EXECUTOR: 'record' }),
  );
  installation = await openInstallation(env);
  const { store, pool, vault } = installation;
  const seals = new LogSeals(store, pool, new LogSigner(store, vault));
  for (const tag of [1, 2, 3, 4]) {
    const answer = await fetch(`${service.url}/v2/deployments`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: `agent-${tag}`,
        source: 'external_container',
        source_config: {},
        source_revision_config: { image_uri: `registry.example.com/agent:${tag}` },
        secrets: [],
      }),
    });
    expect([answer.status, await answer.text()]).toEqual([201, expect.any(String)]);
    hashed.push(await hashedUntil(await store.head()));
    if (tag < 4) await seals.sealNow();
  }
  const answer = await fetch(`${service.url}/v1/audit/keys`);
  writeFileSync(join(folder, 'keys.json'), await answer.text());
  keys = readKeys(join(folder, 'keys.json'));
  await service.stop();
  written = await all();
  const end = hashLog(written, NOTHING);
  head = { position: end.position, hash: end.hash };
  // What a service that was stopped has not hashed any more.
  const { key_id, signature } = await new LogSigner(store, vault).sign(headText(end));
  await writeHashed({ ...end, key_id, signature });
  hashed.push(await row());
  writeFileSync(join(folder, 'seals.jsonl'), (await seals.all()).map((seal) => `${JSON.stringify(seal)}\n`).join(''));
});
afterAll(async () => {
  await installation.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  await write(written);
  await writeHashed(hashed.at(-1)! as Hashed);
});

type Hashed = LogHash & { key_id: string; signature: string };

async function row(): Promise<object> {
  const { rows } = await database.pool.query(
    'select "position", count::int as count, hash, key_id, signature from log_hashes',
  );
  return rows[0] as object;
}

async function hashedUntil(position: bigint): Promise<object> {
  return until(
    async () => (await row()) as LogHash | undefined,
    (found) => found !== undefined && BigInt(found.position) >= position,
  );
}

async function all(): Promise<Recorded[]> {
  const until = await installation.store.head();
  const events: Recorded[] = [];
  const ending = new AbortController();
  for await (const batch of installation.store.subscribe(0n, ending.signal)) {
    events.push(...batch.events);
    if (batch.position >= until) break;
  }
  ending.abort();
  return events;
}

async function write(events: readonly Recorded[]): Promise<void> {
  await database.pool.query('delete from events');
  for (const { position, stream, version, id, type, data, metadata, time } of events) {
    await database.pool.query(
      'insert into events ("position", stream, version, id, type, data, metadata, "time") values ($1, $2, $3, $4, $5, $6, $7, $8)',
      [String(position), stream, version, id, type, JSON.stringify(data), JSON.stringify(metadata), time],
    );
  }
}

async function writeHashed({ position, count, hash, key_id, signature }: Hashed): Promise<void> {
  await database.pool.query('delete from log_hashes');
  await database.pool.query(
    `insert into log_hashes (id, "position", count, hash, day, key_id, signature) values (1, $1, $2, $3, '2026-01-01', $4, $5)`,
    [position, count, hash, key_id, signature],
  );
}

async function audited(trust: Omit<Trust, 'sealEveryMs'> = {}) {
  // Of its own, because folds of streams are remembered with a store; a log that was cut is audited as well.
  const opened = await openInstallation(env, { olderLog: true });
  try {
    const { store, pool, vault } = opened;
    const always = { ...trust, sealEveryMs: Number.MAX_SAFE_INTEGER };
    const report = await checkLog(store, pool, new LogSigner(store, vault), always, () => undefined);
    return { report, told: report.findings.map(({ where, reason }) => `${where}: ${reason}`).join('\n') };
  } finally {
    await opened.close();
  }
}

/** Nothing is found by what the database says of itself, and nothing is claimed. */
async function expectNoClaim(): Promise<void> {
  const { report, told } = await audited();
  expect(told).toBe('');
  expect(report.unchecked.join('\n')).toMatch(/No keys were given.*\n.*No head was given/);
  expect(verdict(0, report, 'all')).toMatchObject({ code: 3, line: expect.not.stringContaining('is as it was') });
}

/**
 * The log with an event changed and everything that follows from it made anew, as by somebody who may write everything:
 * the hashes in streams, the key, the seals and what the service has hashed, signed with a key of theirs.
 */
async function rewritten(change: (event: Recorded) => Recorded, kid: string): Promise<void> {
  const pair = generateKeyPairSync('ed25519');
  const signed = (text: string) => ({
    key_id: kid,
    signature: sign(null, Buffer.from(text), pair.privateKey).toString('base64url'),
  });
  const planted = (event: Recorded): Recorded => {
    if (event.type !== 'LogKeyCreated') return change(event);
    const data = { ...(event.data as object), key_id: kid, public: pair.publicKey.export({ format: 'jwk' }) };
    return { ...event, data };
  };
  await resealed(planted, signed);
}

/** The log with events changed, and everything that follows from them made anew and signed. */
async function resealed(change: (event: Recorded) => Recorded, signed: (text: string) => Signature): Promise<void> {
  const { events, reached } = forgedLog(written, change, signed);
  await write(events);
  await writeHashed({ ...reached, ...signed(headText(reached)) });
}

const other = (event: Recorded): Recorded =>
  event.type === 'DeploymentCreated' && JSON.stringify(event.data).includes('agent-1')
    ? { ...event, data: JSON.parse(JSON.stringify(event.data).replace('agent-1', 'agent-X')) as object }
    : event;

it('finds nothing in what was written, and says how far that is shown by keys and a head', async () => {
  await expectNoClaim();
  const { report, told } = await audited({ keys, heads: [head] });
  expect([told, report.unchecked]).toEqual(['', []]);
  expect(report.seals).toBe(3);
  expect(verdict(0, report, 'all')).toEqual({
    code: 0,
    line: `The log up to position ${head.position} is as it was written. Every row of the read models is what the log says.`,
  });
  // What the service sealed after the head was kept is what it says now.
  const early = await audited({ keys, heads: readHeads(join(folder, 'seals.jsonl')).slice(0, 1) });
  expect(verdict(0, early.report, 'none').line).toMatch(
    /^The log up to position \d+ is .* [1-9]\d* of them sealed since/,
  );
  const sent = await audited({ keys, heads: readHeads(join(folder, 'seals.jsonl')) });
  expect(sent.told).toBe('');
  expect(verdict(0, sent.report, 'none').line).toMatch(
    /What comes after it \(\d+ events, 0 of them sealed since\) is what the service says now/,
  );
  expect(readHeads(`${head.position}:${head.hash}`)).toEqual([head]);
  expect(() => readHeads(join(folder, 'keys.json'))).toThrow('must be position:hash, or a file');
  expect(() => readKeys(join(folder, 'seals.jsonl'))).toThrow('holds no keys');
});

it('finds a history that was rewritten and signed with a planted key', async () => {
  for (const kid of ['planted', keys[0]!.kid]) {
    await rewritten(other, kid);
    await expectNoClaim();
    expect((await audited({ keys })).told).toContain(
      `the keys of the log: the log holds the key ${kid}, which is not among the keys given`,
    );
    expect((await audited({ heads: [head] })).told).toMatch(/what lies before it is not what it was when the head was/);
    const sent = await audited({ heads: readHeads(join(folder, 'seals.jsonl')) });
    expect(sent.told.match(/what lies before it is not what it was/g)).toHaveLength(3);
  }
});

describe('an export of what was rewritten', () => {
  const verify = async (...args: string[]) => {
    const { code, out, err } = await command(CLI, ['audit', 'verify', ...args, '--keys', join(folder, 'keys.json')]);
    return { code, out, err };
  };
  const seals = () => join(folder, 'seals.jsonl');
  const workspaceOf = (file: string) => `${file}.workspace`;
  /** As the service exports it and the whole workspace, with whatever log it has. */
  async function exported(name: string): Promise<string> {
    const service = await startStandalone(
      readSettings({ ...env, PORT: '0', FAIRLEAD_API_KEY: KEY, LOG_LEVEL: 'silent', EXECUTOR: 'record' }),
    );
    try {
      const { stream } = written.find(({ type }) => type === 'DeploymentCreated')!;
      const id = stream.slice('deployment-'.length);
      const url = `${service.url}/v2/deployments/${id}/history/export`;
      const answer = await fetch(url, { headers: { 'x-api-key': KEY } });
      expect(answer.status).toBe(200);
      const file = join(folder, name);
      writeFileSync(file, await answer.text());
      const whole = await fetch(`${service.url}/v1/audit/export`, { headers: { 'x-api-key': KEY } });
      expect(whole.status).toBe(200);
      writeFileSync(workspaceOf(file), await whole.text());
      return file;
    } finally {
      await service.stop();
    }
  }

  it('is refused by a kept seal and by an earlier export, also when the service hashed and sealed it', async () => {
    const before = await exported('before.jsonl');
    expect(await verify(before, '--seal', seals())).toMatchObject({ code: 0, err: '' });
    expect(
      await verify(
        before,
        '--seal',
        `${JSON.parse(readFileSync(seals(), 'utf8').split('\n')[0]!).position}:${'x'.repeat(43)}`,
      ),
    ).toMatchObject({ code: 1 });
    await write(written);
    const { store, vault } = installation;
    await resealed(other, await new LogSigner(store, vault).key());
    const after = await exported('after.jsonl');
    // The keys of before made every signature in it.
    expect(await verify(after)).toMatchObject({
      code: 6,
      err: expect.stringMatching(/the service signs what its database/),
    });
    expect(await verify(after, '--seal', seals())).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Seal \d is not the one that was kept: the log was rewritten and sealed again/),
    });
    expect(await verify(after, '--head', before)).toMatchObject({ code: 1 });
    expect(await verify(workspaceOf(after), '--seal', seals())).toMatchObject({
      code: 1,
      err: expect.stringMatching(/Seal \d is not the one that was kept/),
    });
    expect(await verify(workspaceOf(after), '--head', workspaceOf(before))).toMatchObject({
      code: 1,
      err: expect.stringMatching(/it is not the workspace that the head was kept of/),
    });
  });

  it('is refused when the seals stayed as they were', async () => {
    const { store, vault } = installation;
    await resealed(other, await new LogSigner(store, vault).key());
    const forged = await all();
    await write(forged.map((event, index) => (event.stream === SEALS ? written[index]! : event)));
    const after = await exported('after.jsonl');
    for (const kept of [[], ['--seal', seals()]]) {
      expect(await verify(after, ...kept)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/Version 1 is not what seal 1 sealed/),
      });
      expect(await verify(workspaceOf(after), ...kept)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/the events before it are not what seal 1 sealed/),
      });
    }
  });

  it('is not taken for whole when a stream was removed from the database', async () => {
    const before = await exported('before.jsonl');
    const [, removed] = written.filter(({ type }) => type === 'DeploymentCreated');
    await write(written.filter(({ stream }) => stream !== removed!.stream));
    const after = workspaceOf(await exported('after.jsonl'));
    expect(readFileSync(after, 'utf8')).not.toContain(`"stream":"${removed!.stream}"`);
    expect(await verify(after, '--seal', seals())).toMatchObject({
      code: 6,
      err: expect.stringMatching(/No verdict on \d+ of \d+ events/),
    });
    expect(await verify(after, '--head', workspaceOf(before))).toMatchObject({ code: 1 });
  });

  it('gets no verdict where nothing that was kept vouches for it', async () => {
    const file = await exported('before.jsonl');
    const [first] = readFileSync(seals(), 'utf8').split('\n');
    const unsealed = JSON.parse(readFileSync(file, 'utf8').trimEnd().split('\n').at(-1)!) as { seals?: unknown };
    delete unsealed.seals;
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(0, -1);
    writeFileSync(join(folder, 'unsealed.jsonl'), [...lines, JSON.stringify(unsealed)].join('\n'));
    expect(await verify(join(folder, 'unsealed.jsonl'), '--seal', seals())).toMatchObject({
      code: 6,
      err: expect.stringMatching(/No verdict on versions 1 to \d+ of \d+: no head or seal that was kept vouches/),
    });
    expect(await verify(file, '--head', `1:${'x'.repeat(43)}`)).toMatchObject({ code: 1 });
    expect(await verify(file, '--seal', `4:${JSON.parse(first!).hash}`)).toMatchObject({
      code: 6,
      err: expect.stringMatching(/no seal of the export is at this position/),
    });
  });
});

it('finds that the end was cut off', async () => {
  const earlier = hashed[1] as Hashed;
  await write(written.filter(({ position }) => position <= BigInt(earlier.position)));
  // What the service had hashed by then, and signed, is put back as well.
  await writeHashed(earlier);
  await expectNoClaim();
  const { report, told } = await audited({ keys });
  expect([told, verdict(0, report, 'all').code]).toEqual(['', 3]);
  expect((await audited({ keys, heads: [head] })).told).toMatch(/where there is no event: the log was cut/);
  await writeHashed(hashed.at(-1) as Hashed);
  expect((await audited()).told).toMatch(/\d+ events, and \d+ had been hashed: the log was cut/);
});

describe('an event that is not sealed yet', () => {
  const newest = () => written.findLast(({ type }) => type === 'DeploymentCreated')!;
  const changed = (event: Recorded): Recorded =>
    event === newest() ? { ...event, data: { ...(event.data as object), name: 'agent-X' } } : event;

  it('is found when it was changed', async () => {
    await write(written.map(changed));
    expect((await audited()).told).toMatch(
      /what is not sealed yet: up to position \d+ it is not what the service hashed/,
    );
    expect((await audited({ keys, heads: [head] })).told).toMatch(/not what it was when the head was kept/);
  });

  it('is found when its hashes were made anew, unless what the service had hashed is gone, which is told', async () => {
    await rewritten(changed, 'planted');
    const forged = await all();
    // The key and the seals stay as they were.
    await write(forged.map((event, index) => (event.stream.startsWith('log') ? written[index]! : event)));
    expect((await audited({ keys })).told).toMatch(/what is not sealed yet: up to position \d+ it is not what/);
    await database.pool.query('delete from log_hashes');
    const { report, told } = await audited({ keys });
    expect([told, verdict(0, report, 'all').code]).toEqual(['', 3]);
    expect(report.unchecked.join()).toContain('what is not sealed yet may be changed');
    expect((await audited({ keys, heads: [head] })).told).toMatch(/not what it was when the head was kept/);
  });
});

describe('a seal', () => {
  const middle = () => written.filter(({ stream }) => stream === SEALS)[1]!;

  it('is found when it was replaced', async () => {
    const data = { ...(middle().data as LogSeal), hash: 'x'.repeat(43) };
    await write(written.map((event) => (event === middle() ? { ...event, data } : event)));
    expect((await audited({ keys })).told).toMatch(/the signature of its seal is wrong/);
    expect((await audited({ keys })).told).toMatch(/the seal before it is not the one that it names/);
  });

  it('is found when it was removed from the middle, also where versions and positions were closed up', async () => {
    const gone = middle();
    const left = written
      .filter((event) => event !== gone)
      .map((event) => ({
        ...event,
        position: event.position > gone.position ? event.position - 1n : event.position,
        version: event.stream === SEALS && event.version > gone.version ? event.version - 1 : event.version,
      }));
    await write(left);
    expect((await audited({ keys })).told).toMatch(/1 seals are before it, and there were 2: seals were removed/);
  });

  it('is missed when nothing has been sealed for too long', async () => {
    const { store, pool, vault } = installation;
    const trust = { keys, heads: [head], sealEveryMs: -1 };
    const { unchecked } = await checkLog(store, pool, new LogSigner(store, vault), trust, () => undefined);
    expect(unchecked.join()).toMatch(/seals were removed, or the service does not run/);
  });
});

const command = (main: string, args: string[], more: Record<string, string> = {}) =>
  new Promise<{ code: number; out: string; err: string }>((settle) => {
    const options = { env: { ...process.env, ...env, ...more }, timeout: 280_000 };
    execFile(process.execPath, ['-r', HOOK, main, ...args], options, (error, out, err) =>
      settle({ code: error ? Number(error.code ?? -1) : 0, out, err }),
    );
  });

describe('npm run audit', () => {
  const run = (args: string[], more?: Record<string, string>) => command(MAIN, ['audit', ...args], more);

  it('ends with what it checked', async () => {
    const without = await run(['--no-rows']);
    expect([without.code, without.out.trimEnd().split('\n').at(-1)]).toEqual([
      3,
      'Nothing wrong was found, but not everything could be checked: see NOT CHECKED above.',
    ]);
    expect(without.out).toContain(`head, to be kept outside: ${head.position}:${head.hash}`);
    const trust = ['--keys', join(folder, 'keys.json'), '--head', `${head.position}:${head.hash}`];
    const withThem = await run(['--no-rows', ...trust]);
    expect(withThem).toMatchObject({
      code: 0,
      out: expect.stringMatching(/is as it was written\. The read models were not/),
    });
  });

  it('ends with an error when a store does not answer', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const { code, err } = await run(['--timeout', '1'], { DATABASE_URL: `postgres://a:b@127.0.0.1:${port}/c` });
    silent.close();
    expect([code, err]).toEqual([2, expect.stringContaining('the installation: no answer for 1 seconds')]);
  });

  it('ends with an error when the log stops coming', async () => {
    const store: EventStore = new (class extends MemoryEventStore {
      override head = () => Promise.resolve(5n);
    })();
    const { pool, vault } = installation;
    const ending = new AbortController();
    const signer = new LogSigner(store, vault);
    const work = checkLog(store, pool, signer, { sealEveryMs: 1 }, () => undefined, ending.signal);
    await expect(new StepLimit(300).guard('the log', work)).rejects.toThrow('the log: no answer for 0.3 seconds.');
    ending.abort();
  });
});
