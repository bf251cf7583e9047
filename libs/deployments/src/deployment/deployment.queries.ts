import { type CommandContext, type Dialect, type Listed, type Page, toWire } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { Gate, RevisionStatus } from '@fairlead/contracts';
import type { DeploymentRecord, unshownPart } from './record';
import type { Source } from '../model/deployment-events';
import type { RevisionRow } from './revision.projection';

export interface DeploymentFilter {
  readonly name?: string;
  readonly name_contains?: string;
  readonly agent_id?: string;
  readonly agent_environment?: string;
  readonly status?: string;
  readonly remote_reconciled?: boolean;
  readonly tag_value_ids?: readonly string[];
  readonly image_version?: string;
  readonly deployment_type?: string;
  readonly deployment_ids?: readonly string[];
}

/** Reads the tables that the view keeps. */
@Injectable()
export class DeploymentQueries {
  constructor(private readonly pool: Pool) {}

  /** A tenant's deployment as rendered JSON text, with its edition. */
  async find(tenantId: string, id: string, dialect: Dialect) {
    const { rows } = await this.pool.query<{ document: string; edition: number }>({
      name: 'find deployment',
      text: 'select document, edition from deployment_documents where id = $1 and tenant_id = $2',
      values: [id, tenantId],
    });
    return rows[0] && { ...rows[0], document: spelled(rows[0].document, dialect) };
  }

  /**
   * Rendered deployments of a tenant: one whose name is exactly `name_contains` first, then the newest first.
   * The page is chosen by index alone; only its rows are read. Its numbers stand in the statement, because a plan that
   * does not know them would read the whole table.
   */
  async list(tenantId: string, filter: DeploymentFilter, page: Page, dialect: Dialect): Promise<Listed<string>> {
    const values: unknown[] = [tenantId];
    const conditions = conditionsOf(filter, (value) => `$${values.push(value)}`);
    const named = filter.name_contains;
    const chosen =
      named === undefined
        ? newest(conditions)
        : byName(conditions, page, `$${values.push(named)}`, `$${values.push(containing(named))}`);
    const text = `
      select document
      from (${chosen} limit ${page.limit + 1} offset ${page.offset}) as page join deployment_documents using (id)
      order by page.place, page.created_at desc, page.id`;
    const name = values.length === 1 && page.offset === 0 ? `list ${page.limit} deployments` : undefined;
    const { rows } = await this.pool.query<{ document: string }>({ name, text, values });
    return {
      items: rows.slice(0, page.limit).map(({ document }) => spelled(document, dialect)),
      more: rows.length > page.limit,
    };
  }

  /** Rendered deployments of a workspace with their gates, which the other spelling does not have. */
  async withGates({ tenantId, dialect }: CommandContext, documents: readonly string[]): Promise<readonly string[]> {
    if (dialect === 'wire') return documents;
    const records = documents.map((text) => JSON.parse(text) as DeploymentRecord);
    const { rows } = await this.pool.query<{ id: string; unshown: string }>({
      name: 'gates of deployments',
      text: 'select id, unshown from deployment_documents where tenant_id = $1 and id = any($2::uuid[])',
      values: [tenantId, records.map(({ id }) => id)],
    });
    const found = new Map(rows.map(({ id, unshown }) => [id, JSON.parse(unshown) as ReturnType<typeof unshownPart>]));
    return records.map((record) => {
      const gates: readonly Gate[] = found.get(record.id)?.gates ?? [];
      return JSON.stringify({ ...record, source_config: { ...record.source_config, gates } });
    });
  }

  /** The number of a tenant's deployments that match. */
  async count(tenantId: string, filter: DeploymentFilter): Promise<number> {
    const values: unknown[] = [tenantId];
    const bind = (value: unknown) => `$${values.push(value)}`;
    const conditions = conditionsOf(filter, bind);
    const { name_contains: part } = filter;
    if (part !== undefined) conditions.push(`name ilike ${bind(containing(part))}`);
    const { rows } = await this.pool.query<{ total: number }>(
      `select count(*)::int as total from deployments where ${conditions.join(' and ')}`,
      values,
    );
    return rows[0]!.total;
  }

