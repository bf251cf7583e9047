import fc from 'fast-check';
import { v7 as uuid } from 'uuid';
import { testDatabase } from '@fairlead/postgres/testing';
import { type Appended, type BatchHandler, eventingMigrations, follow, PostgresEventStore, VersionConflict } from '..';

/** One step of a concurrent writer; each writer takes its steps one after the other. */
const write = fc.record({
  stream: fc.nat(5),
  events: fc.integer({ min: 1, max: 4 }),
  how: fc.constantFrom('expected', 'any', 'sent twice'),
});
const plan = fc.record({
  writers: fc.array(fc.array(write, { minLength: 4, maxLength: 12 }), { minLength: 16, maxLength: 16 }),
  /** Number of batches in a thousand after which a follower crashes once it has written its rows. */
  crashes: fc.integer({ min: 0, max: 400 }),
  seed: fc.integer(),
});

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  database = await testDatabase(eventingMigrations);
  await database.pool.query(
    'create table seen (n serial, projection text, stream text, version int, "position" bigint, id uuid)',
  );
});
afterAll(() => database.drop());

it('gives every acknowledged event to every projection exactly once and in order, whatever crashes', async () => {
  await fc.assert(
    fc.asyncProperty(plan, async ({ writers, crashes, seed }) => {
      const run = uuid();
      // Two replicas: each its own store, so that each reads the log and commits for itself.
      const replicas = [new PostgresEventStore(database.pool), new PostgresEventStore(database.pool)];
      const stop = new AbortController();
      const random = generator(seed);
      const start = await replicas[0]!.head();
      const following = replicas.flatMap((store) =>
        ['one', 'two'].map((name) =>
          followCrashing(`${name} ${run}`, store, stop.signal, () => random() * 1000 < crashes),
        ),
      );

      const acknowledged = new Map<string, number>();
      await Promise.all(
        writers.map(async (writes, writer) => {
          for (const { stream, events, how } of writes) {
            const store = replicas[writer % 2]!;
            const batch = Array.from({ length: events }, () => ({ id: uuid(), type: 'Noted', data: { writer } }));
            const appended = await appendAs(how, store, `s${stream}-${run}`, batch);
            batch.forEach(({ id }, index) => acknowledged.set(id, appended.version - batch.length + 1 + index));
          }
        }),
      );

      const head = await replicas[0]!.head();
      while (!(await caughtUp([`one ${run}`, `two ${run}`], head))) await new Promise(setImmediate);
      stop.abort();
      await Promise.all(following);
      await Promise.all(replicas.map((store) => store.close()));

      for (const projection of [`one ${run}`, `two ${run}`]) {
        const { rows } = await database.pool.query<{ id: string; stream: string; version: number; position: string }>(
          'select id, stream, version, "position" from seen where projection = $1 and "position" > $2 order by n',
          [projection, start],
        );
        expect(new Map(rows.map(({ id, version }) => [id, version]))).toEqual(acknowledged);
        expect(rows).toHaveLength(acknowledged.size);
        expect(rows.map(({ position }) => BigInt(position))).toEqual(rows.map((_, n) => start + BigInt(n + 1)));
        for (const stream of new Set(rows.map((row) => row.stream))) {
          const versions = rows.filter((row) => row.stream === stream).map(({ version }) => version);
          expect(versions).toEqual(versions.map((_, n) => n + 1));
        }
      }
    }),
    { numRuns: 10 },
  );
});

it('lets exactly one of n concurrent appends at one version win, across replicas', async () => {
  const replicas = [new PostgresEventStore(database.pool), new PostgresEventStore(database.pool)];
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 16 }), fc.integer({ min: 0, max: 3 }), async (n, version) => {
      const stream = `race-${uuid()}`;
      for (let v = 0; v < version; v++) await replicas[0]!.append(stream, v, [{ type: 'Noted', data: {} }], {});
      const attempts = Array.from({ length: n }, (_, writer) =>
        replicas[writer % 2]!.append(stream, version, [{ type: 'Noted', data: { writer } }], {}),
      );
      const settled = await Promise.allSettled(attempts);
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const attempt of settled) {
        if (attempt.status === 'rejected') expect(attempt.reason).toBeInstanceOf(VersionConflict);
      }
      expect(await replicas[1]!.read(stream)).toHaveLength(version + 1);
    }),
    { numRuns: 25 },
  );
  await Promise.all(replicas.map((store) => store.close()));
});

type Batch = { id: string; type: string; data: object }[];

async function appendAs(how: string, store: PostgresEventStore, stream: string, batch: Batch): Promise<Appended> {
  if (how === 'any') return store.append(stream, 'any', batch, {});
  for (;;) {
    const version = (await store.read(stream)).length;
    try {
      const first = await store.append(stream, version, batch, {});
      if (how === 'sent twice') expect(await store.append(stream, version, batch, {})).toEqual(first);
      return first;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

/** Follows, writing a row per event; "crashes" (throws, so that its transaction is rolled back) when told to, and starts over. */
async function followCrashing(name: string, store: PostgresEventStore, signal: AbortSignal, crash: () => boolean) {
  while (!signal.aborted) {
    try {
      const write: BatchHandler = async (events, tx) => {
        for (const { stream, version, position, id } of events) {
          await tx.query('insert into seen (projection, stream, version, "position", id) values ($1, $2, $3, $4, $5)', [
            name,
            stream,
            version,
            position,
            id,
          ]);
        }
        if (crash()) throw new Error('crash');
      };
      await follow(name, store, database.pool, signal, write, { pipelined: name.startsWith('two') });
    } catch (error) {
      if ((error as Error).message !== 'crash') throw error;
    }
  }
}

async function caughtUp(names: string[], head: bigint): Promise<boolean> {
  const { rows } = await database.pool.query('select from checkpoints where name = any($1) and "position" >= $2', [
    names,
    head,
  ]);
  return rows.length === names.length;
}

/** A small seeded generator (mulberry32), so that a failing run can be repeated. */
function generator(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
