import { type CommandContext, spelled } from '@fairlead/api';
import { type RevisionStatus, standingOf } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { SourceRevisionConfig } from '../model/deployment-events';
import { type DeploymentRecord, revisionConfigRecord } from './record';

/** A revision as its row has it, and its place among those of the deployment, from 1. */
interface Row {
  readonly id: string;
  readonly number: number;
  readonly status: RevisionStatus;
  readonly source_revision_config: string;
}

/** Tells in a sentence how deployments are, with the revisions that it speaks of. */
@Injectable()
export class StandingQueries {
  constructor(private readonly pool: Pool) {}

  /** Rendered deployments of a workspace, each with its member `standing`. */
  async inTexts(context: CommandContext, documents: readonly string[]): Promise<string[]> {
    const records = documents.map((text) => JSON.parse(text) as DeploymentRecord);
    const ids = records.flatMap(({ active_revision_id, latest_revision_id }) => [
      active_revision_id,
      latest_revision_id,
    ]);
    const rows = await this.revisions(context.tenantId, [...new Set(ids.filter((id) => id !== null))]);
    return records.map((record) => {
      const [live, latest] = [rows.get(record.active_revision_id), rows.get(record.latest_revision_id)];
      const standing = { ...standingOf({ ...record, live, latest }), live, latest };
      return JSON.stringify({ ...record, standing: spelled(context, standing) });
    });
  }

  private async revisions(tenantId: string, ids: readonly string[]) {
    const { rows } = await this.pool.query<Row>({
      name: 'revisions of standings',
      text: `select r.id, r.status, r.source_revision_config, (
            select count(*)::int from revisions earlier
            where earlier.deployment_id = r.deployment_id and earlier.number <= r.number
          ) as number
        from revisions r join deployments d on d.id = r.deployment_id
        where r.id = any($2::uuid[]) and d.tenant_id = $1`,
      values: [tenantId, ids],
    });
    const found = new Map(
      rows.map(({ source_revision_config: config, ...row }) => {
        return [
          row.id,
          { ...row, source_revision_config: revisionConfigRecord(JSON.parse(config) as SourceRevisionConfig) },
        ];
      }),
    );
    return { get: (id: string | null) => found.get(id ?? '') ?? null };
  }
}
