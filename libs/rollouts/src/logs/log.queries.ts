import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { LogLine, LogQuery } from './log.schema';
import { RevisionMissing } from '../rollout/rollout.errors';
import type { LogPhase } from './rollout-logs.store';
import { RolloutReports } from '../rollout/rollout-reports.service';

/** Which log: of one revision, or of all of the deployment. */
interface WhichLog {
  readonly deployment_id: string;
  readonly revision_id?: string;
  readonly phase: LogPhase;
}

interface Row {
  readonly id: string;
  readonly logged_at: Date;
  readonly level: LogLine['level'];
  readonly message: string;
}

/** Reads logs. */
@Injectable()
export class LogQueries {
  constructor(
    private readonly pool: Pool,
    private readonly reports: RolloutReports,
  ) {}

  /**
   * A page of a tenant's log. `next_offset` is where the next page begins, for `asc` also lines that are yet to come;
   * null when the page is empty.
   * @throws DeploymentMissing, RevisionMissing
   */
  async page(tenantId: string, which: WhichLog, { order, limit, ...query }: LogQuery) {
    await this.check(tenantId, which);
    const values: unknown[] = [which.deployment_id, which.phase, tenantId];
    const bind = (value: unknown) => `$${values.push(value)}`;
    const conditions = ['deployment_id = $1', 'phase = $2', '(tenant_id = $3 or tenant_id is null)'];
    if (which.revision_id) conditions.push(`revision_id = ${bind(which.revision_id)}`);
    if (query.offset !== undefined) conditions.push(`id ${order === 'asc' ? '>' : '<'} ${bind(query.offset)}::bigint`);
    if (query.level) conditions.push(`level = ${bind(query.level)}`);
    if (query.query) conditions.push(`message ilike ${bind(`%${query.query.replaceAll(/[\\%_]/g, '\\$&')}%`)}`);
    if (query.start_time) conditions.push(`logged_at >= ${bind(query.start_time.iso)}::timestamptz`);
    if (query.end_time) conditions.push(`logged_at <= ${bind(query.end_time.iso)}::timestamptz`);
    const { rows } = await this.pool.query<Row>(
      `select id, logged_at, level, message from rollout_logs
       where ${conditions.join(' and ')} order by id ${order} limit ${bind(limit)}`,
      values,
    );
    const logs = rows.map(({ id, logged_at, level, message }) => {
      return { id, timestamp: logged_at.toISOString(), level, message };
    });
    return { logs, next_offset: rows.at(-1)?.id ?? null };
  }

  private async check(tenantId: string, { deployment_id, revision_id }: WhichLog): Promise<void> {
    const { revisions } = await this.reports.owned(tenantId, deployment_id);
    if (revision_id && !revisions.has(revision_id)) throw new RevisionMissing(revision_id);
  }
}
