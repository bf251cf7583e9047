import { holds, Rebuild, type RebuildProgress, RebuildProblem, requireSameLog, OlderLog } from '@fairlead/eventing';
import { OF_SERVICE, transaction } from '@fairlead/postgres';
import type { Pool, PoolClient } from 'pg';
import type { Installation } from '../installation';
import { type LogContents, readContents } from './log-contents';
import { readModels } from '../read-models';
import { type Orphans, orphans } from './orphans';

/** Changes to a database whose log is older than it. */
interface OlderLogReport {
  /** The read models, and streams that could not be applied to them. */
  readonly models: readonly { readonly name: string; readonly leftOut: readonly string[] }[];
  /** Followers without a read model, by where they go on. */
  readonly followers: readonly { readonly name: string; readonly goesOn: string }[];
  readonly orphans: readonly Orphans[];
}

/** Followers that count from the first event on again, with the table that is emptied for each. */
const COUNTED_AGAIN: readonly (readonly [RegExp, string])[] = [
  [/^quota\./, 'quota_places'],
  [/^log\.seals$/, 'log_hashes'],
];
/** The checkpoint of a consumer ends in the type of its events, that of another follower does not. */
const CONSUMER = /\.[A-Z][A-Za-z]*$/;

/** @throws RebuildProblem when a service is connected to the database */
export async function requireStopped(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where ${OF_SERVICE}`,
  );
  if (rows[0]!.n > 0) throw new RebuildProblem('Fairlead is running on this database: stop it first.');
}

/**
 * Makes the database agree with a log that is older than it: all read models are made again beside the old ones, and take
 * their place together with every checkpoint in one transaction; until then nothing has changed. Nothing is done, and
 * undefined returned, when the log is not older.
 * @throws RebuildProblem; the signal's reason
 */
export async function exchangeForOlderLog(
  installation: Installation,
  progress: (progress: RebuildProgress) => void,
  signal?: AbortSignal,
): Promise<OlderLogReport | undefined> {
  const { store, pool, url } = installation;
  if (!(await isOlder(installation))) return undefined;
  const models = readModels(installation);
  const rebuilds = models.map((model) => new Rebuild(store, pool, url, model, progress, signal));
  try {
    for (const rebuild of rebuilds) await rebuild.fill();
    // What was uploaded and not stored yet is stored now, which is an event as well.
    let head = await store.head();
    for (let before = -1n; before !== head; head = await store.head()) {
      before = head;
      for (const rebuild of rebuilds) await rebuild.reach(head);
    }
    const log = await readContents(store, head, signal);
    const followers = await transaction(pool, async (tx) => {
      await tx.query('set local statement_timeout = 0');
      for (const rebuild of rebuilds) await rebuild.exchange(tx);
      await forgetLater(tx, log);
      return moveCheckpoints(tx, installation, log, new Set(rebuilds.flatMap((rebuild) => rebuild.followers)));
    });
    return {
      models: models.map(({ name }, index) => ({
        name,
        leftOut: rebuilds[index]!.leftOut().map(
          ({ stream, version, reason }) => `${stream} from version ${version} on: ${reason}`,
        ),
      })),
      followers,
      orphans: await orphans(pool, log),
    };
  } finally {
    for (const rebuild of rebuilds) await rebuild.close();
  }
}

async function isOlder({ store, pool }: Installation): Promise<boolean> {
  try {
    await requireSameLog(store, pool);
    return false;
  } catch (error) {
    if (error instanceof OlderLog) return true;
    throw error;
  }
}

/**
 * Deletes the database's notes about events that are not in the log: that they were handled, wait, or were answered.
 */
async function forgetLater(tx: PoolClient, { streams }: LogContents): Promise<void> {
  await tx.query(
    'create temporary table log_streams (stream text primary key, version int, handled int) on commit drop',
  );
  const all = [...streams];
  for (let start = 0; start < all.length; start += 10_000) {
    const some = all.slice(start, start + 10_000);
    await tx.query('insert into log_streams select * from unnest($1::text[], $2::int[], $3::int[])', [
      some.map(([stream]) => stream),
      some.map(([, { version }]) => version),
      some.map(([, { handled }]) => handled),
    ]);
  }
  await tx.query('analyze log_streams');
  await tx.query('update inbox set sequence = handled from log_streams where stream = subject and sequence > handled');
  await tx.query('delete from inbox where sequence = 0 or not exists (select from log_streams where stream = subject)');
  await tx.query(
    `delete from parked_subjects p where not exists (
       select from log_streams s where s.stream = p.subject and s.version >= p.version)`,
  );
  await tx.query(
    `update parked_subjects p set last_version = s.version from log_streams s
     where s.stream = p.subject and p.last_version > s.version`,
  );
  // A request that is sent again is recognised by the event it caused, if that is still there.
  await tx.query('delete from idempotency_keys');
  const { rows } = await tx.query<{ there: boolean }>(`select to_regclass('rollout_duties') is not null as there`);
  if (!rows[0]!.there) return;
  await tx.query(
    `delete from rollout_duties where not exists (select from log_streams where stream = 'deployment-' || deployment_id)`,
  );
  await tx.query(
    `delete from gated_deployments where not exists (select from log_streams where stream = 'deployment-' || deployment_id)`,
  );
  // A rollout that had come further is taken up where the log says it is.
  await tx.query(
    `insert into rollout_duties (deployment_id, noted) select id, 1 from deployments
     on conflict (deployment_id) do update
     set noted = rollout_duties.noted + 1, due_at = now(), holder = null, leased_until = null`,
  );
}

interface Checkpoint {
  name: string;
  position: string;
  event_id: string | null;
  event_position: string | null;
  event_stream: string | null;
}

/** Moves every checkpoint into the log that is there; answers those of followers without a read model. */
async function moveCheckpoints(
  tx: PoolClient,
  { store }: Installation,
  { newest, handled }: LogContents,
  rebuilt: ReadonlySet<string>,
): Promise<OlderLogReport['followers']> {
  const { rows } = await tx.query<Checkpoint>('select * from checkpoints order by name for update');
  const others: { name: string; goesOn: string }[] = [];
  for (const row of rows) {
    const again = COUNTED_AGAIN.find(([names]) => names.test(row.name));
    if (again) await tx.query(`delete from ${again[1]}`);
    const end = CONSUMER.test(row.name) ? handled : newest;
    const place = again ? undefined : end;
    const isKept =
      !again && !rebuilt.has(row.name) && BigInt(row.position) <= (end?.position ?? 0n) && (await isIn(row));
    if (!rebuilt.has(row.name))
      others.push({ name: row.name, goesOn: isKept ? 'where it was' : goesOn(row.name, place) });
    if (isKept) continue;
    await tx.query(
      `update checkpoints set "position" = $2, event_id = $3, event_position = $4, event_stream = $5 where name = $1`,
      [row.name, place?.position ?? 0n, place?.id, place?.position, place?.stream],
    );
  }
  return others;

  async function isIn({ event_id, event_position, event_stream }: Checkpoint): Promise<boolean> {
    if (event_id === null) return true;
    return holds(store, { id: event_id, stream: event_stream!, position: BigInt(event_position!) });
  }
}

function goesOn(name: string, place: LogContents['newest']): string {
  if (!place) return 'at the first event of the log';
  return CONSUMER.test(name)
    ? `behind position ${place.position}: the last events are handled again`
    : 'at the end of the log';
}
