import { join } from 'node:path';
import { placeOf } from '@fairlead/service';
import { v4 as uuid } from 'uuid';
import { BenchServer } from './bench-server';
import { deployment, newListener, rolledOut } from './calls.figures';
import { type Figure, median, shown } from './figure';
import { measured } from './load';

const ROUNDS = 3;
const SECONDS = 3;
const DEPLOYMENTS = 64;
const WRITERS = [4, 16, 32];

interface Write {
  readonly name: string;
  readonly method: 'PATCH' | 'POST';
  /** The nth request to a service that has these deployments. */
  readonly request: (ids: readonly string[], n: number) => { path: string; body: object };
}

const WRITES: readonly Write[] = [
  {
    name: 'PATCH without a revision',
    method: 'PATCH',
    request: (ids, n) => ({
      path: `/v2/deployments/${ids[n % ids.length]}`,
      body: { source_config: { build_command: `make ${n}` } },
    }),
  },
  {
    name: 'new listener',
    method: 'POST',
    request: () => ({ path: '/v2/listeners', body: newListener(uuid()) }),
  },
  {
    name: 'PATCH with a revision',
    method: 'PATCH',
    request: (ids, n) => ({
      path: `/v2/deployments/${ids[n % ids.length]}`,
      body: { source_revision_config: { image_uri: `registry.example/agent:${n}` } },
    }),
  },
];

/** One Fairlead under a load of writes. */
class Side {
  private constructor(
    private readonly server: BenchServer,
    private readonly ids: readonly string[],
  ) {}

  private sent = 1;

  /** Makes the deployments, and sends a little of every write so that the process is warm. */
  static async of(server: BenchServer): Promise<Side> {
    const ids: string[] = [];
    for (let n = 0; n < DEPLOYMENTS; n++) {
      const { id } = await server.send<{ id: string }>('POST', '/v2/deployments', deployment(`stores-${uuid()}`));
      ids.push(id);
    }
    const side = new Side(server, ids);
    for (const write of WRITES) await side.load(write, 16, 1);
    return side;
  }

  /** Begins when every rollout has ended. */
  async load({ method, request }: Write, connections: number, seconds = SECONDS) {
    await rolledOut(this.server);
    const next = () => {
      const { path, body } = request(this.ids, (this.sent += 1));
      return { path, body: JSON.stringify(body) };
    };
    const { url, headers } = this.server;
    return measured({ url, connections, seconds, method, headers, next });
  }
}

/**
 * Writes to two services that differ in where their log is, in turn: rate and p99 with the log in EventStoreDB at
 * `url`, against those with the log in PostgreSQL. Both databases are empty; the deployments stay in the log at `url`.
 */
export async function storesFigures(
  databases: { postgres: string; eventStore: string },
  url: string,
  folder: string,
): Promise<Figure[]> {
  const postgres = await BenchServer.start(databases.postgres, join(folder, 'postgres'));
  try {
    const eventStore = await BenchServer.start(databases.eventStore, join(folder, 'eventstore'), url);
    try {
      return await compare(await Side.of(postgres), await Side.of(eventStore), placeOf(url));
    } finally {
      await eventStore.stop();
    }
  } finally {
    await postgres.stop();
  }
}

async function compare(postgres: Side, eventStore: Side, place: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const write of WRITES) {
    for (const writers of WRITERS) {
      const rounds = [];
      for (let round = 0; round < ROUNDS; round++) {
        rounds.push({ limit: await postgres.load(write, writers), ours: await eventStore.load(write, writers) });
      }
      const rates = rounds.map(({ limit, ours }) => `${shown(ours.rate)}/s of ${shown(limit.rate)}/s`);
      const times = rounds.map(({ limit, ours }) => `${shown(ours.p99)} ms, PostgreSQL ${shown(limit.p99)} ms`);
      figures.push(
        {
          name: `${write.name}, ${writers} writers: rate with the log in EventStoreDB, against that in PostgreSQL`,
          value: median(rounds.map(({ limit, ours }) => ours.rate / limit.rate)),
          unit: '',
          goal: { atLeast: 0.5 },
          detail: `server at ${place}; ${rates.join(', ')}`,
        },
        {
          name: 'the same: p99',
          // Times are whole milliseconds.
          value: median(rounds.map(({ limit, ours }) => ours.p99 / Math.max(1, limit.p99))),
          unit: '',
          goal: { atMost: 2 },
          detail: times.join('; '),
        },
      );
    }
  }
  return figures;
}
