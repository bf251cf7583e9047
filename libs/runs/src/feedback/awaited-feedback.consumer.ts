import { Away, EventStore, Followers, idOf, type Projection, type Recorded } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { v5 as idFrom } from 'uuid';
import { type FeedbackAdded, type FeedbackAwaited, sessionStream } from '../session/experiment';
import { EXPERIMENTS_VIEWS } from '../common/experiments-view';
import { takeShownFeedback } from './untold-feedback.queries';

/** Time for which it waits until the runs of a batch are stored (ms). */
const STORED_MS = 5000;

/**
 * Records `FeedbackAdded` for feedback that waited for its run, once the run is there: others are told of it by that.
 * Nobody is told of feedback whose session was deleted before the run was stored, nor of that of a removed workspace.
 */
@Injectable()
export class AwaitedFeedback implements Projection {
  readonly name = 'awaited-feedback';
  readonly types = ['FeedbackAwaited', 'RunsReceived', 'RunsPersisted', 'TenantRemoved'];
  readonly optional = true;
  readonly gatherMs = 200;
  readonly holds = 1;

  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
  ) {}

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    const awaited = events.filter(({ type }) => type === 'FeedbackAwaited') as Recorded<FeedbackAwaited>[];
    for (const { metadata, data } of awaited) {
      await tx.query(
        'insert into untold_feedback (tenant_id, run_id, id, data) values ($1, $2, $3, $4) on conflict do nothing',
        [metadata.tenant, data.run_id, data.id, JSON.stringify(data)],
      );
    }
    const workspaces = new Set(events.flatMap(({ metadata }) => metadata.tenant ?? []));
    const { rows: waiting } = await tx.query<{ tenant: string }>(
      'select distinct tenant_id as tenant from untold_feedback where tenant_id = any($1::uuid[])',
      [[...workspaces]],
    );
    const removed = events.filter(({ type }) => type === 'TenantRemoved').map(({ stream }) => idOf(stream));
    if (removed.length > 0) await tx.query('delete from untold_feedback where tenant_id = any($1::uuid[])', [removed]);
    if (waiting.length === 0) return;
    const position = events.at(-1)!.position;
    if (!(await this.followers.passed(position, EXPERIMENTS_VIEWS, STORED_MS)))
      throw new Away('The runs are not stored yet.');
    for (const { tenant } of waiting) await this.tell(tenant, tx);
  };

  /** Records the feedback of a workspace that is shown by now. */
  private async tell(tenant: string, tx: PoolClient): Promise<void> {
    for (const { data: text, session_id } of await takeShownFeedback(tx, tenant)) {
      const data = JSON.parse(text) as FeedbackAdded['data'];
      // Recording it again, after a crash, changes nothing.
      const event = { type: 'FeedbackAdded' as const, data, id: idFrom(data.id, session_id) };
      await this.store.append(sessionStream(session_id), 'any', [event], { tenant, actor: 'system:feedback' });
    }
  }
}
