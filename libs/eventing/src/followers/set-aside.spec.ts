import { runInNewContext } from 'node:vm';
import { testDatabase, until } from '@fairlead/postgres/testing';
import type { PoolClient } from 'pg';
import {
  Away,
  eventingMigrations,
  faultOf,
  Followers,
  Inapplicable,
  ParkedSubjects,
  PostgresEventStore,
  type Projection,
  type Recorded,
  StreamDeleted,
} from '..';

let database: Awaited<ReturnType<typeof testDatabase>>;
let store: PostgresEventStore;
let parked: ParkedSubjects;
let started: Followers[];
/** Data of events that the view cannot apply, and what it throws at them. */
let faults: Record<string, (tx: PoolClient) => Promise<unknown>>;
let calls: number;

const PATIENCE = { attempts: 3, firstMs: 10, mostMs: 20 };
/** As a statement that takes longer than the database lets it. */
const SLOW = (tx: PoolClient) => tx.query('set local statement_timeout = 20; select pg_sleep(60)');
const DIVISION = (tx: PoolClient) => tx.query('select 1 / 0');

beforeAll(async () => {
  database = await testDatabase(eventingMigrations);
  store = new PostgresEventStore(database.pool);
  parked = new ParkedSubjects(database.pool);
  await database.pool.query('create table seen (n serial, follower text, stream text, version int)');
});
beforeEach(() => {
  started = [];
  faults = {};
  calls = 0;
});
afterEach(async () => {
  await Promise.all(started.map((followers) => followers.onApplicationShutdown()));
  await database.pool.query('truncate parked_subjects, seen');
});
afterAll(async () => {
  await store.close();
  await database.drop();
});

const said = (word: string) => ({ type: 'Said', data: { word } });

function view(name: string, members: Partial<Projection> = {}): Projection {
  return {
    name,
    categories: [name],
    async handle(events, tx) {
      calls++;
      for (const { stream, version, data } of events as Recorded<ReturnType<typeof said>>[]) {
        await tx.query('insert into seen (follower, stream, version) values ($1, $2, $3)', [name, stream, version]);
        await faults[data.word]?.(tx);
      }
    },
    ...members,
  };
}
function start(projection: Projection, replicas = 1, patience = PATIENCE): Followers[] {
  const made = Array.from({ length: replicas }, () => new Followers(store, database.pool, patience));
  for (const followers of made) {
    followers.register(projection);
    followers.onApplicationBootstrap();
    started.push(followers);
  }
  return made;
}
async function seen(stream: string): Promise<number[]> {
  const { rows } = await database.pool.query<{ version: number }>(
    'select version from seen where stream = $1 order by n',
    [stream],
  );
  return rows.map(({ version }) => version);
}
const only = async () => (await parked.list(10))[0];
const givenUp = () => until(async () => (await only())?.status === 'parked');

it.each([false, true])('one event that cannot be applied holds up its stream alone (ahead: %s)', async (pipelined) => {
  const name = `poison${Number(pipelined)}`;
  faults.bad = DIVISION;
  for (let n = 0; n < 40; n++)
    await store.append(`${name}-${n}`, 0, [said(n === 17 ? 'bad' : 'good')], { tenant: 't' });
  await store.append(`${name}-17`, 1, [said('good')], {});
  const [followers] = start(view(name, { pipelined }));
  const { position } = await store.append(`${name}-3`, 1, [said('good')], {});
  expect(await followers!.passed(position, [name], 60_000)).toBe(true);
  for (let n = 0; n < 40; n++) expect(await seen(`${name}-${n}`)).toEqual(n === 17 ? [] : n === 3 ? [1, 2] : [1]);
  expect((await followers!.status())[0]).toMatchObject({ failing: undefined, lag: 0n });
  await givenUp();
  expect(await only()).toMatchObject({
    consumer: name,
    subject: `${name}-17`,
    tenant_id: 't',
    event_type: 'Said',
    version: 1,
    last_version: 2,
    attempts: 3,
    reason: 'division by zero',
  });
  // What comes later for it waits as well, and nobody waits for that.
  const later = await store.append(`${name}-17`, 2, [said('good')], {});
  expect(await followers!.passed(later.position, [name], 60_000)).toBe(true);
  expect(await only()).toMatchObject({ last_version: 3, status: 'parked' });

  faults = {};
  await parked.retry((await only())!.id);
  await until(async () => (await only()) === undefined);
  expect(await seen(`${name}-17`)).toEqual([1, 2, 3]);
  const last = await store.append(`${name}-17`, 3, [said('good')], {});
  expect(await followers!.passed(last.position, [name], 60_000)).toBe(true);
  expect(await seen(`${name}-17`)).toEqual([1, 2, 3, 4]);
});

