/** What a request did, in the words of audit logs: `create_deployment`. */
export type Operation = string;

/** Names that clients of the platform know; every other type is told by its own words, object last. */
export const KNOWN: Readonly<Record<string, Operation>> = {
  DeploymentCreated: 'create_deployment',
  DeploymentPatched: 'update_deployment',
  DeploymentTagged: 'update_deployment',
  DeploymentProvisioned: 'update_deployment',
  DeploymentStatusReported: 'update_deployment',
  HostStatusReported: 'update_deployment',
  RevisionCreated: 'update_deployment',
  RevisionActivated: 'update_revision',
  CommitResolved: 'update_revision',
  RolloutStatusReported: 'update_revision',
  DeploymentDeletionRequested: 'delete_deployment',
  ApiKeyCreated: 'create_api_key',
  ApiKeyRevoked: 'delete_api_key',
  TenantCreated: 'create_workspace',
  TenantSuspended: 'suspend_workspace',
  TenantResumed: 'resume_workspace',
  TenantRemovalRequested: 'delete_workspace',
  ExperimentUploaded: 'create_experiment_via_upload',
  DatasetCreated: 'create_dataset',
  DatasetDeleted: 'delete_dataset',
  DatasetTagged: 'update_dataset_version',
  SplitsChanged: 'update_dataset_splits',
  ComparativeExperimentCreated: 'create_comparative_experiment',
  ComparativeExperimentDeleted: 'delete_comparative_experiment',
  SessionPatched: 'update_tracer_session',
  RunsPersisted: 'update_tracer_session',
  SessionDeleted: 'delete_tracer_session',
  OAuthProviderAdded: 'register_mcp_server_oauth',
  SecretsRead: 'read_secrets',
  FeedbackAwaited: 'create_feedback',
};

const VERBS: ReadonlyMap<string, string> = new Map([
  ['created', 'create'],
  ['added', 'create'],
  ['registered', 'create'],
  ['issued', 'create'],
  ['received', 'create'],
  ['changed', 'update'],
  ['patched', 'update'],
  ['renamed', 'update'],
  ['removed', 'delete'],
  ['deleted', 'delete'],
  ['revoked', 'delete'],
  ['read', 'read'],
]);

/** The operation behind an event type: `FeedbackAdded` is `create_feedback`. */
export function operationOf(type: string): Operation {
  const known = Object.hasOwn(KNOWN, type) ? KNOWN[type] : undefined;
  if (known !== undefined) return known;
  const words = type
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
    .split('_');
  const verb = VERBS.get(words.at(-1) ?? '');
  return verb === undefined ? words.join('_') : [verb, ...words.slice(0, -1)].join('_');
}

/** The activity of OCSF's class API Activity (6003): 1 create, 2 read, 3 update, 4 delete, 99 other. */
export function activityOf(operation: Operation): { id: 1 | 2 | 3 | 4 | 99; name: string } {
  const verb = operation.split('_', 1)[0];
  if (verb === 'create' || verb === 'register') return { id: 1, name: 'Create' };
  if (verb === 'read') return { id: 2, name: 'Read' };
  if (verb === 'update') return { id: 3, name: 'Update' };
  if (verb === 'delete') return { id: 4, name: 'Delete' };
  return { id: 99, name: 'Other' };
}
