import { UniqueIndexes, WorkspaceColumns } from '@fairlead/postgres';

/**
 * Keys that begin with the workspace. The earlier ones stay beside them for services of the version before, which name
 * those in `on conflict`.
 */
export class WorkspaceKeys1764900062000 extends UniqueIndexes {
  override readonly arePrimary = true;
  readonly indexes = {
    sessions_workspace_key: 'sessions (tenant_id, id)',
    datasets_workspace_key: 'datasets (tenant_id, id)',
    examples_workspace_key: 'examples (tenant_id, id, dataset_id, valid_from)',
    comparative_experiments_workspace_key: 'comparative_experiments (tenant_id, id)',
    session_run_bytes_workspace_key: 'session_run_bytes (tenant_id, session_id)',
    payloads_workspace_key: 'payloads (tenant_id, id)',
    shares_workspace_key: 'shares (tenant_id, id)',
    share_links_workspace_key: 'share_links (tenant_id, id)',
  };
}

/** Parts of bodies and datasets, and notes on stored experiments, name the workspace of what they belong to. */
export class WorkspacesOfParts1764900062200 extends WorkspaceColumns {
  readonly owners = {
    dataset_versions: ['dataset_id', 'datasets'],
    dataset_tags: ['dataset_id', 'datasets'],
    persisted_experiments: ['session_id', 'sessions'],
    payload_chunks: ['payload_id', 'payloads'],
  } as const;
}
