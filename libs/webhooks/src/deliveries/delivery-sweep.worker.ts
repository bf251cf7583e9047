import { PeriodicWork } from '@fairlead/schema';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { ofWorkspace } from './delivery.queries';
import { WebhooksOptions } from '../webhook/webhooks.options';

const SWEEP_EVERY = 3_600_000;
const AT_ONCE = 1000;

/** Deletes old entries of the log of deliveries, and those of removed webhooks. */
@Injectable()
export class DeliverySweepWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly sweeping = new PeriodicWork(
    () => this.sweep(),
    (error) => this.logger.error(error),
  );
  private stopping = false;

  constructor(
    private readonly pool: Pool,
    private readonly options: WebhooksOptions,
  ) {}

  onApplicationBootstrap(): void {
    void this.sweeping.run();
    this.sweeping.start(SWEEP_EVERY);
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.sweeping.stop();
  }

  /** Deletes all that is due now, in small steps. */
  async sweep(): Promise<void> {
    await this.clear('finished_at < $1', [new Date(this.options.now() - this.options.retention)]);
    const { rows } = await this.pool.query<{ webhook_id: string; tenant_id: string }>(
      'select webhook_id, tenant_id from webhook_targets where removed',
    );
    for (const { webhook_id, tenant_id } of rows) {
      await this.clear(`webhook_id = $1 and ${ofWorkspace('$2')}`, [webhook_id, tenant_id], ofWorkspace('$2'));
      if (!this.stopping) await this.pool.query('delete from webhook_targets where webhook_id = $1', [webhook_id]);
    }
  }

  /** `own`: SQL that names the workspace, where the condition is about one. */
  private async clear(condition: string, values: readonly unknown[], own = 'true'): Promise<void> {
    let cleared: number;
    do {
      const { rowCount } = await this.pool.query(
        `delete from webhook_deliveries where ${own} and id in (
           select id from webhook_deliveries where ${condition} limit ${AT_ONCE} for update skip locked)`,
        [...values],
      );
      cleared = rowCount ?? 0;
    } while (cleared === AT_ONCE && !this.stopping);
  }
}
