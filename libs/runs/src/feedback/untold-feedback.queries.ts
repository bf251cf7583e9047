import type { PoolClient } from 'pg';

/** Takes the feedback of a workspace that is shown by now from the list of what others are to be told of. */
export async function takeShownFeedback(
  tx: PoolClient,
  tenant: string,
): Promise<readonly { readonly data: string; readonly session_id: string }[]> {
  const { rows } = await tx.query<{ data: string; session_id: string }>(
    `delete from untold_feedback u using feedback f
     where u.tenant_id = $1 and f.tenant_id = $1 and f.id = u.id returning u.data, f.session_id`,
    [tenant],
  );
  // What does not wait for its run any more and is not there either was deleted with its session.
  await tx.query(
    `delete from untold_feedback u where u.tenant_id = $1 and not exists (
       select from awaited_feedback a where a.tenant_id = $1 and (a.run_id, a.id) = (u.run_id, u.id))
     and not exists (select from feedback f where f.tenant_id = $1 and f.id = u.id)`,
    [tenant],
  );
  return rows;
}
