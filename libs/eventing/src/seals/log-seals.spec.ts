import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transaction } from '@fairlead/postgres';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import {
  eventingMigrations,
  hashLog,
  headText,
  LogSeals,
  LogSigner,
  NOTHING,
  parseMasterKeys,
  type Recorded,
  sealHash,
  sealSender,
  sealText,
  StreamDeleted,
  Vault,
} from '..';
import { signedHeaders } from '../testing/s3-signature';
import { MemoryEventStore } from '../testing';

const SEALS = 'logSeals-1';
const CREDENTIALS = { accessKeyId: 'an-id', secretAccessKey: 'a secret', region: 'eu-central-1' };

let database: TestDatabase;
let store: MemoryEventStore;
let signer: LogSigner;
let seals: LogSeals;
beforeAll(async () => (database = await testDatabase(eventingMigrations)));
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query('truncate log_hashes');
  store = new MemoryEventStore();
  signer = new LogSigner(store, new Vault(database.pool, parseMasterKeys(randomBytes(32).toString('hex'), 'test')));
  seals = new LogSeals(store, database.pool, signer);
});

/** Events of a log, one for each time. */
const log = (...times: string[]): Recorded[] =>
  times.map((time, index) => ({
    id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
    stream: `thing-${index % 3}`,
    version: Math.floor(index / 3) + 1,
    position: BigInt(index + 1),
    type: 'Happened',
    data: { index },
    metadata: {},
    time,
  }));
const events = log(
  '2026-01-01T10:00:00.000Z',
  '2026-01-01T23:59:59.999Z',
  '2026-01-02T00:00:00.000Z',
  '2026-01-05T08:00:00.000Z',
);
const project = (batch: Recorded[]) => transaction(database.pool, (tx) => seals.handle(batch, tx));

