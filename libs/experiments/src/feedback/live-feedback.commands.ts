import { checkAppend, type EventStore, type Metadata, Room, streamName } from '@fairlead/eventing';
import { BadRequest, Conflict } from '@fairlead/schema';
import { v5 as idFrom } from 'uuid';
import { type FeedbackAdded, type FeedbackAwaited, sessionStream } from '../sessions/experiment';
import { experimentsView } from '../sessions/experiments.projection';
import type { Parts } from '../runs/live/live-runs.commands';

/** Feedback that came among the parts of a request. */
export interface SentFeedback {
  readonly data: FeedbackAdded['data'];
  /** The session that it names. */
  readonly sessionId?: string;
  /** Members that were sent and are not kept. */
  readonly ignored: readonly string[];
}

/** Feedback of a workspace that may wait for its runs. */
const MOST_AWAITED = 10_000;
/** Events that are appended at once, so that they share a commit. */
const AT_ONCE = 50;
const rooms = new WeakMap<EventStore, Room>();

type Appended = {
  readonly stream: string;
  readonly event: (FeedbackAdded | FeedbackAwaited) & { readonly id: string };
};

/**
 * The events of feedback: it goes to the session of its run. One whose run is not known yet goes to the session that it
 * names, and waits for its run when it names none. `places` tells the sessions of runs by their ids. What is stored
 * already is left out.
 * @throws BadRequest for a session or comparison that the tenant does not have, or one that is not the run's;
 * AppendTooLarge
 */
export async function feedbackEvents(
  parts: Parts,
  tenantId: string,
  sent: readonly SentFeedback[],
  places: ReadonlyMap<string, string>,
  metadata: Metadata,
): Promise<Appended[]> {
  const fresh = await withoutStored(parts, tenantId, sent);
  if (fresh.length === 0) return [];
  let known = await knownPlaces(parts, tenantId, fresh);
  const isUnknown = ({ sessionId }: SentFeedback) => sessionId !== undefined && !known.sessions.has(sessionId);
  if (fresh.some(isUnknown)) {
    await parts.consistency.upToDate(tenantId, [experimentsView.name]);
    known = await knownPlaces(parts, tenantId, fresh);
  }
  const appends = fresh.map(({ data, sessionId }): Appended => {
    const session = data.run_id === null ? sessionId : (places.get(data.run_id) ?? known.runs.get(data.run_id));
    if (session !== undefined && sessionId !== undefined && session !== sessionId)
      throw new BadRequest(`Feedback ID ${data.id}: the run is not of the session named by session_id.`);
    if (session === undefined && sessionId === undefined) return awaited(tenantId, data);
    if (sessionId !== undefined && !known.sessions.has(sessionId))
      throw new BadRequest(`Feedback ID ${data.id}: there is no session ${sessionId}.`);
    const place = (session ?? sessionId)!;
    // The same feedback sent twice at once is one event.
    return { stream: sessionStream(place), event: { type: 'FeedbackAdded', data, id: idFrom(data.id, place) } };
  });
  await requireComparisons(parts, tenantId, fresh);
  for (const { stream, event } of appends) checkAppend(stream, [event], metadata);
  return appends;
}

/** Records the events. */
export async function appendFeedback(
  { store }: Pick<Parts, 'store'>,
  appends: readonly Appended[],
  metadata: Metadata,
): Promise<void> {
  for (let at = 0; at < appends.length; at += AT_ONCE) {
    const group = appends.slice(at, at + AT_ONCE);
    await Promise.all(group.map(({ stream, event }) => store.append(stream, 'any', [event], metadata)));
  }
}

function awaited(tenantId: string, data: FeedbackAdded['data']): Appended {
  const stream = streamName('awaitedFeedback', idFrom(data.run_id!, tenantId));
  return { stream, event: { type: 'FeedbackAwaited', data, id: idFrom(data.id, tenantId) } };
}

async function withoutStored({ pool }: Parts, tenantId: string, sent: readonly SentFeedback[]) {
  const { rows } = await pool.query<{ id: string }>(
    'select id from feedback where id = any($1::uuid[]) and tenant_id = $2',
    [sent.map(({ data }) => data.id), tenantId],
  );
  const stored = new Set(rows.map(({ id }) => id));
  return sent.filter(({ data }) => !stored.has(data.id));
}

async function knownPlaces({ pool }: Parts, tenantId: string, sent: readonly SentFeedback[]) {
  const ids = (found: (one: SentFeedback) => string | null | undefined) =>
    [...new Set(sent.map(found))].filter(Boolean);
  const runs = await pool.query<{ id: string; session_id: string }>(
    'select id, session_id from runs where id = any($1::uuid[]) and tenant_id = $2',
    [ids(({ data }) => data.run_id), tenantId],
  );
  const sessions = await pool.query<{ id: string }>(
    'select id from sessions where id = any($1::uuid[]) and tenant_id = $2',
    [ids(({ sessionId }) => sessionId), tenantId],
  );
  return {
    runs: new Map(runs.rows.map((row) => [row.id, row.session_id])),
    sessions: new Set(sessions.rows.map(({ id }) => id)),
  };
}

async function requireComparisons({ pool }: Parts, tenantId: string, sent: readonly SentFeedback[]) {
  const named = sent.flatMap(({ data }) => data.comparative_experiment_id ?? []);
  if (named.length === 0) return;
  const { rows } = await pool.query<{ id: string }>(
    'select id from comparative_experiments where id = any($1::uuid[]) and tenant_id = $2',
    [named, tenantId],
  );
  const known = new Set(rows.map(({ id }) => id));
  const unknown = named.find((id) => !known.has(id));
  if (unknown !== undefined) throw new BadRequest(`There is no comparative experiment ${unknown}.`);
}

/**
 * Lets as many events wait for their runs as there is room for; the function that it resolves with gives back the room
 * when the view counts them, or, called without them having been recorded, at once. @throws Conflict
 */
export async function awaitedRoom(
  { store, pool, consistency }: Parts,
  tenantId: string,
  appends: readonly Appended[],
): Promise<(recorded: boolean) => void> {
  const more = appends.filter(({ event }) => event.type === 'FeedbackAwaited').length;
  if (more === 0) return () => undefined;
  const room = rooms.get(store) ?? new Room(MOST_AWAITED);
  rooms.set(store, room);
  const leave = await room.take(tenantId, more, async () => {
    const { rows } = await pool.query<{ count: number }>(
      'select count(*)::int as count from (select 1 from awaited_feedback where tenant_id = $1 limit $2) as waiting',
      [tenantId, MOST_AWAITED],
    );
    return rows[0]!.count;
  });
  if (!leave) throw new Conflict(`More than ${MOST_AWAITED} feedbacks would wait for their runs: name their sessions.`);
  return (recorded) => {
    if (!recorded) leave();
    else void consistency.upToDate(tenantId, [experimentsView.name]).then(leave, leave);
  };
}
