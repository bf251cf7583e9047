import { Forbidden } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import { idOf, type Recorded } from '../core/event';
import type { Projection } from '../followers/projection';

type StoppedStatus = 'suspended' | 'removing' | 'removed';

/** The workspace is stopped, so its requests are refused (403). */
export class WorkspaceStopped extends Forbidden {
  constructor(status: StoppedStatus) {
    super(SENTENCES[status]);
  }
}

const SENTENCES: Readonly<Record<StoppedStatus, string>> = {
  suspended: 'This workspace is suspended: an administrator of the installation can resume it.',
  removing: 'This workspace is being removed.',
  removed: 'This workspace has been removed.',
};

/** Status after an event of a workspace; other events do not change it. */
const STATUS: Readonly<Record<string, StoppedStatus | 'active'>> = {
  TenantSuspended: 'suspended',
  TenantResumed: 'active',
  TenantRemovalRequested: 'removing',
  TenantRemoved: 'removed',
};

/** Time for which a process may use what it read before (ms): it learns of a change by another process this late. */
const KEPT_MS = 1000;

/** Keeps the table of stopped workspaces. It is small, because working ones have no row. */
export const stoppedWorkspacesProjection: Projection = {
  name: 'workspaces.stopped',
  categories: ['tenant'],
  async handle(events: Recorded[], tx: PoolClient) {
    for (const { type, stream, time } of events) {
      const status = STATUS[type];
      if (status === undefined) continue;
      if (status === 'active') await tx.query('delete from stopped_workspaces where tenant_id = $1', [idOf(stream)]);
      else {
        await tx.query(
          `insert into stopped_workspaces (tenant_id, status, since) values ($1, $2, $3)
           on conflict (tenant_id) do update set status = excluded.status, since = excluded.since`,
          [idOf(stream), status, time],
        );
      }
    }
  },
};

/** Knows which workspaces are stopped. Every process learns of a change within a second. */
@Injectable()
export class Workspaces {
  private stopped: Promise<ReadonlyMap<string, StoppedStatus>> | undefined;
  private until = 0;

  constructor(private readonly pool: Pool) {}

  async stoppedStatus(tenantId: string): Promise<StoppedStatus | undefined> {
    return (await this.known()).get(tenantId);
  }

  async anyStopped(): Promise<boolean> {
    return [...(await this.known()).values()].some((status) => status !== 'removed');
  }

  async requireWorking(tenantId: string): Promise<void> {
    const status = await this.stoppedStatus(tenantId);
    if (status !== undefined) throw new WorkspaceStopped(status);
  }

  forget(): void {
    this.stopped = undefined;
  }

  private known(): Promise<ReadonlyMap<string, StoppedStatus>> {
    if (this.stopped === undefined || this.until < Date.now()) {
      this.until = Date.now() + KEPT_MS;
      const reading = this.read();
      this.stopped = reading;
      reading.catch(() => this.stopped === reading && this.forget());
    }
    return this.stopped;
  }

  private async read(): Promise<ReadonlyMap<string, StoppedStatus>> {
    const { rows } = await this.pool.query<{ id: string; status: StoppedStatus }>(
      'select tenant_id as id, status from stopped_workspaces',
    );
    return new Map(rows.map(({ id, status }) => [id, status]));
  }
}
