import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbedded } from '@fairlead/postgres';
import { Client } from 'pg';
import { until } from '@fairlead/postgres/testing';
import { Courier } from '../testing/courier';
import { type DeploymentLife, imageOf } from '../testing/deployment-life';
import { hasEnded, Home, killed, type Service } from '../testing/home';
import { type Entry, Ledger } from '../testing/ledger';
import { Random } from '../testing/fuzz/random';
import { differences, forgetReadModels, readModels, unsettled } from '../testing/read-models';
import { Traffic } from '../testing/traffic';

const SEED = Number(process.env.FAIRLEAD_KILL_SEED ?? 20_260_101);
/** A short form with every test run, and the full one with `npm run test:faults`. */
const FULL = process.env.FAIRLEAD_FAULTS === 'full';
const ROUNDS = FULL ? 20 : 9;
/** The short form also runs where everything is slow. */
const RECOVERY_MS = FULL ? 10_000 : 300_000;
const VICTIMS = ['PostgreSQL', 'the server', 'both'] as const;

describe(`The service, killed ${ROUNDS} times in the middle of writes (FAIRLEAD_KILL_SEED=${SEED})`, () => {
  const random = new Random(SEED);
  const courier = new Courier();
  const traffic = new Traffic(courier, random);
  let home: Home;
  let service: Service;
  let clients: Client[];

  beforeAll(() => {
    home = new Home();
    clients = [];
  });
  afterAll(async () => {
    courier.giveUp();
    await traffic.stop();
    await Promise.all(clients.map((client) => client.end()));
    await home.end();
  });

  /** Connects to the database in a data directory of `home`. */
  async function connect(data?: string): Promise<Client> {
    // A server that was killed has no complete file with its port at first, and then says for a while that it is starting.
    let client!: Client;
    const attempt = async () => {
      client = new Client(home.databaseUrl(data));
      client.on('error', () => undefined);
      await client.connect();
      return 'connected';
    };
    await until(
      () => attempt().catch(String),
      (seen) => seen === 'connected',
    );
    clients.push(client);
    return client;
  }

  async function startService(): Promise<void> {
    service = await home.start();
    courier.target = { url: service.url, key: home.key() };
  }

  async function kill(victim: (typeof VICTIMS)[number]): Promise<void> {
    const postmaster = home.postgresPid();
    if (victim !== 'PostgreSQL') courier.expectKill();
    if (victim !== 'the server') process.kill(postmaster, 'SIGKILL');
    if (victim === 'PostgreSQL') {
      await until(() => home.postgresPid() !== postmaster);
      return;
    }
    await killed(service.process);
    await delay(random.below(200));
    await startService();
  }

  /** A write that was sent after `time` has succeeded. */
  async function writesGoOn(time: number): Promise<void> {
    await until(() => courier.lastSuccess >= time, undefined, RECOVERY_MS);
  }

  /** Every event has had all its effects. */
  async function settled(db: Client): Promise<void> {
    const look = async () => ({ left: await unsettled(db), errors: service.errors().slice(-2000) });
    await until(look, ({ left }) => left.length === 0);
  }

  /** Faults of the log, compared with everything that had been acknowledged when this is called. */
  async function logFaults(): Promise<string[]> {
    const ledger = new Ledger(traffic);
    const db = await connect();
    const { rows } = await db.query<Entry & { position: string }>(
      'select id, "position", stream, version, type, data from events order by "position"',
    );
    await db.end();
    clients.splice(clients.indexOf(db), 1);
    const gaps = rows.filter(({ position }, index) => position !== String(index + 1));
    return [...gaps.map(({ position }) => `a hole before position ${position}`), ...ledger.faults(rows)];
  }

  async function get(path: string) {
    const { status, json } = await courier.deliver({ method: 'GET', path });
    expect({ path, status }).toEqual({ path, status: 200 });
    return json;
  }

  it('loses nothing that it acknowledged, doubles nothing, and comes back by itself', async () => {
    await startService();
    traffic.start();
    for (let round = 0; round < ROUNDS; round++) {
      const { succeeded } = courier.counts;
      await until(
        () => ({ ...courier.counts }),
        (counts) => counts.succeeded >= succeeded + 20,
      );
      await delay(random.below(300));
      const victim = VICTIMS[round % VICTIMS.length]!;
      const pid = service.process.pid;
      const time = Date.now();
      await kill(victim);
      const down = victim === 'PostgreSQL' ? time : Date.now();
      await writesGoOn(down);
      expect({ victim, recovered: Date.now() - down < RECOVERY_MS }).toEqual({ victim, recovered: true });
      if (victim === 'PostgreSQL') expect([service.process.pid, hasEnded(service.process)]).toEqual([pid, false]);
      expect(await logFaults()).toEqual([]);
    }
    await traffic.stop();
    expect({ faults: [...traffic.faults, ...courier.faults] }).toEqual({ faults: [] });
    expect(await logFaults()).toEqual([]);
  });

  it('shows every deployment as it was acknowledged last, each under a name of its own', async () => {
    const db = await connect();
    await settled(db);
    const present = traffic.lives.filter(({ refused, isDeleted }) => !refused && !isDeleted);
    const { resources } = await get('/v2/deployments?limit=100');
    expect(resources.map(({ id }: DeploymentLife) => id).sort()).toEqual(present.map(({ id }) => id).sort());
    expect(new Set(resources.map(({ name }: DeploymentLife) => name)).size).toBe(present.length);
    for (const life of present) {
      const revealed = life.secret === undefined ? [] : [{ name: 'TOKEN', value: life.secret }];
      expect(await get(`/v2/deployments/${life.id}?include_secrets=true`)).toMatchObject({
        name: life.name,
        status: 'READY',
        source_revision_config: { image_uri: imageOf(life.image) },
        secrets: revealed,
      });
      const revisions = await get(`/v2/deployments/${life.id}/revisions?limit=100`);
      expect(revisions.resources).toHaveLength(life.image + 1);
      if (life.tag === undefined) continue;
      const tagged = await get(`/v2/deployments?tag_value_ids=${life.tag}`);
      expect(tagged.resources.map(({ id }: DeploymentLife) => id)).toEqual([life.id]);
    }
  });

  it('shows every experiment with exactly its runs, feedback and statistics', async () => {
    const db = await connect();
    const { uploads } = traffic;
    expect(uploads.length).toBeGreaterThan(ROUNDS);
    for (const { answer, statistics, name } of uploads) {
      const session = await get(`/api/v1/sessions/${answer?.experiment}`);
      expect(session).toMatchObject({ name, reference_dataset_id: answer?.dataset, ...statistics });
    }
    const stored = await db.query<{ id: string; runs: number; feedback: number }>(`
      select id, (select count(*)::int from runs where session_id = s.id) as runs,
        (select count(*)::int from feedback where session_id = s.id) as feedback
      from sessions s where reference_dataset_id is not null`);
    const expected = uploads.map(({ answer, statistics: { run_count } }) => ({
      id: answer?.experiment,
      runs: run_count,
      feedback: run_count + 1,
    }));
    expect(new Set(stored.rows)).toEqual(new Set(expected));
    for (const dataset of new Set(uploads.map((upload) => upload.dataset))) {
      const members = uploads.filter((upload) => upload.dataset === dataset);
      const ids = new Set(members.map(({ answer }) => answer?.dataset));
      expect(ids.size).toBe(1);
      expect(await get(`/api/v1/datasets/${[...ids][0]}`)).toMatchObject({
        name: dataset,
        session_count: members.length,
        example_count: new Set(members.flatMap(({ rowIds }) => [...rowIds])).size,
      });
    }
  });

  it('has one tracing project for each name that deployments had', async () => {
    const db = await connect();
    const { rows } = await db.query<{ name: string }>('select name from sessions where reference_dataset_id is null');
    const names = traffic.lives.filter(({ refused }) => !refused).map(({ name }) => name);
    expect(rows.map(({ name }) => name).sort()).toEqual([...new Set(names)].sort());
  });

  it('has the same read models when everything is replayed, and writes nothing new then', async () => {
    const live = await connect();
    await settled(live);
    const kept = await readModels(live);
    const events = await countEvents(live);
    service.process.kill('SIGTERM');
    await until(() => hasEnded(service.process));
    // Users and modes too: PostgreSQL insists on them.
    execFileSync('cp', ['-a', home.data(), home.data('replay')]);
    const postgres = await startEmbedded({ dataDir: join(home.data('replay'), 'postgres') });
    try {
      await forgetReadModels(await connect('replay'));
    } finally {
      await postgres.stop();
    }
    // With as few connections as may be set, followers that use several would soon wait for one another.
    service = await home.start({ FAIRLEAD_DATA_DIR: home.data('replay'), DATABASE_CONNECTIONS: '6' });
    const replay = await connect('replay');
    await settled(replay);
    expect(differences(kept, await readModels(replay))).toEqual([]);
    expect(await countEvents(replay)).toBe(events);
  });
});

/** All but the link to the console that each start prints. */
async function countEvents(db: Client): Promise<string | undefined> {
  const { rows } = await db.query<{ count: string }>(`select count(*) from events where type <> 'ConsoleCodeIssued'`);
  return rows[0]?.count;
}