describe('the seals of a log', () => {
  it('are made for each finished day, whatever the batches', async () => {
    await project(events.slice(0, 1));
    await project(events.slice(1));
    const made = await seals.all();
    expect(made.map(({ day, position, count }) => [day, position, count])).toEqual([
      ['2026-01-01', '2', 2],
      ['2026-01-02', '3', 3],
    ]);
    expect(made[0]!.hash).toBe(hashLog(events.slice(0, 2), NOTHING).hash);
  });

  it('carry a signature of the installation over what they say', async () => {
    await project(events);
    const [seal] = await seals.all();
    expect(await signer.verify(sealText(seal!), seal!)).toBe(true);
    expect(await signer.verify(sealText({ ...seal!, count: 1 }), seal!)).toBe(false);
    expect(await signer.verify(sealText(seal!), { ...seal!, key_id: 'another' })).toBe(false);
    expect(await signer.publicKeys()).toEqual([expect.objectContaining({ kid: seal!.key_id, crv: 'Ed25519' })]);
  });

  it('come once, also when days are gone through again', async () => {
    await project(events);
    await database.pool.query('truncate log_hashes');
    await project(events);
    expect(await seals.all()).toHaveLength(2);
  });

  it('name the seal before them, also when that is of an earlier version', async () => {
    const earlier = { day: '2025-12-31', position: '1', count: 1, hash: 'x' };
    const old = { ...earlier, ...(await signer.sign(sealText(earlier))) };
    await store.append(SEALS, 0, [{ type: 'LogSealed', data: old }], {});
    await project(events);
    const [first, second, third] = await seals.all();
    expect([first!.number, second!.number, third!.number]).toEqual([undefined, 2, 3]);
    expect([second!.previous, third!.previous]).toEqual([sealHash(first!), sealHash(second!)]);
    expect(await signer.verify(sealText(third!), third!)).toBe(true);
    expect(await signer.verify(sealText({ ...third!, previous: sealHash(first!) }), third!)).toBe(false);
  });

  it('are made after so many events, those of seals not counted', async () => {
    const few = new LogSeals(store, database.pool, signer, { everyEvents: 2, everyMs: 3_600_000 });
    const one = '2026-01-01T10:00:00.000Z';
    const [a, b, c, d, e] = log(one, one, one, one, one).map((event, index) =>
      index === 2 ? { ...event, stream: SEALS } : event,
    );
    await transaction(database.pool, (tx) => few.handle([a!, b!], tx));
    await transaction(database.pool, (tx) => few.handle([c!, d!], tx));
    expect((await few.all()).map(({ count }) => count)).toEqual([2]);
    await transaction(database.pool, (tx) => few.handle([e!], tx));
    expect((await few.all()).map(({ count }) => count)).toEqual([2, 5]);
  });

  it('are made once the first event that is not sealed is too old, and not again while nothing comes', async () => {
    await project(events.slice(0, 2));
    const time = Date.parse(events[0]!.time);
    expect(await seals.sealDue(time + 3_599_000)).toBeUndefined();
    expect(await seals.sealDue(time + 3_600_000)).toMatchObject({ count: 2, number: 1 });
    expect(await seals.sealDue(time + 9_000_000)).toBeUndefined();
  });

  it('are accompanied by a signature over how far the log has been hashed', async () => {
    await project(events.slice(0, 2));
    const { rows } = await database.pool.query(
      'select "position", count::int as count, hash, key_id, signature from log_hashes',
    );
    expect(await signer.verify(headText(rows[0]), rows[0])).toBe(true);
    expect(await signer.verify(headText({ ...rows[0], count: 1 }), rows[0])).toBe(false);
  });

  it('are sent out to a file and a webhook, again until both have them', async () => {
    await project(events);
    const folder = mkdtempSync(join(tmpdir(), 'fairlead-seals-'));
    const got: { token?: string; body: string }[] = [];
    let status = 500;
    const target = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        if (status === 200) got.push({ token: request.headers.authorization, body });
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
    const file = join(folder, 'seals.jsonl');
    const sender = sealSender({ file, webhook: { url, token: 'a-token' } });
    const made = await store.read(SEALS);
    const send = () => transaction(database.pool, (tx) => sender.handle(made, tx));
    await expect(send()).rejects.toThrow('SEAL_WEBHOOK_URL answered 500.');
    status = 200;
    await send();
    target.close();
    const expected = (await seals.all()).map((seal) => JSON.stringify(seal));
    expect(got).toEqual(expected.map((body) => ({ token: 'Bearer a-token', body })));
    // The first one twice: it was there before the webhook failed.
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toEqual([expected[0], ...expected]);
    rmSync(folder, { recursive: true });
  });

  it('are put into a bucket with object lock, and a server that locks nothing is not believed', async () => {
    await project(events);
    const objects = new Map<string, { body: string; lock?: string; until?: string }>();
    const refused: string[] = [];
    let locks = false;
    const bucket = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { url, method, headers } = request as { url: string; method: string; headers: Record<string, string> };
        const stamp = headers['x-amz-date']!.replace(/^(....)(..)(..T..)(..)/, '$1-$2-$3:$4:');
        const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization!)![1]!.split(';');
        const unsigned = ['authorization', 'host', 'x-amz-date', 'x-amz-content-sha256'];
        const given = Object.fromEntries(
          signed.filter((name) => !unsigned.includes(name)).map((name) => [name, headers[name]!]),
        );
        const of = { method, url: new URL(url, `http://${headers.host}`), headers: given, body };
        if (signedHeaders(of, CREDENTIALS, new Date(stamp)).authorization !== headers.authorization) {
          refused.push(`${method} ${url}`);
          response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
          return;
        }
        const lock = headers['x-amz-object-lock-mode'];
        const until = headers['x-amz-object-lock-retain-until-date'];
        if (method === 'PUT') objects.set(url, { body, ...(locks && { lock, until }) });
        const stored = objects.get(url)?.lock;
        response.writeHead(200, stored === undefined ? {} : { 'x-amz-object-lock-mode': stored }).end();
      });
    });
    await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}/evidence/of us`;
    const made = await store.read(SEALS);
    const send = (secretAccessKey: string) => {
      const target = { ...CREDENTIALS, secretAccessKey, url, mode: 'COMPLIANCE' as const, retainDays: 30 };
      const sender = sealSender({ bucket: target });
      return transaction(database.pool, (tx) => sender.handle(made, tx));
    };
    await expect(send('another secret')).rejects.toThrow('SEAL_S3_URL answered 403 SignatureDoesNotMatch to PUT.');
    expect(refused).toEqual(['PUT /evidence/of%20us/seal-000000000001.json']);
    await expect(send('a secret')).rejects.toThrow('SEAL_S3_URL shows no lock on a seal');
    locks = true;
    await send('a secret');
    bucket.close();
    bucket.closeAllConnections();
    const sealed = (await seals.all()).map((seal) => `${JSON.stringify(seal)}\n`);
    expect([...objects.values()].map(({ body }) => body)).toEqual(sealed);
    for (const { lock, until } of objects.values()) {
      expect(lock).toBe('COMPLIANCE');
      expect(Date.parse(until!)).toBeGreaterThan(Date.now() + 29 * 24 * 3_600_000);
    }
  });

  it('can be made at any time', async () => {
    expect(await seals.sealNow()).toBeUndefined();
    await project(events);
    expect(await seals.sealNow()).toMatchObject({ day: '2026-01-05', position: '4', count: 4 });
    await seals.sealNow();
    expect(await seals.all()).toHaveLength(3);
  });
});

it.each(['data', 'metadata', 'time', 'type', 'stream', 'version', 'id'])(
  'the hash of a log changes with the %s of any event',
  (member) => {
    const { hash } = hashLog(events, NOTHING);
    for (const [at, event] of events.entries()) {
      expect(hashLog(events.with(at, { ...event, [member]: 'other' }), NOTHING).hash).not.toBe(hash);
    }
  },
);

describe('the signing key, when its stream was deleted', () => {
  const loseKey = () => {
    const read = store.read.bind(store);
    jest.spyOn(store, 'read').mockImplementation((stream, after) => {
      return stream === 'logKey-1' ? Promise.reject(new StreamDeleted(stream)) : read(stream, after);
    });
  };
  const restarted = () => {
    signer = new LogSigner(store, vault);
    seals = new LogSeals(store, database.pool, signer);
  };
  let vault: Vault;
  beforeEach(() => {
    vault = new Vault(database.pool, parseMasterKeys(randomBytes(32).toString('hex'), 'test'));
    restarted();
  });

  it('is not made anew in silence: what is to be done is said', async () => {
    await project(events.slice(0, 1));
    loseKey();
    restarted();
    for (const ask of [() => project(events.slice(1)), () => signer.publicKeys(), () => signer.sign('text')]) {
      await expect(ask()).rejects.toThrow(
        /^The history logKey-1 was deleted .* audit -- --replace-key .*docs\/guides\/audit\.md/,
      );
    }
    expect(await store.read('logKey-2')).toEqual([]);
  });

  it('is replaced on request, with the reason in the log, and the log is signed and sealed again where it stopped', async () => {
    await project(events.slice(0, 1));
    const [former] = await signer.publicKeys();
    loseKey();
    restarted();
    const id = await signer.replaceLost('the server was cleaned up');
    expect(await store.read('logKey-2')).toMatchObject([
      {
        type: 'LogKeyCreated',
        data: { key_id: id, replaces: ['logKey-1'] },
        metadata: { actor: 'operator', reason: 'the server was cleaned up' },
      },
    ]);
    await project(events.slice(1));
    const made = await seals.all();
    expect(made.map(({ key_id, count }) => [key_id, count])).toEqual([
      [id, 2],
      [id, 3],
    ]);
    const keys = await signer.publicKeys();
    expect(keys.map(({ kid }) => kid)).toEqual([id]);
    expect(id).not.toBe(former!.kid);
    for (const seal of made) expect(await signer.verify(sealText(seal), seal)).toBe(true);
    await expect(signer.replaceLost('again')).rejects.toThrow('is there: nothing is replaced');
  });

  it('is not replaced while it is there, nor before there was one', async () => {
    await expect(signer.replaceLost('why')).rejects.toThrow('nothing is replaced');
    const { key_id } = await signer.sign('text');
    await expect(signer.replaceLost('why')).rejects.toThrow(`The signing key ${key_id} is there`);
    expect(await store.read('logKey-2')).toEqual([]);
  });
});

describe('the seals, when their stream was deleted', () => {
  beforeEach(async () => {
    await project(events.slice(0, 3));
    const read = store.read.bind(store);
    jest.spyOn(store, 'read').mockImplementation((stream, after) => {
      return stream === SEALS ? Promise.reject(new StreamDeleted(stream)) : read(stream, after);
    });
  });

  it('are not begun anew in silence: what is to be done is said', async () => {
    for (const seal of [() => project(events.slice(3)), () => seals.sealNow()]) {
      await expect(seal()).rejects.toThrow(
        /^The history logSeals-1 was deleted .* audit -- --replace-seals .*docs\/guides\/audit\.md/,
      );
    }
    expect(await store.read('logSeals-2')).toEqual([]);
  });

  it('begin anew on request, with the reason in the log, and go on from there', async () => {
    await seals.replaceLost('the server was cleaned up');
    await project(events.slice(3));
    expect(await store.read('logSeals-2')).toMatchObject([
      {
        data: { number: 1, previous: '', count: 3, replaces: [SEALS] },
        metadata: { reason: 'the server was cleaned up' },
      },
    ]);
    await seals.sealNow();
    const [first, second] = await seals.all();
    expect(second).toMatchObject({ number: 2, previous: sealHash(first!), count: 4 });
    expect(await signer.verify(sealText(first!), first!)).toBe(true);
    await expect(seals.replaceLost('again')).rejects.toThrow('nothing is replaced');
  });

  it('that begin anew do not take the places of the lost ones in a bucket', async () => {
    await seals.replaceLost('the server was cleaned up');
    const put: string[] = [];
    const asked = jest.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
      if (init?.method === 'PUT') put.push((url as URL).href);
      return Promise.resolve(new Response(null, { headers: { 'x-amz-object-lock-mode': 'COMPLIANCE' } }));
    });
    const bucket = { ...CREDENTIALS, url: 'https://s3.example/seals', mode: 'COMPLIANCE' as const, retainDays: 30 };
    const made = await store.read('logSeals-2');
    await transaction(database.pool, (tx) => sealSender({ bucket }).handle(made, tx));
    asked.mockRestore();
    expect(put).toEqual(['https://s3.example/seals/seal-2-000000000001.json']);
  });
});

it('the seals are not replaced while they are there, nor before there were any', async () => {
  await expect(seals.replaceLost('why')).rejects.toThrow('nothing is replaced');
  await project(events);
  await expect(seals.replaceLost('why')).rejects.toThrow('nothing is replaced');
});
