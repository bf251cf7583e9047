import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { checkpoint, eventingMigrations, follow, PostgresEventStore, type Recorded } from '@fairlead/eventing';
import { EventStoreDbStore } from '@fairlead/eventstoredb';
import { EventStoreDbDouble } from '@fairlead/eventstoredb/testing';
import { testDatabase, type TestDatabase } from '@fairlead/postgres/testing';
import { openEventStore } from '@fairlead/service';
import { Pool } from 'pg';

const ROOT = join(__dirname, '../../../..');
const limits = { attempt: 20_000, total: 60_000 };

let database: TestDatabase;
let double: EventStoreDbDouble;
let from: PostgresEventStore;
let to: EventStoreDbStore;
let processes: ChildProcess[];
beforeEach(async () => {
  database = await testDatabase(eventingMigrations);
  double = await EventStoreDbDouble.start();
  from = new PostgresEventStore(database.pool);
  to = new EventStoreDbStore(double.url, { limits });
  processes = [];
});
afterEach(async () => {
  for (const child of processes) child.kill('SIGKILL');
  await Promise.all([from.close(), to.close()]);
  await double.stop();
  await database.drop();
});

/** Appends in 20 streams, some of several events, and answers the whole log. */
async function fill(appends: number): Promise<Recorded[]> {
  const versions = Array.from({ length: 20 }, () => 0);
  for (let n = 0; n < appends; n++) {
    const nth = (n * 7) % 20;
    const events = Array.from({ length: 1 + (n % 3) }, (_, m) => ({
      type: n % 2 ? 'Noted' : 'Counted',
      data: { n, m, text: 'ü\u0000\ud800', none: null, deep: [[{}]] },
    }));
    const metadata = n % 5 ? { tenant: 't', causationId: `c${n}` } : {};
    versions[nth] = (await from.append(`note-${nth}`, versions[nth]!, events, metadata)).version;
  }
  const logs = await Promise.all(versions.map((_, nth) => from.read(`note-${nth}`)));
  return logs.flat().sort((a, b) => (a.position < b.position ? -1 : 1));
}

