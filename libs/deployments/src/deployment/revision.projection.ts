import type { RevisionStatus } from '@fairlead/contracts';
import { idOf, Inapplicable, type Recorded } from '@fairlead/eventing';
import type { PoolClient } from 'pg';
import type { DeploymentEvent, Source, SourceRevisionConfig } from '../model/deployment-events';

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

/** A revision of a deployment: an id by itself may be named by several. */
function keyOf({ stream, data }: Created | Moved): string {
  return `${stream} ${data.revision_id}`;
}

/** Changes that one batch of events makes in the table `revisions`: gathered, then written at once. */
export class RevisionView {
  private readonly created: Created[] = [];
  private readonly moved = new Map<string, Moved>();
  private readonly resolved: Resolved[] = [];

  add(event: Recorded<DeploymentEvent>): void {
    if (event.type === 'RevisionCreated') this.created.push(event);
    if (event.type === 'RevisionCommitResolved') this.resolved.push(event);
    if (event.type === 'RevisionStatusChanged') this.moved.set(keyOf(event), event);
  }

  async write(tx: PoolClient): Promise<void> {
    if (this.created.length > 0) await this.insert(tx);
    if (this.moved.size > 0) await this.update(tx);
    if (this.resolved.length > 0) await this.name(tx);
  }

  private async insert(tx: PoolClient): Promise<void> {
    const rows = this.created.map((event) => {
      const { revision_id, source, source_revision_config } = event.data;
      const moved = this.moved.get(keyOf(event));
      this.moved.delete(keyOf(event));
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
    const written = await tx.query({
      name: 'insert revisions',
      text: `insert into revisions (id, deployment_id, version, number, created_at, updated_at, status, source, source_revision_config)
        select * from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::timestamptz[], $6::timestamptz[], $7::text[], $8::text[], $9::text[])
        on conflict (id) do update set version = excluded.version, updated_at = excluded.updated_at, status = excluded.status
        where revisions.deployment_id = excluded.deployment_id and revisions.version < excluded.version`,
      values,
    });
    if (written.rowCount !== rows.length) await requireOwnRevisions(this.created, tx);
  }

  private async update(tx: PoolClient): Promise<void> {
    const moved = [...this.moved.values()];
    await tx.query({
      name: 'update revisions',
      text: `update revisions set version = fresh.version, updated_at = fresh.updated_at, status = fresh.status
        from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::text[], $5::uuid[])
          as fresh (id, version, updated_at, status, deployment_id)
        where revisions.id = fresh.id and revisions.deployment_id = fresh.deployment_id
          and revisions.version < fresh.version`,
      values: [
        moved.map(({ data }) => data.revision_id),
        moved.map(({ version }) => version),
        moved.map(({ time }) => time),
        moved.map(({ data }) => data.status),
        moved.map(({ stream }) => idOf(stream)),
      ],
    });
  }

  /** Writes the commits that were found. It can be repeated, so it leaves the rows' versions alone. */
  private async name(tx: PoolClient): Promise<void> {
    await tx.query({
      name: 'name commits of revisions',
      text: `update revisions set updated_at = greatest(revisions.updated_at, fresh.updated_at), source_revision_config =
          (revisions.source_revision_config::jsonb || jsonb_build_object('repo_commit_sha', fresh.sha))::text
        from unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::uuid[]) as fresh (id, updated_at, sha, deployment_id)
        where revisions.id = fresh.id and revisions.deployment_id = fresh.deployment_id`,
      values: [
        this.resolved.map(({ data }) => data.revision_id),
        this.resolved.map(({ time }) => time),
        this.resolved.map(({ data }) => data.repo_commit_sha),
        this.resolved.map(({ stream }) => idOf(stream)),
      ],
    });
  }
}

/** @throws Inapplicable when one of the ids belongs to a revision of another deployment, whose row stays as it is */
async function requireOwnRevisions(created: readonly Created[], tx: PoolClient): Promise<void> {
  const { rows } = await tx.query<{ id: string; deployment_id: string }>(
    `select r.id, given.deployment_id from unnest($1::uuid[], $2::uuid[]) as given (id, deployment_id)
       join revisions r on r.id = given.id where r.deployment_id <> given.deployment_id limit 1`,
    [created.map(({ data }) => data.revision_id), created.map(({ stream }) => idOf(stream))],
  );
  const [taken] = rows;
  if (taken)
    throw new Inapplicable(`Revision ${taken.id} of deployment ${taken.deployment_id} is another deployment's.`);
}
