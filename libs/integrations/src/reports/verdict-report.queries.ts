import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { ReportNotFound } from '../integration/integration.errors';
import type { Standing } from './gated-revision';
import type { ReportStatus } from './verdict-reports.store';

interface Asked {
  readonly limit: number;
  /** Last id of the previous page. */
  readonly cursor?: string;
  readonly status?: string;
}

interface Row {
  readonly revision_id: string;
  readonly deployment_id: string;
  readonly deployment: string;
  readonly repository: string;
  readonly commit: string | null;
  readonly standing: Standing | null;
  readonly pulls: number[];
  readonly status: ReportStatus;
  readonly reason: string | null;
  readonly attempts: number;
  readonly sent_at: Date | null;
  readonly next_attempt_at: Date | null;
}

const COLUMNS = `revision_id, deployment_id, name as deployment, repository, commit, standing, pulls, status, reason,
  attempts, sent_at, next_attempt_at`;

/** Reads what code hosts are told of the gates of revisions. */
@Injectable()
export class VerdictReportQueries {
  constructor(private readonly pool: Pool) {}

  /** Returns a page of the reports of an integration, the newest revisions first; `next_cursor` is null on the last. */
  async list(tenantId: string, integrationId: string, { limit, cursor, status }: Asked) {
    const { rows } = await this.pool.query<Row>(
      `select ${COLUMNS} from verdict_reports
       where tenant_id = $1 and integration_id = $2 and ($3::uuid is null or revision_id < $3)
         and ($4::text is null or status = $4)
       order by revision_id desc limit $5`,
      [tenantId, integrationId, cursor ?? null, status ?? null, limit + 1],
    );
    const shown = rows.slice(0, limit);
    return {
      resources: shown.map(record),
      next_cursor: rows.length > limit ? shown.at(-1)!.revision_id : null,
    };
  }

  /** @throws ReportNotFound */
  async find(tenantId: string, integrationId: string, revisionId: string) {
    const { rows } = await this.pool.query<Row>(
      `select ${COLUMNS} from verdict_reports where tenant_id = $1 and integration_id = $2 and revision_id = $3`,
      [tenantId, integrationId, revisionId],
    );
    if (!rows[0]) throw new ReportNotFound(revisionId);
    return record(rows[0]);
  }
}

function record({ sent_at, next_attempt_at, ...row }: Row) {
  return {
    ...row,
    sent_at: sent_at?.toISOString() ?? null,
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
  };
}
