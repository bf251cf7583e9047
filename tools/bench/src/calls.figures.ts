import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { BenchServer } from './bench-server';
import { type Counted, EventStoreDouble } from './event-store-double';
import { type Figure, shown } from './figure';

const WRITES = 50;
/** Without a call for so long, nothing of what was written is still being followed up. */
const QUIET_MS = 500;

/** Calls of EventStoreDB for one write, by itself and all followers of the process together, counted by the double. */
export async function callsFigures(databaseUrl: string, folder: string): Promise<Figure[]> {
  const double = await EventStoreDouble.start();
  try {
    const server = await BenchServer.start(databaseUrl, folder, double.url);
    try {
      return await count(server, double);
    } finally {
      await server.stop();
    }
  } finally {
    await double.stop();
  }
}

async function count(server: BenchServer, double: EventStoreDouble): Promise<Figure[]> {
  const { id } = await server.send<{ id: string }>('POST', '/v2/deployments', deployment('calls'));
  await rolledOut(server);
  const made = await quiet(double);
  const rollout = sum(made, 'rollout-');
  const patched = await perWrite(double, (n) =>
    server.send('PATCH', `/v2/deployments/${id}`, { source_config: { resource_spec: { cpu: 1 + (n % 2) } } }),
  );
  const listener = await perWrite(double, (n) => server.send('POST', '/v2/listeners', newListener(`calls-${n}`)));
  const steps = rollout.events;
  return [
    figure('PATCH of a deployment in memory', patched, WRITES, 1),
    figure('new listener', listener, WRITES, 3),
    figure('step of a rollout', rollout, steps, 1),
  ];
}

function figure(write: string, { appends, reads }: Counted, writes: number, atMost: number): Figure {
  return {
    name: `calls of EventStoreDB (the double) for each ${write}`,
    value: (appends + reads) / writes,
    unit: '',
    goal: { atMost },
    detail: `${shown(appends / writes)} appends, ${shown(reads / writes)} reads; mean of ${writes}`,
  };
}

/** The first write, which is not counted, brings what it changes into memory. */
async function perWrite(double: EventStoreDouble, write: (n: number) => Promise<unknown>): Promise<Counted> {
  await write(0);
  const before = sum(await quiet(double));
  for (let n = 1; n <= WRITES; n++) await write(n);
  const { reads, appends, events } = sum(await quiet(double));
  return { reads: reads - before.reads, appends: appends - before.appends, events: events - before.events };
}

async function quiet(double: EventStoreDouble): Promise<Readonly<Record<string, Counted>>> {
  for (let before = await double.streams(); ;) {
    await delay(QUIET_MS);
    const now = await double.streams();
    if (isDeepStrictEqual(now, before)) return now;
    before = now;
  }
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
