import { Away, EventStore, Followers, idOf, type Projection, type Recorded } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { v5 as idFrom } from 'uuid';
import { type FeedbackAdded, type FeedbackAwaited, type RunsReceived, sessionStream } from '../session/experiment';
import { EXPERIMENTS_VIEW } from '../common/experiments-view';

/** Time for which it waits until the runs of a batch are stored (ms). */
const STORED_MS = 5000;

interface Told {
  readonly tenant_id: string;
  readonly data: string;
  readonly session_id: string;
}

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
    const received = events.filter(({ type }) => type === 'RunsReceived') as Recorded<RunsReceived>[];
    for (const { metadata, data } of awaited) {
      await tx.query(
        'insert into untold_feedback (tenant_id, run_id, id, data) values ($1, $2, $3, $4) on conflict do nothing',
        [metadata.tenant, data.run_id, data.id, JSON.stringify(data)],
      );
    }
    if (!(await tx.query('select 1 from untold_feedback limit 1')).rowCount) return;
    const removed = events.filter(({ type }) => type === 'TenantRemoved').map(({ stream }) => idOf(stream));
    if (removed.length > 0) await tx.query('delete from untold_feedback where tenant_id = any($1::uuid[])', [removed]);
    const position = events.at(-1)!.position;
    if (!(await this.followers.passed(position, [EXPERIMENTS_VIEW], STORED_MS)))
      throw new Away(`${EXPERIMENTS_VIEW} has not stored the runs yet.`);
    const waiting = awaited.map(({ data }) => data.run_id);
    const runs = received.flatMap(({ data }) => data.runs.map(({ id }) => id));
    const known = [...waiting, ...runs];
    const uploads = events.filter(({ type }) => type === 'RunsPersisted').map(({ stream }) => idOf(stream));
    const { rows } = await tx.query<Told>(
      `delete from untold_feedback u using feedback f
       where (u.run_id = any($1::uuid[]) or f.session_id = any($2::uuid[])) and f.id = u.id and f.tenant_id = u.tenant_id
       returning u.tenant_id, u.data, f.session_id`,
      [known, uploads],
    );
    // What does not wait for its run any more and is not there either was deleted with its session.
    await tx.query(
      `delete from untold_feedback u where u.run_id = any($1::uuid[]) and not exists (
         select from awaited_feedback a where (a.tenant_id, a.run_id, a.id) = (u.tenant_id, u.run_id, u.id))
       and not exists (select from feedback f where f.id = u.id and f.tenant_id = u.tenant_id)`,
      [known],
    );
    for (const { tenant_id: tenant, data: text, session_id } of rows) {
      const data = JSON.parse(text) as FeedbackAdded['data'];
      // Recording it again, after a crash, changes nothing.
      const event = { type: 'FeedbackAdded' as const, data, id: idFrom(data.id, session_id) };
      await this.store.append(sessionStream(session_id), 'any', [event], { tenant, actor: 'system:feedback' });
    }
  };
}