it('goes on by itself when the event can be applied at last, as far as that goes', async () => {
  let failures = 2;
  faults.slow = async (tx) => failures-- > 0 && DIVISION(tx);
  faults.bad = DIVISION;
  const [followers] = start(view('later'));
  const { position } = await store.append('later-1', 0, [said('slow'), said('good'), said('bad'), said('good')], {});
  expect(await followers!.passed(position, ['later'], 60_000)).toBe(true);
  await givenUp();
  expect(await seen('later-1')).toEqual([1, 2]);
  expect(await only()).toMatchObject({ version: 3, last_version: 4, attempts: 3 });
});

it('finds one among a thousand in few attempts', async () => {
  faults.bad = DIVISION;
  const words = Array.from({ length: 1000 }, (_, n) => (n === 777 ? 'bad' : 'good'));
  for (let n = 0; n < 1000; n += 50) await store.append(`many-${n}`, 0, words.slice(n, n + 50).map(said), {});
  const [followers] = start(view('many'));
  const head = await store.head();
  expect(await followers!.passed(head, ['many'], 60_000)).toBe(true);
  expect(await seen('many-700')).toHaveLength(50);
  expect(await seen('many-750')).toHaveLength(27);
  expect(calls).toBeLessThan(60);
});

it('shares what is set aside among replicas', async () => {
  faults.bad = DIVISION;
  const replicas = start(view('shared', { pipelined: true }), 3);
  for (let n = 0; n < 30; n++) {
    await store.append(`shared-${n % 5}`, Math.floor(n / 5), [said(n === 12 ? 'bad' : 'good')], {});
  }
  const head = await store.head();
  for (const followers of replicas) expect(await followers.passed(head, ['shared'], 60_000)).toBe(true);
  expect(await seen('shared-1')).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await seen('shared-2')).toEqual([1, 2]);
  await givenUp();
  faults = {};
  await parked.retry((await only())!.id);
  await until(async () => (await only()) === undefined);
  expect(await seen('shared-2')).toEqual([1, 2, 3, 4, 5, 6]);
});

it.each<[string, (tx: PoolClient) => Promise<unknown>]>([
  ['data out of range', (tx) => tx.query(`select '1e999999'::jsonb`)],
  ['a text that PostgreSQL cannot hold', (tx) => tx.query('select $1::text', ['a\0b'])],
  ['an id in use', (tx) => tx.query(`insert into checkpoints values ('used', 1), ('used', 1)`)],
  ['a statement that takes too long', SLOW],
  ['a stream that was deleted', () => Promise.reject(new StreamDeleted('thing-1'))],
  ['what it needs and is gone', () => Promise.reject(new Inapplicable('no body'))],
  ['a missing member', () => Promise.resolve((undefined as unknown as { id: string }).id)],
  ['an error that does not tell', () => Promise.reject(new Error('no\0pe'))],
  ['a failure that the handler keeps to itself', (tx) => tx.query('select 1 / 0').catch(() => undefined)],
])('sets a stream aside for %s', async (_, fault) => {
  const name = `fault${Math.random()}`.replace('.', '');
  faults.bad = fault;
  const [followers] = start(view(name));
  await store.append(`${name}-1`, 0, [said('bad')], {});
  const { position } = await store.append(`${name}-2`, 0, [said('good')], {});
  expect(await followers!.passed(position, [name], 60_000)).toBe(true);
  expect(await seen(`${name}-2`)).toEqual([1]);
  expect(await only()).toMatchObject({ consumer: name, subject: `${name}-1` });
});

