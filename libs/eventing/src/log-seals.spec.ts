import { randomBytes } from 'node:crypto';
import { transaction } from '@fairlead/postgres';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import {
  eventingMigrations,
  hashLog,
  LogSeals,
  LogSigner,
  MemoryEventStore,
  NOTHING,
  parseMasterKeys,
  type Recorded,
  sealText,
  Vault,
} from '.';

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
