import { setTimeout as delay } from 'node:timers/promises';
import type { PayloadStore } from '@fairlead/blobs';
import { type Caller, type Consistency, type EventStore, type StoredBytes } from '@fairlead/eventing';
import { Conflict, NotFound, PayloadTooLarge } from '@fairlead/schema';
import type { Pool } from 'pg';
import { v4 as newId } from 'uuid';
import type { SentRun } from './live-runs-body';
import { EXPERIMENTS_VIEW } from '../../common/experiments-view';
import { newProject } from '../../sessions/experiment';
import type { SessionCommands } from '../../sessions/sessions.commands';

/** Where runs go that name no session. */
const DEFAULT_SESSION = 'default';
/** Sessions that the runs of one request may name. */
const MOST_SESSIONS = 100;
/** Time for which another request may take to make a session whose name it has, and the interval of looks (ms). */
const PATIENCE_MS = 3000;
const LOOK_MS = 20;

export interface Parts {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly sessions: SessionCommands;
  readonly consistency: Consistency;
  readonly payloads: PayloadStore;
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
    await parts.consistency.upToDate(tenantId, [EXPERIMENTS_VIEW]);
    rows = await look();
  }
  const known = new Set(rows.map(({ id }) => id));
  const byName = new Map(rows.map(({ id, name }) => [name, id]));
  const missing = new Map<string, string>();
  for (const name of names) {
    if (byName.has(name)) continue;
    // The table first: a stream of many runs takes long to read.
    const id = await parts.sessions.named(tenantId, name);
    if (id === undefined) missing.set(name, newId());
    else byName.set(name, id);
    // Whether it was uploaded is asked of the view next.
    if (id !== undefined) await parts.consistency.upToDate(tenantId, [EXPERIMENTS_VIEW]);
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

interface MadeSessions {
  readonly overtaken: boolean;
  readonly failed: ReadonlyMap<string, Conflict>;
}

export async function makeSessions(
  { sessions }: Pick<Parts, 'sessions'>,
  caller: Caller,
  missing: NamedSessions['missing'],
): Promise<MadeSessions> {
  const { tenantId } = caller;
  let overtaken = false;
  const failed = new Map<string, Conflict>();
  for (const [name, id] of missing) {
    try {
      await sessions.create(caller, id, newProject(name, new Date().toISOString()));
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      if (await isMade(sessions, tenantId, name)) overtaken = true;
      else failed.set(id, error);
    }
  }
  return { overtaken, failed };
}

/** True when another request that has the name makes its session; that comes a moment later than the name. */
async function isMade(sessions: SessionCommands, tenantId: string, name: string): Promise<boolean> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await delay(LOOK_MS))
    if (await sessions.named(tenantId, name)) return true;
  return false;
}
