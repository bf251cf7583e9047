import { plainRepository } from '@fairlead/contracts';
import { idOf, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import type { DeploymentEvent } from '../model/deployment-events';

/** Name of the follower that keeps this view. */
export const PUSH_TARGETS_VIEW = 'deployments.pushTargets';

/** Keeps the table `push_targets`: which deployments come from which integration, whether they build pushes or not. */
@Injectable()
export class PushTargetsView implements Projection {
  readonly name = PUSH_TARGETS_VIEW;
  readonly types = ['DeploymentCreated', 'DeploymentDeleted'];

  constructor(private readonly pool: Pool) {}

  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    for (const event of events as Recorded<DeploymentEvent>[]) {
      if (event.type === 'DeploymentDeleted') {
        await tx.query('delete from push_targets where deployment_id = $1', [idOf(event.stream)]);
      }
      if (event.type === 'DeploymentCreated') {
        requireOwn(event, { id: event.data.deployment_id, tenant_id: event.data.tenant_id });
      }
      if (event.type !== 'DeploymentCreated') continue;
      const { integration_id, repo_url = '' } = event.data.source_config;
      if (integration_id === undefined) continue;
      await tx.query(
        `insert into push_targets (deployment_id, integration_id, repository) values ($1, $2, $3)
         on conflict (deployment_id) do nothing`,
        [idOf(event.stream), integration_id, plainRepository(repo_url)],
      );
    }
  };

  /** Ids of the deployments that come from an integration. */
  async of(integrationId: string): Promise<string[]> {
    const { rows } = await this.pool.query<{ deployment_id: string }>(
      'select deployment_id from push_targets where integration_id = $1 order by deployment_id',
      [integrationId],
    );
    return rows.map(({ deployment_id }) => deployment_id);
  }
}
