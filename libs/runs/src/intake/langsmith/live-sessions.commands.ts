import { setTimeout as delay } from 'node:timers/promises';
import type { PayloadStore } from '@fairlead/blobs';
import { type Caller, type Consistency, type EventStore, type StoredBytes } from '@fairlead/eventing';
import { Conflict, NotFound, PayloadTooLarge, Unavailable } from '@fairlead/schema';
import type { Pool } from 'pg';
import type { SentRun } from './live-runs-body';
import { EXPERIMENTS_VIEWS } from '../../common/experiments-view';
import { newProject } from '../../session/experiment';
import type { RunBatches } from '../../batch/run-batches.store';
import type { SessionCommands } from '../../session/sessions.commands';

/** Where runs go that name no session. */
const DEFAULT_SESSION = 'default';
/** Sessions that the runs of one request may name. */
const MOST_SESSIONS = 100;
/** Time for which other requests may take to make sessions whose names they have, and the interval of looks (ms). */
const PATIENCE_MS = 3000;
const LOOK_MS = 20;
/** Pause before a client tries again to use a reserved name (s). */
const AGAIN_S = 20;

export interface Parts {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly sessions: SessionCommands;
  readonly consistency: Consistency;
  readonly payloads: PayloadStore;
  readonly batches: RunBatches;
  readonly stored: StoredBytes;
}

type Named = Pick<SentRun, 'sessionId' | 'sessionName'>;

interface NamedSessions {
  /**
   * The id of the session of a run, which may be one that is not made yet.
   * @throws NotFound for an id that the tenant does not have, PayloadTooLarge beyond the sessions of one request
   */
  readonly idOf: (run: Named) => string;
  readonly missing: ReadonlyMap<string, string>;
}

/**
 * Finds the sessions that runs name, and makes none. @throws ViewBehind
 */
export async function findSessions(parts: Parts, tenantId: string, runs: readonly Named[]): Promise<NamedSessions> {
  const ids = new Set<string>();
  const names = new Set<string>();
  for (const { sessionId, sessionName = DEFAULT_SESSION } of runs) {
    if (ids.size + names.size === MOST_SESSIONS) break;
    if (sessionId === undefined) names.add(sessionName);
    else ids.add(sessionId);
  }
  const look = async () => {
    const { rows } = await parts.pool.query<{ id: string; name: string }>(
      'select id, name from sessions where tenant_id = $1 and (id = any($2::uuid[]) or name = any($3::text[]))',
      [tenantId, [...ids], [...names]],
    );
    return rows;
  };
  let rows = await look();
  if ([...ids].some((id) => rows.every((row) => row.id !== id))) {
    await parts.consistency.upToDate(tenantId, EXPERIMENTS_VIEWS);
    rows = await look();
  }
  const known = new Set(rows.map(({ id }) => id));
  const byName = new Map(rows.map(({ id, name }) => [name, id]));
  const missing = new Map<string, string>();
  for (const name of names) {
    if (byName.has(name)) continue;
    // The table first: a stream of many runs takes long to read.
    const id = await parts.sessions.named(tenantId, name);
    if (id === undefined) missing.set(name, await parts.sessions.idFor(tenantId, name));
    else byName.set(name, id);
    // Whether it was uploaded is asked of the view next.
    if (id !== undefined) await parts.consistency.upToDate(tenantId, EXPERIMENTS_VIEWS);
  }
  const idOf = ({ sessionId, sessionName = DEFAULT_SESSION }: Named) => {
    const id = sessionId ?? byName.get(sessionName) ?? missing.get(sessionName);
    if (id === undefined || (sessionId !== undefined && !ids.has(sessionId)))
      throw new PayloadTooLarge(`The runs name more than ${MOST_SESSIONS} sessions: send them in several requests.`);
    if (sessionId !== undefined && !known.has(sessionId)) throw new NotFound(`Session ID ${sessionId} not found.`);
    return id;
  };
  return { idOf, missing };
}

/**
 * Makes sessions. Returns true when another request has made one of them: the runs are then to be placed anew.
 * @throws Unavailable when a name is reserved for a session that does not come: an upload that takes long, or one that a
 * crash has ended, which keeps the name for a minute
 */
export async function makeSessions(
  { sessions }: Pick<Parts, 'sessions'>,
  caller: Caller,
  missing: NamedSessions['missing'],
): Promise<boolean> {
  let overtaken = false;
  const end = performance.now() + PATIENCE_MS;
  for (const [name, id] of missing) {
    try {
      await sessions.create(caller, id, newProject(name, new Date().toISOString()));
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      if (!(await isMade(sessions, caller.tenantId, name, end)))
        throw new Unavailable(AGAIN_S, `The name '${name}' is still reserved for a session that is not there.`);
      overtaken = true;
    }
  }
  return overtaken;
}

/** True when the session of a name is there before `end`, a time of the clock that only goes forward. */
async function isMade(sessions: SessionCommands, tenantId: string, name: string, end: number): Promise<boolean> {
  for (;;) {
    if (await sessions.named(tenantId, name)) return true;
    if (performance.now() > end) return false;
    await delay(LOOK_MS);
  }
}