it.each<[string, () => Error]>([
  ['is shutting down', () => Object.assign(new Error('terminating connection'), { code: '57P01' })],
  ['has no room', () => Object.assign(new Error('disk full'), { code: '53100' })],
  ['lacks a table', () => Object.assign(new Error('no such table'), { code: '42P01' })],
  ['cannot be reached', () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })],
  ['does not answer', () => new Error('Query read timeout')],
  ['is said to be away', () => new Away('no broker')],
])('sets nothing aside while what it needs %s', async (_, error) => {
  const name = `away${Math.random()}`.replace('.', '');
  let away = 12;
  faults.bad = () => (away-- > 0 ? Promise.reject(error()) : Promise.resolve());
  const [followers] = start(view(name));
  const { position } = await store.append(`${name}-1`, 0, [said('bad')], {});
  await until(async () => away < 8);
  expect((await followers!.status())[0]!.failing).toBeDefined();
  expect(await parked.list(1)).toEqual([]);
  away = 0;
  expect(await followers!.passed(position, [name], 60_000)).toBe(true);
  expect(await seen(`${name}-1`)).toEqual([1]);
});

it('first takes what fails for all streams alike for no event of theirs', async () => {
  const name = 'paper';
  faults.bad = () => Promise.reject(new Error('out of paper'));
  const [followers] = start(view(name), 1, { ...PATIENCE, attempts: 100 });
  let position = 0n;
  for (let n = 0; n < 3; n++) ({ position } = await store.append(`${name}-${n}`, 0, [said('bad')], {}));
  await until(async () => (await followers!.status())[0]!.failing !== undefined);
  expect(await parked.list(1)).toEqual([]);
  faults = {};
  expect(await followers!.passed(position, [name], 60_000)).toBe(true);
  for (let n = 0; n < 3; n++) expect(await seen(`${name}-${n}`)).toEqual([1]);
  expect(await parked.list(1)).toEqual([]);
});

it.each<[string, (tx: PoolClient) => Promise<unknown>]>([
  ['untold', () => Promise.reject(new Error('out of paper'))],
  ['raised', (tx) => tx.query(`do $$ begin raise exception 'no'; end $$`)],
  ['sluggish', SLOW],
])('goes on in the end when several streams, and nothing else, always fail: %s', async (name, fault) => {
  faults.bad = fault;
  const [followers] = start(view(name));
  for (let n = 0; n < 4; n++) await store.append(`${name}-${n}`, 0, [said('bad')], { tenant: 't' });
  const head = await store.head();
  expect(await followers!.passed(head, [name], 60_000)).toBe(true);
  // What comes now comes alone.
  const { position } = await store.append(`${name}-9`, 0, [said('good')], {});
  expect(await followers!.passed(position, [name], 60_000)).toBe(true);
  expect(await seen(`${name}-9`)).toEqual([1]);
  const list = () => parked.list(10);
  await until(async () => (await list()).length === 4 && (await list()).every(({ status }) => status === 'parked'));
  expect((await list()).map(({ subject }) => subject).sort()).toEqual([0, 1, 2, 3].map((n) => `${name}-${n}`));
  for (const one of await list())
    expect(one).toMatchObject({ consumer: name, attempts: 3, reason: expect.any(String) });
  expect((await list()).every(({ reason }) => reason.length > 0)).toBe(true);
  expect((await followers!.status())[0]).toMatchObject({ failing: undefined, lag: 0n });
});

