import { setImmediate as otherRequests } from 'node:timers/promises';
import type { PayloadStore } from '@fairlead/blobs';
import type { Caller, Metadata } from '@fairlead/eventing';
import { Conflict, Forbidden, PayloadTooLarge } from '@fairlead/schema';
import type { Pool } from 'pg';
import { sessionStream } from '../../session/experiment';
import { EXPERIMENTS_VIEWS } from '../../common/experiments-view';
import { appendFeedback, awaitedRoom, feedbackEvents, feedbackRefusal } from '../../feedback/live-feedback.commands';
import { type Refusal, refusal } from '../../refused/refusal';
import { found } from '../../common/reading';
import { namedSessionOfRun, runsWithManyAttachments, sessionsOfRuns } from '../../run/run-lookups.queries';
import { batchContent } from '../../batch/run-batches.store';
import type { SentParts, SentRun } from './live-runs-body';
import { findSessions, makeSessions, type Parts } from './live-sessions.commands';

/** Attachments of one run. */
const MOST_ATTACHMENTS = 100;
/** Sessions whose runs are recorded at once. */
const AT_ONCE = 10;
/** Time between keeping runs and recording them after which they are kept again (ms). */
const LATE_MS = 60_000;

type Sent = SentParts & {
  /** The only session that the sender may write to, by its name: new runs go there, whatever they say. */
  readonly project?: string;
};

interface Placed extends SentRun {
  readonly session: string;
}

interface SessionRuns {
  readonly session: string;
  readonly runs: readonly Placed[];
  readonly content: Buffer;
}

interface Received {
  readonly refused: readonly Refusal[];
  readonly count: number;
}

/**
 * Keeps what is attached to runs, and records runs and feedback on the streams of their sessions; a session that is
 * named and not there is made. Changes of known runs stay in the session that the run is in. The view of runs is waited
 * for only where it must know something and does not yet, and before runs are refused for where they belong. Items that cannot be stored
 * are refused; all others are recorded. Repeating a request stores each run and feedback once.
 * @throws QuotaReached, ViewBehind, Unavailable before anything is recorded
 */
export async function receiveRuns(parts: Parts, caller: Caller, sent: Sent, isCurrent = false): Promise<Received> {
  if (sent.runs.length + sent.feedback.length === 0) return { refused: [], count: 0 };
  const { tenantId, metadata } = caller;
  const { project } = sent;
  const refused: Refusal[] = [];
  const places = await findPlaces(parts, tenantId, sent.runs);
  const own = { sessionId: undefined, sessionName: project };
  const runs = project === undefined ? sent.runs : sent.runs.map((run) => ({ ...run, ...own }));
  const sessions = await findSessions(parts, tenantId, [
    ...(project === undefined ? [] : [own]),
    ...runs.filter(({ change }) => !places.has(change.id)),
  ]);
  const allowed = project === undefined ? undefined : sessions.idOf(own);
  const gone = new Set(sent.refused.filter(({ kind }) => kind === 'run').map(({ id }) => id));
  const placed: Placed[] = [];
  for (const run of runs) {
    const { id } = run.change;
    try {
      if (gone.has(id) && !places.has(id) && !isPlaced(run)) throw new Conflict('The run that it changes was refused.');
      const session = places.get(id) ?? sessions.idOf(run);
      if (allowed !== undefined && session !== allowed) throw new Forbidden();
      places.set(id, session);
      placed.push({ ...run, session });
    } catch (error) {
      gone.add(id);
      refused.push(runRefusal(run, error));
    }
  }
  const live = await withoutUploads(parts.pool, tenantId, placed, refused);
  if (refused.length > 0 && !isCurrent) {
    // Where a run is counts more than where its change says: the view may not show the run yet.
    await parts.consistency.upToDate(tenantId, EXPERIMENTS_VIEWS);
    return receiveRuns(parts, caller, sent, true);
  }
  const few = await withFewAttachments(parts.pool, tenantId, live, refused);
  const recordable = await bySession(few);
  const feedback = allowed === undefined ? sent.feedback : [];
  if (allowed !== undefined) refused.push(...sent.feedback.map((one) => feedbackRefusal(one, new Forbidden())));
  const contents = contentsOf(recordable, sent.contents);

  const count = await parts.stored.within(tenantId, bytesOf(recordable, contents), async () => {
    const needed = new Set(recordable.map(({ session }) => session));
    const missing = new Map([...sessions.missing].filter(([, id]) => needed.has(id)));
    if (await makeSessions(parts, caller, missing)) return undefined;
    const known = new Map(recordable.flatMap(({ session, runs }) => runs.map(({ change }) => [change.id, session])));
    const given = await feedbackEvents(parts, tenantId, feedback, known, metadata, refused);
    const room = await awaitedRoom(parts, tenantId, given, refused);
    let done = false;
    try {
      await keepContents(parts.payloads, tenantId, recordable, contents);
      for (let at = 0; at < recordable.length; at += AT_ONCE)
        await Promise.all(recordable.slice(at, at + AT_ONCE).map((own) => record(parts, own, metadata)));
      await appendFeedback(parts, room.appends, metadata);
      done = true;
    } finally {
      room.giveBack(done);
    }
    const runs = recordable.reduce((sum, { runs: own }) => sum + own.length, 0);
    return runs + sent.feedback.length - refused.filter(({ kind }) => kind === 'feedback').length;
  });
  // A session that was to be made was there in the meantime: the runs are placed anew.
  return count === undefined ? receiveRuns(parts, caller, sent) : { refused, count };
}

