import { shape } from '@fairlead/api';
import { SOURCES } from './deployment-events';
import { deploymentTypes, listenerConfig } from './deployment.schema';
import { resourceSpec } from '../revision/resource-spec.schema';

const { any, boolean, integer, list, noted, nullable, object, oneOf, page, text, time, uuid } = shape;

const source = oneOf(...SOURCES);
const status = oneOf('AWAITING_DATABASE', 'READY', 'UNUSED', 'AWAITING_DELETE', 'UNKNOWN');
const revisionStatus = oneOf(
  ...['CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED'],
  ...['CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED', 'UNKNOWN'],
);

const sourceConfig = object('SourceConfig', {
  integration_id: nullable(uuid),
  repo_url: nullable(text),
  deployment_type: nullable(oneOf(...deploymentTypes)),
  build_on_push: nullable(boolean),
  custom_url: nullable(text),
  resource_spec: nullable(resourceSpec.json),
  listener_id: nullable(uuid),
  listener_config: nullable(listenerConfig.json),
  install_command: nullable(text),
  build_command: nullable(text),
});

const sourceRevisionConfig = object('SourceRevisionConfig', {
  repo_ref: nullable(text),
  graph_config_path: nullable(text),
  image_uri: nullable(text),
  source_tarball_path: nullable(text),
  repo_commit_sha: nullable(text),
});

const secret = object('StoredSecret', {
  name: text,
  value: noted(text, '`********`, or the value for a key with the scope `secrets:read`.'),
});
const secretReference = object('StoredSecretReference', { name: text, secret_name: text, secret_key: text });

export const deployment = object('Deployment', {
  name: text,
  source,
  source_config: sourceConfig,
  source_revision_config: noted(sourceRevisionConfig, 'Of the latest revision.'),
  secrets: list(secret),
  secret_references: nullable(list(secretReference)),
  'agent?': noted(
    object('DeploymentAgent', { agent_id: text, environment: text }),
    'Only of a deployment that was created for one.',
  ),
  id: uuid,
  tenant_id: uuid,
  created_at: time,
  updated_at: time,
  status,
  latest_revision_id: nullable(uuid),
  active_revision_id: noted(nullable(uuid), 'The one that runs.'),
  image_version: noted(nullable(text), 'The tag of `image_uri`.'),
});
export const deployments = page('DeploymentsList', deployment);

export const bulkDeletion = object('DeploymentsDeleted', {
  deleted: list(uuid),
  failed: list(object('DeploymentNotDeleted', { deployment_id: uuid, detail: text })),
});

export const tags = object('DeploymentTags', { tag_value_ids: list(uuid) });

export const revision = object('Revision', {
  id: uuid,
  created_at: time,
  updated_at: time,
  status: revisionStatus,
  source,
  source_revision_config: sourceRevisionConfig,
});
export const revisions = page('RevisionsList', revision);

const change = object('Change', {
  member: text,
  before: noted(any, 'Null where there was none; secrets as digests.'),
  after: any,
});
export const revisionDiff = object('RevisionDiff', { from: uuid, to: uuid, changes: list(change) });

export const history = page(
  'DeploymentHistory',
  object('HistoryEntry', {
    version: noted(integer, 'Of the deployment after it.'),
    type: text,
    time,
    actor: noted(nullable(text), 'Id of an API key, or `system:` and the name of a service.'),
    actor_name: noted(nullable(text), 'Description of the API key.'),
    request_id: nullable(text),
    reason: nullable(text),
    changes: list(change),
    'secrets_read?': list(text),
  }),
);

export const uploadUrl = object('UploadUrl', {
  upload_url: noted(text, 'PUT the gzip tarball there; it needs no key.'),
  object_path: noted(text, 'What `source_tarball_path` takes then.'),
});
export const pushToken = object('PushToken', { token: text, registry_url: text });
