import type { Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { FeedbackConfigEvent } from './feedback-config';

export async function applyFeedbackConfig(event: Recorded<FeedbackConfigEvent>, tx: PoolClient): Promise<void> {
  const { tenant } = event.metadata;
  if (event.type === 'FeedbackConfigDeleted') {
    await tx.query('delete from feedback_configs where tenant_id = $1 and key = $2', [tenant, event.data.key]);
    return;
  }
  const { key, config, is_lower_score_better: isLower } = event.data;
  await tx.query(
    `insert into feedback_configs (tenant_id, key, config, is_lower_score_better, modified_at) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id, key) do update set config = excluded.config,
       is_lower_score_better = excluded.is_lower_score_better, modified_at = excluded.modified_at`,
    [tenant, key, config, isLower, event.time],
  );
}