it('goes on when streams fail for reasons that differ from try to try, and together otherwise than alone', async () => {
  const batches: Projection['handle'] = async (events, tx) => {
    if (events.length > 1) await tx.query('select 1 / 0');
    if (events[0]!.stream !== 'moody-9') throw new Error(`mood ${calls++}`);
  };
  for (let n = 0; n < 2; n++) await store.append(`moody-${n}`, 0, [said('bad')], {});
  const [followers] = start(view('moody', { handle: batches }));
  const head = await store.head();
  expect(await followers!.passed(head, ['moody'], 60_000)).toBe(true);
  const { position } = await store.append('moody-9', 0, [said('good')], {});
  expect(await followers!.passed(position, ['moody'], 60_000)).toBe(true);
  expect((await parked.list(10)).map(({ subject }) => subject).sort()).toEqual(['moody-0', 'moody-1']);
});

it('a single event at which a statement always takes too long holds up its stream alone', async () => {
  faults.bad = SLOW;
  const [followers] = start(view('alone'));
  const bad = await store.append('alone-1', 0, [said('bad')], {});
  expect(await followers!.passed(bad.position, ['alone'], 60_000)).toBe(true);
  const good = await store.append('alone-2', 0, [said('good')], {});
  expect(await followers!.passed(good.position, ['alone'], 60_000)).toBe(true);
  expect(await seen('alone-2')).toEqual([1]);
  await givenUp();
  expect(await only()).toMatchObject({ subject: 'alone-1', reason: expect.stringContaining('timeout') });
});

it('sets a slow event aside alone, and applies it when it has become fast', async () => {
  faults.bad = SLOW;
  for (let n = 0; n < 20; n++) await store.append(`slow-${n}`, 0, [said(n === 7 ? 'bad' : 'good')], {});
  const head = await store.head();
  const [followers] = start(view('slow', { pipelined: true }));
  expect(await followers!.passed(head, ['slow'], 60_000)).toBe(true);
  for (let n = 0; n < 20; n++) expect(await seen(`slow-${n}`)).toEqual(n === 7 ? [] : [1]);
  await givenUp();
  expect(await only()).toMatchObject({ subject: 'slow-7', attempts: 3, reason: expect.stringContaining('timeout') });
  faults = {};
  await parked.retry((await only())!.id);
  await until(async () => (await only()) === undefined);
  expect(await seen('slow-7')).toEqual([1]);
});

it('gives up a parked stream that was deleted meanwhile, and goes on with those behind it', async () => {
  faults.bad = DIVISION;
  const [followers] = start(view('cut'));
  const read = store.read.bind(store);
  const spy = jest.spyOn(store, 'read').mockImplementation((stream, after) => {
    return stream === 'cut-1' ? Promise.reject(new StreamDeleted(stream)) : read(stream, after);
  });
  await store.append('cut-1', 0, [said('bad')], {});
  const { position } = await store.append('cut-2', 0, [said('bad')], {});
  expect(await followers!.passed(position, ['cut'], 60_000)).toBe(true);
  const list = () => parked.list(10);
  await until(async () => (await list()).length === 2 && (await list()).every(({ status }) => status === 'parked'));
  faults = {};
  for (const { id } of await list()) await parked.retry(id);
  await until(async () => (await list()).length === 1 && (await only())?.status === 'parked');
  expect(await only()).toMatchObject({ subject: 'cut-1', reason: 'The history cut-1 was deleted in the event store.' });
  expect(await seen('cut-2')).toEqual([1]);
  spy.mockRestore();
});

it('tells what an error is to be blamed on', () => {
  expect(faultOf(new SyntaxError('x'))).toBe('event');
  expect(faultOf(runInNewContext(`new RangeError('of another realm')`))).toBe('event');
  expect(faultOf(new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }))).toBe(
    'surroundings',
  );
  expect(faultOf(Object.assign(new Error('unavailable'), { code: 14 }))).toBe('surroundings');
  expect(faultOf('text')).toBe('unknown');
  expect(faultOf(new DOMException('not cloned', 'DataCloneError'))).toBe('event');
  const coded = (code: string) => faultOf(Object.assign(new Error(code), { code }));
  for (const code of ['P0001', 'XX000', '53200', '38000']) expect(coded(code)).toBe('unknown');
  for (const code of ['53100', '42P01', '40P01', '55P03', '58030']) expect(coded(code)).toBe('surroundings');
});
