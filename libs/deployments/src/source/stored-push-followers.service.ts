import { type PushFollower, PushFollowers } from '@fairlead/contracts';
import { EventStore, Followers } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { Deployment } from '../model/deployment';
import { DEPLOYMENTS_VIEW } from '../deployment/deployment.projection';
import { deploymentOf, type DeploymentRecord, unshownPart } from '../deployment/record';
import { PUSH_TARGETS_VIEW } from './push-targets.projection';

const MOST_FOLLOWERS = 1000;
/** Time for the views to see a deployment that was made before the push (ms). */
const PATIENCE_MS = 2000;

/** Reads the deployments of a repository from the views. */
@Injectable()
export class StoredPushFollowers extends PushFollowers {
  constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
    private readonly followers: Followers,
  ) {
    super();
  }

  override async of(
    tenantId: string,
    integrationId: string,
    repositories: readonly string[],
  ): Promise<readonly PushFollower[]> {
    await this.followers.passed(await this.store.head(), [PUSH_TARGETS_VIEW, DEPLOYMENTS_VIEW], PATIENCE_MS);
    const { rows } = await this.pool.query<{ document: string; unshown: string }>(
      `select document, unshown from push_targets join deployment_documents on id = deployment_id
       where integration_id = $2 and repository = any($3) and tenant_id = $1 order by id limit ${MOST_FOLLOWERS}`,
      [tenantId, integrationId, repositories],
    );
    return rows.map(({ document, unshown }) =>
      followerOf(
        deploymentOf(JSON.parse(document) as DeploymentRecord, JSON.parse(unshown) as ReturnType<typeof unshownPart>),
      ),
    );
  }
}

function followerOf(state: Deployment): PushFollower {
  const { id: deployment_id, name, source_config, source_revision_config } = state;
  return {
    deployment_id,
    name,
    repo_url: source_config.repo_url ?? '',
    repo_ref: source_revision_config.repo_ref ?? null,
    repo_commit_sha: source_revision_config.repo_commit_sha ?? null,
    skipped_commits: state.skipped_commits ?? [],
    refusal: refusalOf(state),
    paths: source_config.build_on_push_paths ?? [],
  };
}

function refusalOf({ status, revision_source, source_config, build_on_push_paused }: Deployment): string | null {
  if (status === 'AWAITING_DELETE') return 'is being deleted';
  if (build_on_push_paused) return 'builds no pushes after a roll-back, until build_on_push or repo_ref is sent again';
  if (source_config.build_on_push !== true) return 'builds no pushes: build_on_push is not true';
  return revision_source === 'codehost' ? null : `has a latest revision of the source ${revision_source}`;
}
