import { ofSession } from '@fairlead/runs';
import type { Pool } from 'pg';

/** The giver of feedback, and the run in which it was given; `session_id` is null when the workspace has no such run. */
export interface Judge {
  readonly type: 'app' | 'api' | 'model' | 'auto_eval';
  readonly run_id: string | null;
  readonly session_id: string | null;
}

interface Source {
  readonly source_metadata: string | null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The sessions of the runs in which feedback was given, by their ids. */
export async function findJudgeSessions(
  pool: Pool,
  tenantId: string,
  feedback: readonly Source[],
): Promise<ReadonlyMap<string, string>> {
  const ids = feedback.flatMap(({ source_metadata }) => judgeRun(metadataOf(source_metadata)) ?? []);
  if (ids.length === 0) return new Map();
  const { rows } = await pool.query<{ id: string; session_id: string }>(
    `select r.id, r.session_id from runs r
     where r.tenant_id = $1 and r.id = any($2::uuid[]) and ${ofSession('r', '$1')}`,
    [tenantId, [...new Set(ids)]],
  );
  return new Map(rows.map(({ id, session_id }) => [id, session_id]));
}

/** The giver of feedback; `sessions` as `findJudgeSessions` returns them. */
export function judgeOf(
  type: string,
  metadata: Record<string, unknown> | null,
  sessions: ReadonlyMap<string, string>,
): Judge {
  const run = judgeRun(metadata);
  return { type: type as Judge['type'], run_id: run ?? null, session_id: (run && sessions.get(run)) ?? null };
}

/** The metadata of the source of feedback; null when there is none. */
export function metadataOf(json: string | null): Record<string, unknown> | null {
  const found: unknown = json === null ? null : JSON.parse(json);
  return typeof found === 'object' && found !== null && !Array.isArray(found)
    ? (found as Record<string, unknown>)
    : null;
}

/** Id of the run in which feedback was given: SDKs put it into the metadata of the source. */
function judgeRun(metadata: Record<string, unknown> | null): string | undefined {
  const run = metadata?.__run;
  const id = typeof run === 'object' && run !== null ? (run as { run_id?: unknown }).run_id : undefined;
  return typeof id === 'string' && UUID.test(id.toLowerCase()) ? id.toLowerCase() : undefined;
}
