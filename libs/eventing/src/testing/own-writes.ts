import type { Pool } from 'pg';
import { Consistency } from '../followers/consistency';
import type { EventStore } from '../core/event-store';
import { Followers } from '../followers/followers';
import type { Projection } from '../followers/projection';

const PATIENCE = { attempts: 3, firstMs: 10, mostMs: 20 };

export const noted = (word = 'good') => ({ type: 'Noted', data: { word } });

/** Followers and consistency of one process, which are started. */
export function processOn<S extends EventStore>(store: S, pool: Pool, ...projections: Projection[]) {
  const followers = new Followers(store, pool, PATIENCE);
  for (const projection of projections) followers.register(projection);
  const consistency = new Consistency(store, followers);
  followers.onApplicationBootstrap();
  consistency.onApplicationBootstrap();
  const stop = async () => {
    await Promise.all([followers.onApplicationShutdown(), consistency.onApplicationShutdown()]);
  };
  return { store, consistency, stop };
}

/** Writes into the table `seen` which events it has handled; `fault` is called with the data of each event. */
export function view(name: string, members: Partial<Projection> = {}, fault?: (word: string) => void): Projection {
  return {
    name,
    categories: [name],
    async handle(events, tx) {
      for (const { stream, version, data } of events) {
        fault?.((data as { word: string }).word);
        await tx.query('insert into seen values ($1, $2, $3)', [name, stream, version]);
      }
    },
    ...members,
  };
}

export async function isSeen(pool: Pool, name: string, stream: string): Promise<boolean> {
  const { rowCount } = await pool.query('select 1 from seen where view = $1 and stream = $2', [name, stream]);
  return rowCount === 1;
}

/** Clients of two processes write, and the view of the other process shows each of them what it has written. */
export async function expectOwnWrites(
  pool: Pool,
  name: string,
  open: () => EventStore & { close(): Promise<void> },
): Promise<void> {
  await pool.query('create table if not exists seen (view text, stream text, version int)');
  const processes = [open(), open()].map((store) => processOn(store, pool, view(name)));
  let missed = 0;
  const client = async (n: number) => {
    for (let round = 0; round < 15; round++) {
      const [writer, reader] = round % 2 ? processes : [...processes].reverse();
      const stream = `${name}-${n}x${round}`;
      await writer!.store.append(stream, 0, [noted()], { tenant: `workspace ${n}` });
      await reader!.consistency.upToDate(`workspace ${n}`, [name], 20_000);
      if (!(await isSeen(pool, name, stream))) missed++;
    }
  };
  await Promise.all(Array.from({ length: 30 }, (_, n) => client(n)));
  expect(missed).toBe(0);
  await Promise.all(processes.map(({ stop }) => stop()));
  await Promise.all(processes.map(({ store }) => store.close()));
}
