import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { BenchServer } from './bench-server';
import { type Asked, type Counted, EventStoreDouble } from './event-store-double';
import { type Figure, shown } from './figure';

const WRITES = 50;
/** Revisions that are rolled out one after the other. */
const REVISIONS = 20;
/** Writers at a time, and the writes of each. */
const BESIDE = { writers: 32, writes: 20 };
/** Without a call for so long, nothing of what was written is still being followed up. */
const QUIET_MS = 500;

/**
 * Calls of the event store for each write, for its own and all followers of the process together: of EventStoreDB counted
 * by the double, one write after the other and with many at a time, and of PostgreSQL beside it.
 */
export async function callsFigures(
  databases: { postgres: string; eventStore: string },
  folder: string,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const double = await EventStoreDouble.start();
  try {
    const server = await BenchServer.start(databases.eventStore, join(folder, 'eventstore'), double.url);
    try {
      figures.push(...(await count(server, double)), ...(await countBeside(server, double)));
    } finally {
      await server.stop();
    }
  } finally {
    await double.stop();
  }
  const server = await BenchServer.start(databases.postgres, join(folder, 'postgres'));
  try {
    return [...figures, ...(await countBeside(server))];
  } finally {
    await server.stop();
  }
}

async function count(server: BenchServer, double: EventStoreDouble): Promise<Figure[]> {
  const id = await created(server, 'calls');
  await rolledOut(server);
  const { streams: made } = await quiet(double);
  const rollout = sum(made, 'rollout-');
  const patched = await perWrite(double, WRITES, (n) =>
    server.send('PATCH', `/v2/deployments/${id}`, { source_config: { resource_spec: { cpu: 1 + (n % 2) } } }),
  );
  const listener = await perWrite(double, WRITES, (n) =>
    server.send('POST', '/v2/listeners', newListener(`calls-${n}`)),
  );
  const revision = await perWrite(double, REVISIONS, async (n) => {
    await server.send('PATCH', `/v2/deployments/${id}`, image(n));
    await quiet(double);
  });
  const steps = sum((await quiet(double)).streams, 'rollout-').events - rollout.events;
  return [
    figure('PATCH of a deployment in memory', patched, WRITES, 1),
    figure('new listener', listener, WRITES, 3),
    figure('step of a rollout', rollout, rollout.events, 1),
    {
      name: 'reads of EventStoreDB, of any stream and of the log, for each PATCH with a revision and its rollout',
      value: revision.reads / REVISIONS,
      unit: '',
      goal: { atMost: 0 },
      detail: `${shown(revision.appends / REVISIONS)} appends, ${shown(steps / (REVISIONS + 1))} of them steps of the rollout; one after the other, mean of ${REVISIONS}`,
    },
  ];
}

function figure(write: string, { appends, reads }: Totals, writes: number, atMost: number): Figure {
  return {
    name: `calls of EventStoreDB for each ${write}`,
    value: (appends + reads) / writes,
    unit: '',
    goal: { atMost },
    detail: `${shown(appends / writes)} appends, ${shown(reads / writes)} reads; mean of ${writes}`,
  };
}

type Totals = Pick<Counted, 'reads' | 'appends'>;

/** The first write, which is not counted, brings what it changes into memory. */
async function perWrite(
  double: EventStoreDouble,
  writes: number,
  write: (n: number) => Promise<unknown>,
): Promise<Totals> {
  await write(0);
  const before = totals(await quiet(double));
  for (let n = 1; n <= writes; n++) await write(n);
  const { reads, appends } = totals(await quiet(double));
  return { reads: reads - before.reads, appends: appends - before.appends };
}