function runRefusal({ change: { id }, loc, sessionId, sessionName }: SentRun, error: unknown): Refusal {
  return refusal({ kind: 'run', id, loc, sessionId, sessionName }, error);
}

/** Returns the runs of each session, and the content of the batch that they are. */
async function bySession(runs: readonly Placed[]): Promise<SessionRuns[]> {
  const sessions = new Map<string, Placed[]>();
  for (const run of runs) {
    const others = sessions.get(run.session);
    if (others) others.push(run);
    else sessions.set(run.session, [run]);
  }
  const recordable: SessionRuns[] = [];
  for (const [session, own] of sessions) {
    const changes = own.map(({ change }) => change);
    recordable.push({ session, runs: own, content: batchContent(session, changes) });
    await otherRequests();
  }
  return recordable;
}

/**
 * Keeps the runs of a session, then records that they came. A process that was suspended in between keeps them again: what
 * no event names is deleted an hour later.
 */
async function record(
  { store, batches }: Parts,
  { session, runs, content }: SessionRuns,
  metadata: Metadata,
): Promise<void> {
  for (;;) {
    const start = Date.now();
    const batch = { ...(await batches.keep(metadata.tenant!, session, content)), count: runs.length };
    if (Date.now() - start > LATE_MS) continue;
    await store.append(sessionStream(session), 'any', [{ type: 'RunsReceived', data: { runs: [], batch } }], metadata);
    return;
  }
}

function attachmentsOf(recordable: readonly SessionRuns[]) {
  return recordable.flatMap(({ session, runs }) =>
    runs.flatMap(({ change: { attachments = [] } }) => attachments.map(({ sha256 }) => ({ sha256, session }))),
  );
}

function contentsOf(recordable: readonly SessionRuns[], sent: SentParts['contents']): SentParts['contents'] {
  const needed = new Set(attachmentsOf(recordable).map(({ sha256 }) => sha256));
  return new Map([...sent].filter(([sha256]) => needed.has(sha256)));
}

function bytesOf(recordable: readonly SessionRuns[], contents: SentParts['contents']): number {
  let bytes = recordable.reduce((sum, { content }) => sum + content.length, 0);
  for (const content of contents.values()) bytes += content.length;
  return bytes;
}

