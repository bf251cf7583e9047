import { Away, EventStore, Followers, idOf, load, type Projection, type Recorded } from '@fairlead/eventing';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { EXPERIMENTS_VIEW } from '../common/experiments-view';
import { experimentModel } from './experiment';
import { deleteRows } from './session-rows.queries';

/** Name of the follower that deletes what deleted sessions have left. */
export const DELETED_SESSIONS = 'deleted-sessions';
/** Longest wait for the view to delete a session (ms). */
const GONE_MS = 5000;

/**
 * Deletes the runs and feedback of a deleted session of which the view deletes only the first ones, so that a large session
 * holds up no other event. A process that ends meanwhile leaves the rest to the next one. Nobody sees the rows any more.
 */
@Injectable()
export class DeletedSessions implements Projection, OnModuleDestroy {
  readonly name = DELETED_SESSIONS;
  readonly categories = ['experiment'];
  readonly types = ['SessionDeleted'];
  readonly optional = true;
  readonly holds = 1;
  private readonly stopping = new AbortController();

  /** `followers` is absent where a copy of the tables is made: its view is up to date. */
  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    private readonly followers?: Followers,
  ) {}

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    // The rows are deleted in transactions of their own; this one only moves the checkpoint.
    await tx.query('set local idle_in_transaction_session_timeout = 0');
    const passed = await this.followers?.passed(events.at(-1)!.position, [EXPERIMENTS_VIEW], GONE_MS);
    if (passed === false) throw new Away(`${EXPERIMENTS_VIEW} has not deleted the session yet.`);
    for (const { stream, metadata } of events) {
      // Events of early versions do not name their workspace.
      const tenant = metadata.tenant ?? (await load(this.store, experimentModel, stream)).state?.tenant_id;
      if (tenant) await deleteRows(this.pool, tenant, idOf(stream), this.stopping.signal);
    }
  };

  /** Ends before its database does. */
  onModuleDestroy(): void {
    this.stopping.abort(new Away('The process is ending.'));
  }
}
