const TOKEN = 'Whoever has a token names no workspace: the token leads to it.';
const ALL = 'One look for all workspaces, so that a batch of events costs no query for each of them.';
const OWNER = 'Asks to which workspace a row belongs.';

/** Statements that belong to no workspace by nature: what each begins with or has in it, and why. */
export const EXCEPTIONS: readonly (readonly [part: string, reason: string])[] = [
  ['from shares h join sessions s on', TOKEN],
  ['from shares h join datasets d on', TOKEN],
  ['from share_links l where l.digest = $1', TOKEN],
  ['select id, tenant_id as tenant, sha256 from payloads p where created_at < $1', 'A sweep of all workspaces.'],
  ['delete from run_batches b where kept_at > $1', 'A sweep of all workspaces.'],
  [
    'select e.session_id from persisted_experiments e join payload_sessions p',
    'A sweep of all workspaces, once in a process.',
  ],
  ['select tenant_id as tenant, session_id as session from trace_recounts', 'A sweep of all workspaces.'],
  ['select id from webhook_deliveries where finished_at < $1', 'A sweep of all workspaces.'],
  ['delete from deployment_metrics where period = $1', 'A sweep of all workspaces.'],
  ['with gone as (delete from payload_drafts where touched_at', 'A sweep of all workspaces.'],
  ['select distinct tenant_id as tenant from untold_feedback', ALL],
  ['delete from untold_feedback where tenant_id = any($1::uuid[])', ALL],
  ['select tenant_id from datasets where id = $1', OWNER],
  ['select tenant_id from comparative_experiments where dataset_id = $1', OWNER],
];

/** Part of the statement that asks to which workspace a row of before belongs: it runs in the background, or not yet. */
export const IN_BACKGROUND = 'limit 1) c left join';

/** The text of a statement in one line. */
export function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

export function exceptionOf(text: string): string | undefined {
  const line = inOneLine(text);
  return EXCEPTIONS.find(([part]) => line.includes(part))?.[0];
}