/** Starts the tool on the database, whose own connections have another name than a running service's. */
function launch(env: Readonly<Record<string, string>> = {}) {
  const tool = [join(ROOT, 'tools/admin/src/main.ts'), 'migrate-store'];
  const child = spawn(process.execPath, ['-r', join(ROOT, 'tools/test/typescript.cjs'), ...tool], {
    env: { PATH: process.env.PATH, DATABASE_URL: database.url, EVENTSTORE_URL: double.url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  processes.push(child);
  let [output, errors] = ['', ''];
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const ended = once(child, 'close').then(() => ({ code: child.exitCode, output, errors }));
  return { child, ended };
}
async function run(env?: Readonly<Record<string, string>>) {
  // The tool refuses to work beside a service, and the pool of this test looks like one.
  await from.close();
  if (!database.pool.ended) await database.pool.end();
  const ended = await launch(env).ended;
  Object.assign(database, { pool: new Pool({ connectionString: database.url }) });
  from = new PostgresEventStore(database.pool);
  return ended;
}
const facts = (event: Recorded) => ({ ...event, position: 0n });
async function moved(): Promise<Recorded[]> {
  const streams = new Set(double.log.events.map(({ stream }) => stream));
  const logs = await Promise.all([...streams].map((stream) => to.read(stream)));
  return logs.flat().sort((a, b) => (a.position < b.position ? -1 : 1));
}

it('moves the log: ids, order, versions, times and metadata stay, and followers go on where they were', async () => {
  const log = await fill(60);
  const stop = new AbortController();
  const seen: string[] = [];
  await follow('half', from, database.pool, stop.signal, async (events) => {
    // Of the first batch only: the checkpoint of a follower that is behind.
    seen.push(...events.map(({ id }) => id));
    stop.abort();
  });
  await from.append('note-late', 0, [{ type: 'Noted', data: {} }], {});
  await database.pool.query(`insert into checkpoints values ('new', 0), ('middle', $1)`, [log[29]!.position]);
  await database.pool.query('create table webhooks (since bigint)');
  await database.pool.query('insert into webhooks values ($1), ($2)', [log[9]!.position, log[19]!.position]);
  const { code, output, errors } = await run();
  expect([code, errors.includes('copy'), errors.includes('compare')]).toEqual([0, true, true]);
  expect(output).toContain(`${log.length + 1} events were moved and compared.`);
  const after = await moved();
  expect(after.map(facts)).toEqual([...log.map(facts), facts((await from.read('note-late'))[0]!)]);

  const { rows } = await database.pool.query('select since from webhooks order by since');
  expect(rows.map(({ since }) => BigInt(since))).toEqual([after[9]!.position, after[19]!.position]);
  expect(await checkpoint(database.pool, 'new')).toBe(0n);
  expect(await checkpoint(database.pool, 'middle')).toBe(after[29]!.position);
  const store = await openEventStore(database.pool, double.url);
  const rest = new AbortController();
  await follow('half', store, database.pool, rest.signal, async (events) => {
    seen.push(...events.map(({ id }) => id));
    if (seen.length > log.length) rest.abort();
  });
  await store.close();
  expect(seen).toEqual(after.map(({ id }) => id));
});

it('sends appends ahead in their order: some calls for all of them, and no read of what each became', async () => {
  const log = await fill(700);
  const { code, errors } = await run();
  expect([code, errors.includes('order')]).toEqual([0, true]);
  // An append is taken apart where a batch of the old log ends.
  expect(double.calls.append).toBeLessThanOrEqual(702);
  expect(double.calls.batches).toBeLessThanOrEqual(3);
  // The comparison reads each of the 20 streams once, and the ends of the log now and then.
  expect(double.calls.read).toBeLessThan(60);
  expect(double.log.events.map(({ id }) => id)).toEqual(log.map(({ id }) => id));
});

it('keeps the order when the call that carries appends breaks, and when answers are lost', async () => {
  const log = await fill(300);
  const breaking = new Promise<void>((resolve) => {
    const halt = () => {
      if (double.log.events.length < log.length / 2) return;
      double.log.listeners.delete(halt);
      double.breakBatches();
      resolve();
    };
    double.log.listeners.add(halt);
  });
  double.notReady = 2;
  const { code, errors } = await run();
  await breaking;
  expect([code, errors]).toEqual([0, expect.stringContaining('order')]);
  expect(double.calls.batches).toBeGreaterThan(1);
  expect(double.log.events.map(({ id }) => id)).toEqual(log.map(({ id }) => id));
});

it('leaves the old log as it was and takes nothing more into it', async () => {
  await fill(3);
  expect((await run()).code).toBe(0);
  await expect(from.append('note-0', 'any', [{ type: 'Noted', data: {} }], {})).rejects.toThrow('was moved');
  await expect(openEventStore(database.pool)).rejects.toThrow(/was moved to EventStoreDB at 127\.0\.0\.1:\d+: set/);
  const again = await run();
  expect([again.code, again.errors]).toEqual([1, 'The log of this database has been moved already.\n']);
});

it('goes on where it was when it is killed, however often', async () => {
  const log = await fill(400);
  await database.pool.end();
  for (const part of [0.2, 0.5, 0.8]) {
    const reached = new Promise<void>((resolve) => {
      const halt = () => {
        if (double.log.events.length < log.length * part) return;
        double.log.listeners.delete(halt);
        double.stall('append');
        resolve();
      };
      double.log.listeners.add(halt);
    });
    const { child, ended } = launch();
    await Promise.race([reached, ended]);
    child.kill('SIGKILL');
    await ended;
    double.resume('append');
  }
  expect(double.log.events.length).toBeLessThan(log.length);
  const { code, output } = await run();
  expect([code, output]).toEqual([0, expect.stringContaining(`${log.length} events were moved`)]);
  expect((await moved()).map(facts)).toEqual(log.map(facts));
});

it.each([
  ['an event of another log', async () => void (await to.append('other-1', 0, [{ type: 'Noted', data: {} }], {}))],
  [
    'an event that was changed',
    async (log: Recorded[]) => {
      const [first] = log;
      await to.append(first!.stream, 0, [{ id: first!.id, type: first!.type, data: 'changed' }], first!.metadata);
    },
  ],
])('does not move onto %s, and then everything stays as it was', async (_what, spoil) => {
  const log = await fill(5);
  await spoil(log);
  const { code, errors } = await run();
  expect(code).toBe(1);
  expect(errors.trim().split('\n').at(-1)).toMatch(/the old one does not have\.$|is not the same in the new log\.$/);
  expect(await from.append('note-0', 'any', [{ type: 'Noted', data: {} }], {})).toBeDefined();
});

it('says what it needs, and that the service must be stopped', async () => {
  const beside = await launch().ended;
  expect([beside.code, beside.errors]).toEqual([1, 'Fairlead is running on this database: stop it first.\n']);
  const untold = await launch({ EVENTSTORE_URL: '' }).ended;
  expect([untold.code, untold.errors]).toEqual([2, expect.stringContaining('EVENTSTORE_URL=esdb://…')]);
  const unclear = await launch({ EVENTSTORE_URL: 'http://127.0.0.1:2113' }).ended;
  expect([unclear.code, unclear.errors]).toEqual([2, expect.stringMatching(/^EVENTSTORE_URL must be .*\n$/)]);
  const nowhere = await launch({ DATABASE_URL: '', FAIRLEAD_DATA_DIR: join(__dirname, 'none') }).ended;
  expect([nowhere.code, nowhere.errors]).toEqual([1, expect.stringMatching(/^No installation in .*none: set /)]);
});
