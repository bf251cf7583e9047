import { getEventListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import { type TestDatabase, testDatabase, until } from '@fairlead/postgres/testing';
import { Pool } from 'pg';
import { Lease } from './lease';
import { QueueWorker } from './queue-worker';
import { type WorkItem, WorkQueue } from './work-queue';

class Parcels extends WorkQueue {
  constructor(pool: Pool, lease = 60_000, counted = 'true') {
    super(pool, { table: 'parcels', key: 'parcel_id', lease, mostOfTenant: 2, counted });
  }

  async note(...parcels: [id: string, tenant: string][]): Promise<void> {
    for (const [id, tenant] of parcels) {
      await this.pool.query(
        `insert into parcels (parcel_id, tenant_id, noted) values ($1, $2, 1)
         on conflict (parcel_id) do update set noted = parcels.noted + 1`,
        [id, tenant],
      );
      this.wake(id);
    }
  }

  async finish(item: WorkItem): Promise<void> {
    if (!(await this.done(item))) await this.giveBack(item.id, 'failures = $3', [0]);
  }
}

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase([]);
  await database.pool.query(`create table parcels (parcel_id text primary key, tenant_id text, noted bigint not null,
    due_at timestamptz not null default now(), failures int not null default 0, holder uuid, leased_until timestamptz)`);
});
afterAll(() => database?.drop());
beforeEach(() => database.pool.query('truncate parcels'));

const ids = (items: readonly WorkItem[]) => items.map(({ id }) => id).sort();

it('leases an item to one process at a time, and no more of one workspace than it may have', async () => {
  const [one, other] = [new Parcels(database.pool), new Parcels(database.pool)];
  await one.note(['a1', 'a'], ['a2', 'a'], ['a3', 'a'], ['b1', 'b']);
  expect(ids(await one.claim(2))).toEqual(['a1', 'b1']);
  expect(ids(await other.claim(5))).toEqual(['a2']);
  await one.release();
  expect(ids(await other.claim(5))).toEqual(['a1', 'b1']);
});

it('leases an item again when its lease has ended, and tells the former holder that it is lost', async () => {
  const [dead, living] = [new Parcels(database.pool, 1), new Parcels(database.pool)];
  await dead.note(['a1', 'a']);
  const [item] = await dead.claim(1);
  await until(async () => (await living.claim(1)).length === 1);
  expect(await dead.renew(item!.id)).toBeUndefined();
  await dead.finish(item!);
  expect(await living.renew('a1')).toBe(1n);
});

it.each(['true', 'holder = $1'])('a process leases what it has lost again, when %s is counted', async (counted) => {
  // A prepared statement has one text for each connection.
  const pool = new Pool({ connectionString: database.url });
  const queue = new Parcels(pool, 60_000, counted);
  await queue.note(['a1', 'a'], ['a2', 'a'], ['a3', 'a']);
  expect(await queue.claim(3)).toHaveLength(2);
  expect(await queue.claim(3)).toEqual([]);
  await pool.query(`update parcels set leased_until = now() - interval '1 second'`);
  expect(await queue.claim(3)).toHaveLength(2);
  await pool.end();
});

it('a lease ends with its worker, and leaves nothing with the signal of that when it ends before', () => {
  const queue = new Parcels(database.pool);
  const stopping = new AbortController();
  const combined = jest.spyOn(AbortSignal, 'any');
  const [ended, open] = ['a1', 'a2'].map(
    (id) => new Lease({ id, tenant: 'a', noted: 1n, failures: 0 }, queue, stopping.signal),
  );
  ended!.end();
  expect(combined).not.toHaveBeenCalled();
  combined.mockRestore();
  expect(getEventListeners(stopping.signal, 'abort')).toHaveLength(1);
  stopping.abort();
  expect([ended!.signal.aborted, open!.signal.aborted]).toEqual([false, true]);
  open!.end();
  expect(getEventListeners(stopping.signal, 'abort')).toHaveLength(0);
});

it('keeps an item for which more was noted while it was worked on', async () => {
  const queue = new Parcels(database.pool);
  await queue.note(['a1', 'a']);
  const [item] = await queue.claim(1);
  await queue.note(['a1', 'a']);
  await queue.finish(item!);
  const [again] = await queue.claim(1);
  expect(again).toEqual({ id: 'a1', tenant: 'a', noted: 2n, failures: 0 });
  await queue.finish(again!);
  expect((await database.pool.query('select from parcels')).rowCount).toBe(0);
});

it('a worker does not begin anew on an item on which it is still at work', async () => {
  const queue = new Parcels(database.pool);
  const begun: string[] = [];
  class Courier extends QueueWorker {
    constructor() {
      super(queue, new Logger('Couriers'), 3);
    }

    protected async work({ item, signal }: Lease): Promise<void> {
      begun.push(item.id);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    }
  }
  const courier = new Courier();
  courier.onApplicationBootstrap();
  await queue.note(['a1', 'a']);
  await until(() => begun.length === 1);
  // As after a pause of the process that was longer than the lease.
  await database.pool.query(`update parcels set leased_until = now() - interval '1 minute'`);
  queue.wake();
  const leased = `select from parcels where leased_until > now()`;
  await until(async () => (await database.pool.query(leased)).rowCount === 1);
  await queue.note(['b1', 'b']);
  await until(() => begun.includes('b1'));
  await courier.onApplicationShutdown();
  expect(begun).toEqual(['a1', 'b1']);
});

it('a worker begins an item that it has leased again when its work on it has ended', async () => {
  const queue = new Parcels(database.pool);
  const begun: string[] = [];
  let end: () => void = () => undefined;
  class Courier extends QueueWorker {
    constructor() {
      super(queue, new Logger('Couriers'), 3);
    }

    protected async work({ item }: Lease): Promise<void> {
      begun.push(item.id);
      if (begun.length === 1) await new Promise<void>((resolve) => (end = resolve));
    }
  }
  const courier = new Courier();
  courier.onApplicationBootstrap();
  await queue.note(['a1', 'a']);
  await until(() => begun.length === 1);
  await database.pool.query(`update parcels set leased_until = now() - interval '1 minute'`);
  queue.wake();
  const leased = `select from parcels where leased_until > now()`;
  await until(async () => (await database.pool.query(leased)).rowCount === 1);
  end();
  await until(() => begun.length > 1);
  expect(begun.slice(0, 2)).toEqual(['a1', 'a1']);
  await courier.onApplicationShutdown();
});

it('a worker takes up what is noted, looks again at what it works on, and leaves nothing leased when it stops', async () => {
  const queue = new Parcels(database.pool);
  const begun: string[] = [];
  class Courier extends QueueWorker {
    constructor() {
      super(queue, new Logger('Couriers'), 2);
    }

    protected async work(lease: Lease): Promise<void> {
      begun.push(lease.item.id);
      const carry = (signal: AbortSignal) =>
        new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      await lease.during(carry, async () => (await queue.renew(lease.item.id)) === 1n);
      if (!lease.signal.aborted) await queue.finish({ ...lease.item, noted: 2n });
    }
  }
  const courier = new Courier();
  courier.onApplicationBootstrap();
  await queue.note(['a1', 'a'], ['b1', 'b']);
  await until(() => begun.length === 2);
  await queue.note(['a1', 'a']);
  await until(async () => (await database.pool.query('select from parcels')).rowCount === 1);
  await courier.onApplicationShutdown();
  const { rows } = await database.pool.query('select parcel_id, holder from parcels');
  expect(rows).toEqual([{ parcel_id: 'b1', holder: null }]);
});