/** Many writers at a time, each with a deployment of its own: calls, batches and wake-ups per write, with either store. */
async function countBeside(server: BenchServer, double?: EventStoreDouble): Promise<Figure[]> {
  const { writers, writes } = BESIDE;
  const ids = await Promise.all(Array.from({ length: writers }, (_, n) => created(server, `beside-${n}`)));
  const figures: Figure[] = [];
  for (const [name, body] of [
    ['PATCH without a revision', (n: number) => ({ source_config: { build_command: `make ${n}` } })],
    ['PATCH with a revision', image],
  ] as const) {
    const settled = async () => {
      await rolledOut(server);
      await delay(2 * QUIET_MS);
      return double && (await quiet(double)).calls;
    };
    const metrics = async () => ({
      commits: await server.metric('fairlead_append_commit_duration_seconds_count'),
      batches: await server.metric('fairlead_follower_batch_duration_seconds_count'),
      wakeups: await server.metric('fairlead_follower_wakeups_total'),
    });
    await settled();
    const before = { ...(await metrics()), asked: await settled() };
    const write = async (id: string) => {
      for (let n = 1; n <= writes; n++) await server.send('PATCH', `/v2/deployments/${id}`, body(n));
    };
    await Promise.all(ids.map(write));
    const after = { asked: await settled(), ...(await metrics()) };
    const each = (from: number, to: number) => shown((to - from) / (writers * writes));
    const [asked, was] = [after.asked, before.asked];
    const store = double ? 'EventStoreDB' : 'PostgreSQL';
    const calls =
      asked && was
        ? `${each(was.append, asked.append)} appends in ${each(was.batches, asked.batches)} calls of batches, ${each(was.read, asked.read)} reads`
        : `${each(before.commits, after.commits)} commits of the log`;
    figures.push({
      name: `wake-ups of followers for each ${name}, ${writers} writers, log in ${store}`,
      value: (after.wakeups - before.wakeups) / (writers * writes),
      unit: '',
      detail: `${each(before.batches, after.batches)} batches of followers; ${calls}; mean of ${writers * writes}`,
    });
  }
  return figures;
}

async function created(server: BenchServer, name: string): Promise<string> {
  return (await server.send<{ id: string }>('POST', '/v2/deployments', deployment(name))).id;
}

function image(n: number): object {
  return { source_revision_config: { image_uri: `registry.example/agent:${n}` } };
}

async function quiet(double: EventStoreDouble): Promise<Asked> {
  for (let before = await double.asked(); ;) {
    await delay(QUIET_MS);
    const now = await double.asked();
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
}

/** Appends to all streams, and reads of all streams and of the log. */
function totals({ streams, calls }: Asked): Totals {
  const all = sum(streams);
  const ofStreams = Object.values(streams).reduce((total, { reads }) => total + reads, 0);
  return { appends: all.appends, reads: all.reads + calls.read - ofStreams };
}

function sum(streams: Readonly<Record<string, Counted>>, prefix = ''): Counted {
  // The key that signs the log is made, and read once, at some time after the start.
  const counted = Object.entries(streams).filter(([name]) => name.startsWith(prefix) && !name.startsWith('logKey-'));
  const of = (member: keyof Counted) => counted.reduce((total, [, stream]) => total + stream[member], 0);
  return { reads: of('reads'), appends: of('appends'), events: of('events') };
}

/** Resolves when every deployment of the server runs its newest revision. @throws Error when it does not within two minutes */
export async function rolledOut(server: BenchServer): Promise<void> {
  type Listed = { resources: { latest_revision_id: string; active_revision_id: string | null }[] };
  for (const end = Date.now() + 120_000; Date.now() < end; await delay(50)) {
    const { resources } = await server.send<Listed>('GET', '/v2/deployments?limit=100');
    if (resources.every((each) => each.active_revision_id === each.latest_revision_id)) return;
  }
  throw new Error('The rollouts do not end.');
}

export function deployment(name: string): object {
  return {
    name,
    source: 'external_container',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    secrets: [],
  };
}

export function newListener(compute_id: string): object {
  return { compute_type: 'k8s', compute_id, compute_config: { cluster_namespaces: ['agents'] } };
}
