import type { Caller, Consistency, EventStore } from '@fairlead/eventing';
import { Conflict, Forbidden, PayloadTooLarge } from '@fairlead/schema';
import type { Pool } from 'pg';
import { type RunChange, type RunsReceived, sessionStream } from '../../sessions/experiment';
import { experimentsView } from '../../sessions/experiments.projection';
import { appendFeedback, awaitedRoom, feedbackEvents } from '../../feedback/live-feedback.commands';
import type { SentParts, SentRun } from './live-runs.body';
import { findSessions, makeSessions } from './live-runs.sessions';
import { splitRuns } from './live-runs-split';
import type { PayloadStore } from '../../storage/payload.store';
import type { SessionCommands } from '../../sessions/sessions.commands';

/** Attachments of one run. */
const MOST_ATTACHMENTS = 100;

/** What commands on live runs work with. */
export interface Parts {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly sessions: SessionCommands;
  readonly consistency: Consistency;
}

interface Place {
  readonly id: string;
  readonly session_id: string;
}

type Sent = Omit<SentParts, 'ignored'> & {
  /** The only session that the sender may write to, by its name: new runs go there, whatever they say. */
  readonly project?: string;
};

/**
 * Keeps what is attached to runs, and records runs and feedback on the streams of their sessions; a session that is
 * named and not there is made. Changes of known runs stay in the session that the run is in. The view of runs is waited
 * for only where it must know something and does not yet. What is refused is refused before anything is written.
 * @throws NotFound for a session that the tenant does not have, Forbidden for what is not in the sender's project, Conflict for an experiment that was
 * uploaded, PayloadTooLarge, AppendTooLarge, ViewBehind
 */
export async function receiveRuns(parts: Parts, caller: Caller, sent: Sent, payloads: PayloadStore): Promise<void> {
  const { tenantId, metadata } = caller;
  const { feedback, contents, project } = sent;
  const places = await findPlaces(parts, tenantId, sent.runs);
  const own = { sessionId: undefined, sessionName: project };
  const runs = project === undefined ? sent.runs : sent.runs.map((run) => ({ ...run, ...own }));
  const sessions = await findSessions(parts, tenantId, [
    ...runs.filter(({ change }) => !places.has(change.id)),
    ...(project === undefined ? [] : [own]),
  ]);
  const bySession = new Map<string, RunChange[]>();
  for (const run of runs) {
    const session = places.get(run.change.id) ?? sessions.idOf(run);
    places.set(run.change.id, session);
    const changes = bySession.get(session);
    if (changes) changes.push(run.change);
    else bySession.set(session, [run.change]);
  }
  if (project !== undefined) {
    const allowed = sessions.idOf(own);
    if (feedback.length > 0 || [...bySession.keys()].some((session) => session !== allowed)) throw new Forbidden();
  }
  await requireLive(parts, [...bySession.keys()]);
  // Nothing is recorded when something is too large to be.
  const appends: { stream: string; event: RunsReceived }[] = [];
  for (const [session, changes] of bySession) {
    const stream = sessionStream(session);
    for (const event of await splitRuns(stream, changes, metadata)) appends.push({ stream, event });
  }
  const given = feedback.length > 0 ? await feedbackEvents(parts, tenantId, feedback, places, metadata) : [];
  const giveBack = await awaitedRoom(parts, tenantId, given);
  let recorded = false;
  try {
    if (contents.size > 0) await requireFewAttachments(parts.pool, tenantId, runs);
    if (!(await makeSessions(parts, caller, sessions.missing))) {
      await keepContents(payloads, tenantId, runs, places, contents);
      for (const { stream, event } of appends) await parts.store.append(stream, 'any', [event], metadata);
      await appendFeedback(parts, given, metadata);
      recorded = true;
    }
  } finally {
    giveBack(recorded);
  }
  // A session that was to be made was there in the meantime: the runs are placed anew.
  if (!recorded) await receiveRuns(parts, caller, sent, payloads);
}

/** Keeps what was attached before anything refers to it, for as long as the sessions of the runs are there. */
async function keepContents(
  payloads: PayloadStore,
  tenantId: string,
  runs: readonly SentRun[],
  places: ReadonlyMap<string, string>,
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  if (contents.size === 0) return;
  for (const [sha256, content] of contents) await payloads.keep(tenantId, sha256, content);
  const needed = runs.flatMap(({ change: { id, attachments = [] } }) =>
    attachments.map(({ sha256 }) => ({ sha256, session: places.get(id)! })),
  );
  await payloads.need(tenantId, needed);
}

/** Keeps what one run can answer small. @throws PayloadTooLarge */
async function requireFewAttachments(pool: Pool, tenantId: string, runs: readonly SentRun[]): Promise<void> {
  const added = runs.flatMap(({ change: { id, attachments = [] } }) => attachments.map(({ name }) => ({ id, name })));
  const { rows } = await pool.query<{ id: string }>(
    `select id from (
       select id, name from unnest($2::uuid[], $3::text[]) as added (id, name)
       union select run_id, name from run_attachments where tenant_id = $1 and run_id = any($2::uuid[])) a
     group by id having count(*) > ${MOST_ATTACHMENTS} limit 1`,
    [tenantId, added.map(({ id }) => id), added.map(({ name }) => name)],
  );
  if (rows[0]) throw new PayloadTooLarge(`The run ${rows[0].id} has more than ${MOST_ATTACHMENTS} attachments.`);
}

/** True when the tenant has the run; one that is not there may only be about to come. @throws ViewBehind */
export async function hasRun({ pool, consistency }: Parts, tenantId: string, id: string): Promise<boolean> {
  const text = 'select 1 from runs where id = $1 and tenant_id = $2';
  const look = async () => (await pool.query(text, [id, tenantId])).rowCount === 1;
  if (await look()) return true;
  await consistency.upToDate(tenantId, [experimentsView.name]);
  return look();
}

/** The sessions of the runs that are known. */
async function findPlaces(parts: Parts, tenantId: string, sent: readonly SentRun[]): Promise<Map<string, string>> {
  const ids = sent.map(({ change }) => change.id);
  const places = await placesOf(parts, tenantId, ids);
  const placed = new Set(sent.filter(isPlaced).map(({ change }) => change.id));
  if (ids.every((id) => places.has(id) || placed.has(id))) return places;
  // Only the run tells where its change belongs.
  await parts.consistency.upToDate(tenantId, [experimentsView.name]);
  return placesOf(parts, tenantId, ids);
}

/** Whether a run tells its session, or is new: what has no name is a change of a run. */
function isPlaced({ change, sessionId, sessionName }: SentRun): boolean {
  return sessionId !== undefined || sessionName !== undefined || change.name !== undefined;
}

async function placesOf({ pool }: Parts, tenantId: string, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<Place>(
    'select id, session_id from runs where id = any($1::uuid[]) and tenant_id = $2',
    [ids, tenantId],
  );
  return new Map(rows.map((row) => [row.id, row.session_id]));
}

/**
 * An uploaded experiment stays what was uploaded: its rows can be made again from the body alone, and its statistics are
 * theirs. @throws Conflict
 */
async function requireLive({ pool }: Parts, sessions: readonly string[]): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    'select name from sessions where id = any($1::uuid[]) and payload_sha256 is not null',
    [sessions],
  );
  if (!rows[0]) return;
  throw new Conflict(
    `The experiment '${rows[0].name}' was uploaded: its runs stay as they are, and it takes no others.`,
  );
}
