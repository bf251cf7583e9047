import { checkAppend, type Consistency, type EventStore, type Metadata, Room, streamName } from '@fairlead/eventing';
import { BadRequest, Conflict } from '@fairlead/schema';
import type { Pool } from 'pg';
import { v5 as idFrom } from 'uuid';
import { type FeedbackAdded, type FeedbackAwaited, sessionStream } from '../session/experiment';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { placesOfRuns } from '../run/run-lookups.queries';
import { knownIds } from './feedback.queries';
import { findReplacements, replacedSentence } from './replacements.queries';
import { type Refusal, refusal } from '../refused/refusal';
import type { SentFeedback } from './feedback-body';

/** Feedback of a workspace that may wait for its runs. */
const MOST_AWAITED = 10_000;
/** Events that are appended at once, so that they share a commit. */
const AT_ONCE = 50;
const rooms = new WeakMap<EventStore, Room>();

interface Parts {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly consistency: Consistency;
}

type Appended = {
  readonly sent: SentFeedback;
  readonly stream: string;
  readonly event: (FeedbackAdded | FeedbackAwaited) & { readonly id: string };
};

/**
 * The events of feedback: it goes to the session of its run. One whose run is not known yet goes to the session that it
 * names, and waits for its run when it names none. `places` tells the sessions of runs by their ids. What is stored
 * already is left out. Added to `refused` is feedback on a session or comparison that the tenant does not have, or on a
 * session that is not the run's, and feedback that is too large.
 */
export async function feedbackEvents(
  parts: Parts,
  tenantId: string,
  sent: readonly SentFeedback[],
  places: ReadonlyMap<string, string>,
  metadata: Metadata,
  refused: Refusal[],
): Promise<Appended[]> {
  if (sent.length === 0) return [];
  const stored = await knownIds(
    parts.pool,
    'feedback',
    tenantId,
    sent.map(({ data }) => data.id),
  );
  const fresh = sent.filter(({ data }) => !stored.has(data.id));
  let found = await knownPlaces(parts, tenantId, fresh);
  const isUnknown = ({ sessionId }: SentFeedback) => sessionId !== undefined && !found.sessions.has(sessionId);
  if (fresh.some(isUnknown)) {
    await parts.consistency.upToDate(tenantId, EXPERIMENTS_VIEWS);
    found = await knownPlaces(parts, tenantId, fresh);
  }
  const named = fresh.map(({ data }) => data.comparative_experiment_id);
  const comparisons = await knownIds(parts.pool, 'comparative_experiments', tenantId, named);
  const runIds = fresh.flatMap(({ data }) => (data.run_id && !found.runs.has(data.run_id) ? data.run_id : []));
  const replacements = runIds.length > 0 ? await findReplacements(parts.pool, tenantId, runIds) : undefined;
  const eventOf = (one: SentFeedback): Appended => {
    const { data, sessionId } = one;
    const replacement = replacements?.get(data.run_id ?? '');
    if (replacement) throw new Conflict(replacedSentence(data.run_id!, replacement));
    const session =
      data.run_id === null ? sessionId : (places.get(data.run_id) ?? found.runs.get(data.run_id)?.session_id);
    if (session !== undefined && sessionId !== undefined && session !== sessionId)
      throw new BadRequest(`Feedback ID ${data.id}: the run is not of the session named by session_id.`);
    if (sessionId !== undefined && !found.sessions.has(sessionId))
      throw new BadRequest(`Feedback ID ${data.id}: there is no session ${sessionId}.`);
    const comparison = data.comparative_experiment_id;
    if (comparison && !comparisons.has(comparison))
      throw new BadRequest(`There is no comparative experiment ${comparison}.`);
    const place = session ?? sessionId;
    if (place === undefined) return awaited(tenantId, one);
    return { sent: one, stream: sessionStream(place), event: addedTo(place, data) };
  };
  return fresh.flatMap((one) => {
    try {
      const appended = eventOf(one);
      checkAppend(appended.stream, [appended.event], metadata);
      return appended;
    } catch (error) {
      refused.push(feedbackRefusal(one, error));
      return [];
    }
  });
}

/** Returns the event of feedback on a session or its runs. The same feedback sent twice at once is one event. */
export function addedTo(session: string, data: FeedbackAdded['data']): FeedbackAdded & { readonly id: string } {
  return { type: 'FeedbackAdded', data, id: idFrom(data.id, session) };
}

export function feedbackRefusal({ data, loc, sessionId }: SentFeedback, error: unknown): Refusal {
  return refusal({ kind: 'feedback', id: data.id, loc, sessionId, runId: data.run_id ?? undefined }, error);
}

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

/** The stream of feedback that was given before its run was known. */
export function awaitedStream(tenantId: string, runId: string): string {
  return streamName('awaitedFeedback', idFrom(runId, tenantId));
}

function awaited(tenantId: string, sent: SentFeedback): Appended {
  const { data } = sent;
  return {
    sent,
    stream: awaitedStream(tenantId, data.run_id!),
    event: { type: 'FeedbackAwaited', data, id: idFrom(data.id, tenantId) },
  };
}

async function knownPlaces({ pool }: Parts, tenantId: string, sent: readonly SentFeedback[]) {
  const named = new Set(sent.flatMap(({ data }) => data.run_id ?? []));
  return {
    runs: await placesOfRuns(pool, tenantId, [...named]),
    sessions: await knownIds(
      pool,
      'sessions',
      tenantId,
      sent.map(({ sessionId }) => sessionId),
    ),
  };
}

interface AwaitedRoom {
  readonly appends: readonly Appended[];
  readonly giveBack: (recorded: boolean) => void;
}

/**
 * Lets as many events wait for their runs as there is room for; without room those that would wait are refused.
 * `giveBack` gives back the room when the view counts the events, or, called without them having been recorded, at once.
 */
export async function awaitedRoom(
  { store, pool, consistency }: Parts,
  tenantId: string,
  appends: readonly Appended[],
  refused: Refusal[],
): Promise<AwaitedRoom> {
  const waiting = appends.filter(({ event }) => event.type === 'FeedbackAwaited');
  if (waiting.length === 0) return { appends, giveBack: () => undefined };
  const room = rooms.get(store) ?? new Room(MOST_AWAITED);
  rooms.set(store, room);
  const leave = await room.take(tenantId, waiting.length, async () => {
    const { rows } = await pool.query<{ count: number }>(
      'select count(*)::int as count from (select 1 from awaited_feedback where tenant_id = $1 limit $2) as waiting',
      [tenantId, MOST_AWAITED],
    );
    return rows[0]!.count;
  });
  if (!leave) {
    const error = new Conflict(`More than ${MOST_AWAITED} feedbacks would wait for their runs: name their sessions.`);
    refused.push(...waiting.map(({ sent }) => feedbackRefusal(sent, error)));
    return { appends: appends.filter(({ event }) => event.type !== 'FeedbackAwaited'), giveBack: () => undefined };
  }
  const giveBack = (recorded: boolean) => {
    if (!recorded) leave();
    else void consistency.upToDate(tenantId, EXPERIMENTS_VIEWS).then(leave, leave);
  };
  return { appends, giveBack };
}
