import { PeriodicWork } from '@fairlead/schema';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { type RejectedRequest, RejectedRequestCounts } from './rejected-requests';

const FLUSH_MS = 1000;
/**
 * Largest number of rows that a process adds in a minute: in total, and for one workspace or for requests without a
 * known key.
 */
const MOST = 1000;
const MOST_OF_ONE = 100;
const KEPT_DAYS = 90;
const SWEEP_MS = 60 * 60 * 1000;

/**
 * Writes refused requests to the table `refused_requests`, once a second, summed by the minute: a flood costs a bounded
 * number of rows. They are not in the log, which whoever has no key could fill otherwise.
 */
@Injectable()
export class RejectedRequestsStore implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('RejectedRequestsStore');
  private readonly counts = new RejectedRequestCounts(MOST, MOST_OF_ONE);
  private writing: Promise<void> = Promise.resolve();
  private readonly flushing = new PeriodicWork(
    () => this.flush(),
    (error) => this.logger.error(error),
  );
  private readonly sweeping = new PeriodicWork(
    () => this.sweep(),
    (error) => this.logger.error(`old rejected requests stay: ${(error as Error).message}`),
  );

  constructor(private readonly pool: Pool) {}

  add(rejected: RejectedRequest): void {
    this.counts.add(rejected);
  }

  onApplicationBootstrap(): void {
    this.flushing.start(FLUSH_MS);
    this.sweeping.start(SWEEP_MS);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.flushing.stop(), this.sweeping.stop()]);
    await this.flush();
  }

  /** Writes the rows that were added. Rows that cannot be written are logged and dropped. */
  flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  private async write(): Promise<void> {
    const rejected = this.counts.take();
    if (rejected.length === 0) return;
    try {
      await this.pool.query(
        `insert into refused_requests (id, tenant_id, "time", actor, request, status, request_id, address, count)
         select id, tenant_id, to_timestamp(ms / 1000.0), actor, request, status, request_id, address, count
         from unnest($1::uuid[], $2::uuid[], $3::float8[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::int[])
           as refused (id, tenant_id, ms, actor, request, status, request_id, address, count)
         on conflict (id) do update set count = refused_requests.count + excluded.count`,
        [
          rejected.map(({ id }) => id),
          rejected.map(({ tenantId }) => tenantId),
          rejected.map(({ time }) => time),
          rejected.map(({ actor }) => actor),
          rejected.map(({ request }) => request),
          rejected.map(({ status }) => status),
          rejected.map(({ requestId }) => requestId),
          rejected.map(({ address }) => address),
          rejected.map(({ count }) => count),
        ],
      );
    } catch (error) {
      const lost = rejected.reduce((sum, { count }) => sum + count, 0);
      this.logger.error(`${lost} refused requests could not be recorded: ${(error as Error).message}`);
    }
  }

  private async sweep(): Promise<void> {
    await this.pool.query(`delete from refused_requests where "time" < now() - interval '${KEPT_DAYS} days'`);
  }
}
