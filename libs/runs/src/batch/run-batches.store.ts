import { createHash } from 'node:crypto';
import { blocksOf, BLOCK_BYTES, frameOf } from '@fairlead/blobs';
import { Unavailable } from '@fairlead/schema';
import type { Pool } from 'pg';
import type { RunChange } from '../run/run-change';
import type { RunBatch } from '../session/experiment';

/** Rows that one statement deletes. */
const MOST_DELETED = 1000;
/** Attempts to keep a batch that is removed at the same time. */
const ATTEMPTS = 3;
/** Batches without an event are looked for among those that were kept in this time before they may be removed (ms). */
const LOOKED_AT_MS = 26 * 60 * 60 * 1000;
const HOUR = 60 * 60 * 1000;

/**
 * Returns the content of a batch: JSON Lines, of which the first names the session, so that a batch belongs to one session
 * alone, and each other one is a change of a run.
 */
export function batchContent(session: string, runs: readonly RunChange[]): Buffer {
  return Buffer.from([{ session_id: session }, ...runs].map((line) => `${JSON.stringify(line)}\n`).join(''));
}

/** Returns the changes of runs in the content of a batch, one after the other. */
export function* runsOf(content: Buffer): Generator<RunChange> {
  for (let start = content.indexOf(0x0a) + 1; start < content.length;) {
    const end = content.indexOf(0x0a, start);
    yield JSON.parse(content.toString('utf8', start, end)) as RunChange;
    start = end + 1;
  }
}

/** Runs that were sent while they happened, by workspace and session. The log has only their hashes. */
export class RunBatches {
  constructor(private readonly pool: Pool) {}

  /**
   * Keeps a batch for as long as its session is there, if an event names it. Keeping it again changes nothing.
   * @throws Unavailable while it is removed again and again
   */
  async keep(tenant: string, session: string, content: Buffer): Promise<Pick<RunBatch, 'sha256' | 'bytes'>> {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const bytes = content.length;
    const key = [tenant, session, sha256];
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const added = await this.pool.query({
        name: 'keep run batch',
        text: `insert into run_batches (tenant_id, session_id, sha256, bytes, data) values ($1, $2, $3, $4, $5)
               on conflict do nothing`,
        values: [...key, bytes, await packed(content)],
      });
      if (added.rowCount === 1) return { sha256, bytes };
      const again = await this.pool.query(
        'update run_batches set kept_at = now() where tenant_id = $1 and session_id = $2 and sha256 = $3',
        key,
      );
      if (again.rowCount === 1) return { sha256, bytes };
    }
    throw new Unavailable();
  }

  /** Returns the contents of batches that are there, by their SHA-256. */
  async read(tenant: string, session: string, batches: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const { rows } = await this.pool.query<{ sha256: string; data: Buffer }>({
      name: 'read run batches',
      text: `select sha256, data from run_batches where tenant_id = $1 and session_id = $2 and sha256 = any($3)`,
      values: [tenant, session, batches],
    });
    const contents = new Map<string, Buffer>();
    for (const { sha256, data } of rows) contents.set(sha256, await unpacked(data));
    return contents;
  }

  /** Deletes the batches of a session that is gone. */
  async forget(tenant: string, session: string): Promise<void> {
    while ((await this.deleteSome(tenant, session)) > 0);
  }

  /** Deletes batches of a workspace, or of one of its sessions, some at a time; returns how many. */
  async deleteSome(tenant: string, session?: string): Promise<number> {
    const { rowCount } = await this.pool.query(
      `delete from run_batches where tenant_id = $1 and (session_id, sha256) in (
         select session_id, sha256 from run_batches
         where tenant_id = $1 and ($2::uuid is null or session_id = $2) limit ${MOST_DELETED})`,
      [tenant, session],
    );
    return rowCount ?? 0;
  }

  /**
   * Deletes what was kept more than an hour before `now` and that no event names, because a process ended in between. The
   * follower must have stored all events that there were at `now`; streams that it has set aside keep their batches.
   */
  async sweep(follower: string, now: number): Promise<void> {
    await this.pool.query(
      `delete from run_batches b where kept_at > $1 and kept_at < $2
         and not exists (select from stored_run_batches s where (s.tenant_id, s.session_id, s.sha256) = (b.tenant_id, b.session_id, b.sha256))
         and not exists (select from parked_subjects where consumer = $3 and subject = 'experiment-' || b.session_id)`,
      [new Date(now - LOOKED_AT_MS), new Date(now - HOUR), follower],
    );
  }
}

async function packed(content: Buffer): Promise<Buffer> {
  const frames: Buffer[] = [];
  for (let at = 0; at < content.length; at += BLOCK_BYTES)
    frames.push(...(await frameOf(content.subarray(at, at + BLOCK_BYTES))));
  return Buffer.concat(frames);
}

async function unpacked(data: Buffer): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for await (const block of blocksOf([data])) blocks.push(block);
  return Buffer.concat(blocks);
}
