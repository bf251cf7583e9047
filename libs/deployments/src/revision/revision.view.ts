import { idOf, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { DeploymentEvent, RevisionStatus, Source, SourceRevisionConfig } from '../deployment/deployment-events';

/** One revision as its table has it. */
export interface RevisionRow {
  readonly id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly status: RevisionStatus;
  readonly source: Source;
  readonly source_revision_config: SourceRevisionConfig;
}

type Created = Recorded<DeploymentEvent & { type: 'RevisionCreated' }>;
type Resolved = Recorded<DeploymentEvent & { type: 'RevisionCommitResolved' }>;
type Moved = Recorded<DeploymentEvent & { type: 'RevisionStatusChanged' }>;

/** What one batch of events does to the table `revisions`: gathered, then written at once. */
export class RevisionRows {
  private readonly created: Created[] = [];
  private readonly moved = new Map<string, Moved>();
  private readonly resolved: Resolved[] = [];

  add(event: Recorded<DeploymentEvent>): void {
    if (event.type === 'RevisionCreated') this.created.push(event);
    if (event.type === 'RevisionCommitResolved') this.resolved.push(event);
    if (event.type === 'RevisionStatusChanged') this.moved.set(event.data.revision_id, event);
  }

  async write(tx: PoolClient): Promise<void> {
    if (this.created.length > 0) await this.insert(tx);
    if (this.moved.size > 0) await this.update(tx);
    if (this.resolved.length > 0) await this.name(tx);
  }

  private async insert(tx: PoolClient): Promise<void> {
    const rows = this.created.map((event) => {
      const { revision_id, source, source_revision_config } = event.data;
      const moved = this.moved.get(revision_id);
      this.moved.delete(revision_id);
      return [
        revision_id,
        idOf(event.stream),
        moved?.version ?? event.version,
        event.version,
        event.time,
        moved?.time ?? event.time,
        moved?.data.status ?? 'QUEUED',
        source,
        JSON.stringify(source_revision_config),
      ];
    });
    const values = Array.from({ length: 9 }, (_, column) => rows.map((row) => row[column]));
    await tx.query({
      name: 'insert revisions',
      text: `insert into revisions (id, deployment_id, version, number, created_at, updated_at, status, source, source_revision_config)
        select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::text[])
        on conflict (id) do update set version = excluded.version, updated_at = excluded.updated_at, status = excluded.status
        where revisions.version < excluded.version`,
      values,
    });
  }

  private async update(tx: PoolClient): Promise<void> {
    const moved = [...this.moved.values()];
    await tx.query({
      name: 'update revisions',
      text: `update revisions set version = fresh.version, updated_at = fresh.updated_at, status = fresh.status
        from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[]) as fresh (id, version, updated_at, status)
        where revisions.id = fresh.id and revisions.version < fresh.version`,
      values: [
        moved.map(({ data }) => data.revision_id),
        moved.map(({ version }) => version),
        moved.map(({ time }) => time),
        moved.map(({ data }) => data.status),
      ],
    });
  }

  /** Writes the commits that were found. It can be repeated, so it leaves the rows' versions alone. */
  private async name(tx: PoolClient): Promise<void> {
    await tx.query({
      name: 'name commits of revisions',
      text: `update revisions set updated_at = greatest(revisions.updated_at, fresh.updated_at), source_revision_config =
          (revisions.source_revision_config::jsonb || jsonb_build_object('repo_commit_sha', fresh.sha))::text
        from unnest($1::uuid[], $2::timestamptz[], $3::text[]) as fresh (id, updated_at, sha)
        where revisions.id = fresh.id`,
      values: [
        this.resolved.map(({ data }) => data.revision_id),
        this.resolved.map(({ time }) => time),
        this.resolved.map(({ data }) => data.repo_commit_sha),
      ],
    });
  }
}
