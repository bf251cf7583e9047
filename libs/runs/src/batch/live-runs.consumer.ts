import { setImmediate as otherRequests } from 'node:timers/promises';
import {
  Away,
  EventStore,
  Followers,
  idOf,
  Inapplicable,
  load,
  type Projection,
  type Recorded,
} from '@fairlead/eventing';
import { LOCKS, transaction } from '@fairlead/postgres';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { EXPERIMENTS_VIEW, LIVE_RUNS } from '../common/experiments-view';
import { refreshRunStats } from '../counts/run-stats.projection';
import { TraceCounts } from '../counts/trace-counts.projection';
import { refreshFeedbackStats, settleFeedback } from '../feedback/feedback.projection';
import { applyChanges, countBytes } from './live-runs.projection';
import { mergedRuns, type RunChanges } from './merged-runs';
import { experimentModel, type RunBatch, type RunsReceived } from '../session/experiment';
import { RunBatches, runsOf } from './run-batches.store';

/** Bytes of batches, before they are compressed, that are in memory at once; a single batch may be larger. */
const MOST_BYTES = 8 * 1024 * 1024;
/** Runs that one statement stores. */
const MOST_RUNS = 500;
/** Longest wait for the view to show a session (ms). */
const SHOWN_MS = 5000;

type Received = Recorded<RunsReceived> & { readonly data: { readonly batch: RunBatch } };

/** Batches of one session that are stored in one transaction, and what they hold. */
interface Group {
  readonly events: readonly Received[];
  readonly changes: readonly RunChanges[];
}

/**
 * Stores the runs of batches, and computes the statistics of their sessions. Each session has a transaction of its own,
 * so that it waits for no other session. Storing a batch again changes nothing.
 */
@Injectable()
export class LiveRuns implements Projection {
  readonly name = LIVE_RUNS;
  readonly categories = ['experiment'];
  readonly types = ['RunsReceived'];
  readonly holds = 1;

