import type { Pool } from 'pg';
import type { LogContents } from './log-contents';

/** Things that are kept beside the log although no event mentions them any more. */
export interface Orphans {
  readonly kind: 'uploads' | 'attachments' | 'source archives' | 'secrets';
  readonly count: number;
  /** At most a hundred of them, a line each. */
  readonly names: readonly string[];
}

const NAMED = 100;

/** Payloads without an event: call it when the read models stand at the end of the log. */
export async function orphans(pool: Pool, { ids }: LogContents): Promise<Orphans[]> {
  const unneeded = `from payloads p
    where not exists (select from sessions s where s.tenant_id = p.tenant_id and s.payload_sha256 = p.sha256)
      and not exists (select from run_attachments a where a.tenant_id = p.tenant_id and a.sha256 = p.sha256)`;
  const isAttached = 'exists (select from payload_sessions n where n.tenant_id = p.tenant_id and n.sha256 = p.sha256)';
  const payload = `select sha256 || ' of workspace ' || tenant_id || ', ' || bytes || ' bytes' as name, null as id ${unneeded}`;
  const found: Orphans[] = [];
  await add('uploads', `${payload} and not ${isAttached} order by name`);
  await add('attachments', `${payload} and ${isAttached} order by name`);
  await add(
    'source archives',
    `select path || ' of deployment ' || deployment_id as name, deployment_id::text as id from source_archives order by name`,
  );
  // Keys of resources; those of the installation itself have names of their own.
  await add(
    'secrets',
    `select subject as name, subject as id from data_keys
     where subject ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' order by name`,
  );
  return found;

  async function add(kind: Orphans['kind'], text: string): Promise<void> {
    const { rows } = await pool.query<{ name: string; id: string | null }>(text);
    const names = rows.filter(({ id }) => id === null || !ids.has(id)).map(({ name }) => name);
    if (names.length > 0) found.push({ kind, count: names.length, names: names.slice(0, NAMED) });
  }
}
