import { plainRepository } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

/** The host's own ids of the repositories of deployments, by address. A new name of a repository does not change its id. */
@Injectable()
export class RepositoryIds {
  constructor(private readonly pool: Pool) {}

  async idOf(tenantId: string, integrationId: string, repoUrl: string): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ host_id: string }>(
      `select host_id from integration_repositories
       where tenant_id = $1 and integration_id = $2 and repository = $3`,
      [tenantId, integrationId, plainRepository(repoUrl)],
    );
    return rows[0]?.host_id;
  }

  /** Returns the addresses under which a repository is known, as they are compared. */
  async addressesOf(tenantId: string, integrationId: string, hostId: string): Promise<string[]> {
    const { rows } = await this.pool.query<{ repository: string }>(
      `select repository from integration_repositories
       where tenant_id = $1 and integration_id = $2 and host_id = $3 limit 100`,
      [tenantId, integrationId, hostId],
    );
    return rows.map(({ repository }) => repository);
  }

  /** Notes the id of a repository of a deployment. Another id takes the place of one whose repository is gone. */
  async learn(tenantId: string, integrationId: string, repoUrl: string, hostId: string): Promise<void> {
    await this.pool.query(
      `insert into integration_repositories (tenant_id, integration_id, repository, host_id) values ($1, $2, $3, $4)
       on conflict (tenant_id, integration_id, repository) do update set host_id = excluded.host_id`,
      [tenantId, integrationId, plainRepository(repoUrl), hostId],
    );
  }

  /** Forgets the repositories of an integration. */
  async forget(tenantId: string, integrationId: string): Promise<void> {
    await this.pool.query('delete from integration_repositories where tenant_id = $1 and integration_id = $2', [
      tenantId,
      integrationId,
    ]);
  }
}