  /** `followers` is absent where a copy of the tables is made: its view of experiments is up to date, and it deletes no batches. */
  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly batches: RunBatches,
    private readonly followers?: Followers,
  ) {}

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    // The view stores runs that are in the event itself, as in earlier versions.
    const received = (events as Recorded<RunsReceived>[]).filter((event): event is Received => !!event.data.batch);
    if (received.length === 0) return;
    // The runs are stored in transactions of their own; this one only moves the checkpoint.
    await tx.query('set local idle_in_transaction_session_timeout = 0');
    for (const piece of pieces(received)) {
      const groups: Group[] = [];
      for (const own of bySession(piece)) groups.push(await this.read(own));
      for (const group of inOrder(groups)) await this.keep(group);
    }
  };

  private async read(events: readonly Received[]): Promise<Group> {
    const [{ stream, metadata }] = events as [Received];
    const named = events.map(({ data }) => data.batch.sha256);
    const contents = await this.batches.read(metadata.tenant!, idOf(stream), [...new Set(named)]);
    const changes: RunChanges[] = [];
    for (const { time, data } of events) {
      const content = contents.get(data.batch.sha256);
      if (!content && !(await this.isRemoved(stream)))
        throw new Inapplicable(`The batch ${data.batch.sha256} is missing.`);
      changes.push({ runs: content ? [...runsOf(content)] : [], time });
      await otherRequests();
    }
    return { events, changes };
  }

  private async keep(group: Group): Promise<void> {
    const last = group.events.at(-1)!;
    const session = idOf(last.stream);
    if (await this.stored(group)) return;
    // The view may be about to make the session.
    const passed = await this.followers?.passed(last.position, [EXPERIMENTS_VIEW], SHOWN_MS);
    if (passed === false) throw new Away(`${EXPERIMENTS_VIEW} has not handled the session yet.`);
    if (await this.stored(group)) return;
    if (!(await this.isRemoved(last.stream))) throw new Inapplicable(`The session ${session} is not shown.`);
    if (!this.followers) return;
    await this.batches.forget(last.metadata.tenant!, session);
  }

  /** Stores the runs of a group; returns false, with nothing changed, when the session is not there. */
  private stored({ events, changes }: Group): Promise<boolean> {
    const [{ stream, metadata }] = events as [Received];
    const [session, tenant] = [idOf(stream), metadata.tenant!];
    return transaction(this.pool, async (tx) => {
      await tx.query(
        // A session from before its counts is counted once, which takes long where it is large.
        `set local synchronous_commit = off; set local statement_timeout = 0;
         select pg_advisory_xact_lock_shared(${LOCKS.awaitedFeedback}, hashtext(${tx.escapeLiteral(tenant)}))`,
      );
      // It keeps the session from being deleted, and lets others change it until its statistics are stored.
      const text = 'select 1 from sessions where id = $1 and tenant_id = $2 for key share';
      const there = await tx.query(text, [session, tenant]);
      if (there.rowCount === 0) return false;
      const sessions = new Set([session]);
      const runs = mergedRuns(changes);
      const counts = new TraceCounts();
      for (let at = 0; at < runs.length; at += MOST_RUNS) {
        const applied = await applyChanges(tx, tenant, session, runs.slice(at, at + MOST_RUNS), counts);
        for (const { session_id: own } of applied.values()) sessions.add(own);
      }
      await this.count(tx, tenant, session, events);
      for (const own of sessions) {
        const fedBack = await settleFeedback(tx, tenant, own);
        await refreshRunStats(tx, tenant, own, counts, this.followers ? undefined : Infinity);
        if (fedBack) await refreshFeedbackStats(tx, tenant, own);
      }
      return true;
    });
  }

  /** Notes the batches that are stored, and counts the bytes of those that were not. */
  private async count(tx: PoolClient, tenant: string, session: string, events: readonly Received[]): Promise<void> {
    const batches = new Map(events.map(({ data }) => [data.batch.sha256, data.batch.bytes]));
    const { rows } = await tx.query<{ sha256: string }>(
      `insert into stored_run_batches (tenant_id, session_id, sha256) select $1, $2, unnest($3::text[])
       on conflict do nothing returning sha256`,
      [tenant, session, [...batches.keys()]],
    );
    const bytes = rows.reduce((sum, { sha256 }) => sum + batches.get(sha256)!, 0);
    if (bytes > 0) await countBytes(tx, tenant, session, bytes);
  }

  private async isRemoved(stream: string): Promise<boolean> {
    return (await load(this.store, experimentModel, stream)).state?.removed ?? false;
  }
}

/** Cuts a list of events where their batches would take too much memory together. */
function* pieces(events: readonly Received[]): Generator<Received[]> {
  let piece: Received[] = [];
  let bytes = 0;
  for (const event of events) {
    const own = event.data.batch.bytes;
    if (piece.length > 0 && bytes + own > MOST_BYTES) {
      yield piece;
      [piece, bytes] = [[], 0];
    }
    piece.push(event);
    bytes += own;
  }
  yield piece;
}

function bySession(events: readonly Received[]): Received[][] {
  const sessions = new Map<string, Received[]>();
  for (const event of events) {
    const own = sessions.get(event.stream);
    if (own) own.push(event);
    else sessions.set(event.stream, [event]);
  }
  return [...sessions.values()];
}

/**
 * Returns the groups as they are, unless two sessions have changes of one run: the session that was recorded first has the
 * run then, so that each event is stored by itself, in the order of the log.
 */
function inOrder(groups: readonly Group[]): readonly Group[] {
  const sessions = new Map<string, Group>();
  for (const group of groups) {
    const tenant = group.events[0]!.metadata.tenant;
    for (const { runs } of group.changes) {
      for (const { id } of runs) {
        const key = `${tenant} ${id}`;
        const other = sessions.get(key);
        if (other && other !== group) return singles(groups);
        sessions.set(key, group);
      }
    }
  }
  return groups;
}

function singles(groups: readonly Group[]): Group[] {
  const all = groups.flatMap(({ events, changes }) =>
    events.map((event, nth) => ({ events: [event], changes: changes.slice(nth, nth + 1) })),
  );
  return all.sort((a, b) => (a.events[0]!.position < b.events[0]!.position ? -1 : 1));
}
