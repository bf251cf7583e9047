import { Logger } from '@nestjs/common';
import { type TestDatabase, testDatabase, until } from '@fairlead/postgres/testing';
import type { Pool } from 'pg';
import type { Lease } from './lease';
import { QueueWorker } from './queue-worker';
import { type WorkItem, WorkQueue } from './work-queue';

class Parcels extends WorkQueue {
  constructor(pool: Pool, lease = 60_000) {
    super(pool, { table: 'parcels', key: 'parcel_id', lease, mostOfTenant: 2, counted: 'leased_until >= now()' });
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

it('keeps an item for which more was noted while it was worked on', async () => {
  const queue = new Parcels(database.pool);
  await queue.note(['a1', 'a']);
  const [item] = await queue.claim(1);
  await queue.note(['a1', 'a']);
  await queue.finish(item!);
  const [again] = await queue.claim(1);
  expect(again).toEqual({ id: 'a1', noted: 2n, failures: 0 });
  await queue.finish(again!);
  expect((await database.pool.query('select from parcels')).rowCount).toBe(0);
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