  /** A deployment's revisions, newest first. */
  async revisions(id: string, statuses: readonly string[] | undefined, page: Page): Promise<Listed<RevisionRow>> {
    const values: unknown[] = [id, page.limit + 1, page.offset];
    const wanted = statuses ? `and status = any($${values.push(statuses)})` : '';
    const { rows } = await this.pool.query<StoredRevision>(
      `${REVISION} where deployment_id = $1 ${wanted} order by number desc limit $2 offset $3`,
      values,
    );
    return { items: rows.slice(0, page.limit).map(toRevision), more: rows.length > page.limit };
  }

  /** One revision of a tenant's deployment. */
  async revision(id: string, revisionId: string): Promise<RevisionRow | undefined> {
    const { rows } = await this.pool.query<StoredRevision>({
      name: 'find revision',
      text: `${REVISION} where id = $1 and deployment_id = $2`,
      values: [revisionId, id],
    });
    return rows[0] && toRevision(rows[0]);
  }
}

/** Documents are kept in the specification's names; the other spelling is for clients that ask for it. */
function spelled(document: string, dialect: Dialect): string {
  return dialect === 'wire' ? JSON.stringify(toWire(JSON.parse(document))) : document;
}

/** A pattern for ILIKE that matches a text anywhere. */
function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

function newest(conditions: readonly string[]): string {
  return `select id, created_at, 0 as place from deployments
    where ${conditions.join(' and ')} order by created_at desc, id`;
}

function byName(conditions: readonly string[], page: Page, exact: string, pattern: string): string {
  const where = conditions.join(' and ');
  return `select id, created_at, place from (
      (select id, created_at, 0 as place from deployments where ${where} and name = ${exact})
      union all
      (select id, created_at, 1 as place from deployments where ${where} and name ilike ${pattern} and name <> ${exact}
       order by created_at desc, id limit ${page.limit + page.offset + 1})
    ) as found order by place, created_at desc, id`;
}

function conditionsOf(filter: DeploymentFilter, bind: (value: unknown) => string): string[] {
  const conditions = ['tenant_id = $1'];
  const {
    name,
    agent_id,
    agent_environment,
    status,
    remote_reconciled,
    tag_value_ids,
    image_version,
    deployment_type,
    deployment_ids,
  } = filter;
  if (name !== undefined) conditions.push(`name = ${bind(name)}`);
  if (agent_id !== undefined) conditions.push(`agent_id = ${bind(agent_id)}`);
  if (agent_environment !== undefined) conditions.push(`agent_environment = ${bind(agent_environment)}`);
  if (status !== undefined) conditions.push(`status = ${bind(status)}`);
  if (remote_reconciled !== undefined) conditions.push(`(listener_id is not null) = ${bind(remote_reconciled)}`);
  if (tag_value_ids) conditions.push(`tag_value_ids && ${bind(tag_value_ids)}::uuid[]`);
  if (image_version !== undefined) conditions.push(`image_version = ${bind(image_version)}`);
  if (deployment_type !== undefined) conditions.push(`deployment_type = ${bind(deployment_type)}`);
  if (deployment_ids) conditions.push(`id = any(${bind(deployment_ids)}::uuid[])`);
  return conditions;
}

const REVISION = 'select id, created_at, updated_at, status, source, source_revision_config from revisions';

interface StoredRevision {
  readonly id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly status: RevisionStatus;
  readonly source: Source;
  readonly source_revision_config: string;
}

function toRevision(row: StoredRevision): RevisionRow {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    source_revision_config: JSON.parse(row.source_revision_config) as RevisionRow['source_revision_config'],
  };
}
