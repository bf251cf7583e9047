import { transaction } from '@fairlead/postgres';
import { PeriodicWork } from '@fairlead/schema';
import { Injectable, Logger } from '@nestjs/common';
import { Pool } from 'pg';
import { refreshRunStats } from './run-stats.projection';
import { TraceCounts } from './trace-counts.projection';

/** Interval of looks for sessions that are counted anew, of which a part is counted each time (ms). */
const LOOK_MS = 500;
const AT_ONCE = 5;

/** Goes on with counting large sessions anew, in short transactions, when no runs of theirs come. */
@Injectable()
export class Recounts {
  private readonly logger = new Logger('Recounts');
  private readonly work = new PeriodicWork(
    () => this.goOn(),
    (error) => this.logger.error(`Sessions could not be counted anew: ${String(error)}`),
  );

  constructor(private readonly pool: Pool) {}

  start(): void {
    this.work.start(LOOK_MS);
  }

  stop(): Promise<void> {
    return this.work.stop();
  }

  private async goOn(): Promise<void> {
    const { rows } = await this.pool.query<{ tenant: string; session: string }>(
      `select tenant_id as tenant, session_id as session from trace_recounts order by random() limit ${AT_ONCE}`,
    );
    const failures: unknown[] = [];
    for (const { tenant, session } of rows) {
      // One that fails holds up no other.
      await this.goOnWith(tenant, session).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  private goOnWith(tenant: string, session: string): Promise<void> {
    return transaction(this.pool, async (tx) => {
      await tx.query('set local synchronous_commit = off');
      await refreshRunStats(tx, tenant, session, new TraceCounts());
    });
  }
}