/** Keeps what was attached before anything refers to it, for as long as the sessions of the runs are there. */
async function keepContents(
  payloads: PayloadStore,
  tenantId: string,
  recordable: readonly SessionRuns[],
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  if (contents.size === 0) return;
  for (const [sha256, content] of contents) await payloads.keep(tenantId, sha256, content);
  await payloads.need(tenantId, attachmentsOf(recordable));
}

/** Keeps what one run can answer small: beyond a number, what the request attaches to the run is refused. */
async function withFewAttachments(
  pool: Pool,
  tenantId: string,
  runs: readonly Placed[],
  refused: Refusal[],
): Promise<Placed[]> {
  const added = runs.flatMap(({ change: { id, attachments = [] } }) => attachments.map(({ name }) => ({ id, name })));
  if (added.length === 0) return [...runs];
  const many = await runsWithManyAttachments(pool, tenantId, added, MOST_ATTACHMENTS);
  return runs.flatMap((run) => {
    const { id, attachments, ...change } = run.change;
    if (!attachments || !many.has(id)) return run;
    const error = new PayloadTooLarge(`The run ${id} has more than ${MOST_ATTACHMENTS} attachments.`);
    for (const { name } of attachments) {
      const of = { ...run, kind: 'attachment' as const, id, loc: ['body', `attachment.${id}.${name}`] };
      refused.push(refusal(of, error));
    }
    return Object.keys(change).length > 0 ? { ...run, change: { id, ...change } } : [];
  });
}

/** Returns the session of a run of the tenant; it may only be about to come. @throws NotFound, ViewBehind */
export async function sessionOfRun(
  { pool, consistency }: Parts,
  tenantId: string,
  id: string,
): Promise<{ readonly session_id: string; readonly session_name: string }> {
  const look = () => namedSessionOfRun(pool, tenantId, id);
  const session = await look();
  if (session) return session;
  await consistency.upToDate(tenantId, EXPERIMENTS_VIEWS);
  return found(await look(), 'Run ID', id);
}

/** The sessions of the runs that are known. The first change of a run alone places it, when it is not known. */
async function findPlaces(parts: Parts, tenantId: string, sent: readonly SentRun[]): Promise<Map<string, string>> {
  const ids = sent.map(({ change }) => change.id);
  const places = await sessionsOfRuns(parts.pool, tenantId, ids);
  const first = new Map(sent.toReversed().map((run) => [run.change.id, run]));
  if ([...first].every(([id, run]) => places.has(id) || isPlaced(run))) return places;
  // Only the run tells where its change belongs.
  await parts.consistency.upToDate(tenantId, EXPERIMENTS_VIEWS);
  return sessionsOfRuns(parts.pool, tenantId, ids);
}

function isPlaced({ change, sessionId, sessionName }: SentRun): boolean {
  return sessionId !== undefined || sessionName !== undefined || change.name !== undefined;
}

/**
 * An uploaded experiment stays what was uploaded: its rows can be made again from the body alone, and its statistics are
 * theirs. Runs of one are refused.
 */
async function withoutUploads(
  pool: Pool,
  tenantId: string,
  runs: readonly Placed[],
  refused: Refusal[],
): Promise<Placed[]> {
  const { rows } = await pool.query<{ id: string; name: string }>(
    'select id, name from sessions where tenant_id = $2 and id = any($1::uuid[]) and payload_sha256 is not null',
    [[...new Set(runs.map(({ session }) => session))], tenantId],
  );
  const uploads = new Map(rows.map(({ id, name }) => [id, name]));
  return runs.filter((run) => {
    const name = uploads.get(run.session);
    if (name === undefined) return true;
    const because = `The experiment '${name}' was uploaded: its runs stay as they are, and it takes no others.`;
    refused.push(runRefusal(run, new Conflict(because)));
    return false;
  });
}
