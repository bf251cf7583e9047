import { Executor } from '@fairlead/executors';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { RevisionMissing } from '../rollout/rollout.errors';
import { RolloutReports } from '../rollout/rollout-reports.service';
import { type Bin, binned, countsOf } from './log-counts';
import type { LogCountsQuery } from './log.schema';

const MOST_LINES = 100_000;

type Row = Bin & { readonly first: Date; readonly last: Date };

/** Counts the lines of logs over time. */
@Injectable()
export class LogCountQueries {
  constructor(
    private readonly pool: Pool,
    private readonly reports: RolloutReports,
    private readonly executor: Executor,
  ) {}

  /** @throws DeploymentMissing, RevisionMissing */
  async counts(tenantId: string, deploymentId: string, { phase, revision_id, bins }: LogCountsQuery) {
    const { revisions } = await this.reports.owned(tenantId, deploymentId);
    if (phase === 'run') {
      const lines = this.executor.lines?.(deploymentId) ?? [];
      return countsOf(binned(lines, bins), lines[0]?.at, lines.at(-1)?.at, bins);
    }
    if (revision_id && !revisions.has(revision_id)) throw new RevisionMissing(revision_id);
    const { rows } = await this.pool.query<Row>({
      name: `count log lines${revision_id ? ' of a revision' : ''}`,
      text: `with lines as (
          select logged_at, level from rollout_logs
          where deployment_id = $1 and phase = $2 and (tenant_id = $5 or tenant_id is null)
            ${revision_id ? 'and revision_id = $6' : ''}
          order by id desc limit $4
        ), span as (select min(logged_at) as first, max(logged_at) as last from lines)
        select first, last, bin, count(*)::int as lines, count(*) filter (where level = 'WARNING')::int as warnings,
          count(*) filter (where level in ('ERROR', 'CRITICAL'))::int as errors
        from span, lines, least($3 - 1, coalesce(floor(
          extract(epoch from logged_at - first) / nullif(extract(epoch from last - first), 0) * $3
        ), 0)::int) as bin
        group by first, last, bin order by bin`,
      values: [deploymentId, phase, bins, MOST_LINES, tenantId, ...(revision_id ? [revision_id] : [])],
    });
    const found = rows.map(({ bin, lines, warnings, errors }) => ({ bin, lines, warnings, errors }));
    return countsOf(found, rows[0]?.first.getTime(), rows[0]?.last.getTime(), bins);
  }
}
