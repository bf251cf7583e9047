import { shape } from '@fairlead/api';
import { DEPLOYMENT_TYPES, SOURCES } from './deployment-events';
import { listenerConfig } from './deployment.schema';
import { resourceSpec } from '../revision/resource-spec.schema';

const { any, boolean, integer, list, noted, nullable, object, oneOf, page, text, time, uuid } = shape;

const source = oneOf(...SOURCES);
const status = oneOf('AWAITING_DATABASE', 'READY', 'UNUSED', 'AWAITING_DELETE', 'UNKNOWN');
const revisionStatus = oneOf(
  ...['CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED'],
  ...['CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED', 'UNKNOWN'],
);

const sourceConfig = object('SourceConfig', {
  integration_id: noted(nullable(uuid), 'Integration that reads the repository; null for other sources.'),
  repo_url: noted(nullable(text), 'URL of the repository; null for other sources than `codehost`.'),
  deployment_type: noted(nullable(oneOf(...DEPLOYMENT_TYPES)), 'Kind that the client chose; null when it chose none.'),
  build_on_push: noted(nullable(boolean), 'Whether a push makes a revision; null, which means no, when never set.'),
  build_on_push_paths: noted(
    nullable(list(text)),
    'Patterns of files of which a push must change one to be built; null, which means any file, when never set.',
  ),
  custom_url: noted(
    nullable(text),
    'Address at which users reach the deployment: the one that was given, or that of its program on the machine of the server; null when there is neither.',
  ),
  resource_spec: noted(nullable(resourceSpec.json), 'Sizes and pod settings as they were given; null when none were.'),
  listener_id: noted(nullable(uuid), 'Listener whose cluster runs the deployment; null without a listener.'),
  listener_config: noted(nullable(listenerConfig.json), 'Where in the cluster it runs; null when not given.'),
  install_command: noted(nullable(text), 'Shell command that installs dependencies; null when not given.'),
  build_command: noted(nullable(text), 'Shell command that builds the source; null when not given.'),
});

const sourceRevisionConfig = object('SourceRevisionConfig', {
  repo_ref: noted(nullable(text), 'Branch, tag or commit that was asked for; null for sources that are not built.'),
  graph_config_path: noted(nullable(text), 'Path of the graph configuration in the source; null when not given.'),
  image_uri: noted(nullable(text), 'Container image with tag or digest; null for other sources.'),
  source_tarball_path: noted(nullable(text), 'Path of the uploaded source archive; null for other sources.'),
  repo_commit_sha: noted(nullable(text), 'Commit that `repo_ref` was resolved to; null until it has been resolved.'),
});

const secret = object('StoredSecret', {
  name: noted(text, 'Environment variable that holds the secret.'),
  value: noted(text, '`********`; the value where it was asked for.'),
});
export const revealedSecret = object('RevealedSecret', {
  name: noted(text, 'Environment variable that holds the secret.'),
  value: noted(text, 'What the secret is.'),
});
const secretReference = object('StoredSecretReference', {
  name: noted(text, 'Environment variable that gets the value.'),
  secret_name: noted(text, 'Name of the Secret in the cluster.'),
  secret_key: noted(text, 'Key in that Secret.'),
});

export const deployment = object('Deployment', {
  name: noted(
    text,
    'Name of the deployment, unique in the workspace; its tracing project has the same name, unless `tracing_project` says another.',
  ),
  source: noted(source, 'Where the code or image comes from.'),
  source_config: noted(sourceConfig, 'Settings of the source; a change of them makes no revision.'),
  source_revision_config: noted(sourceRevisionConfig, 'What the latest revision deploys.'),
  secrets: noted(list(secret), 'Environment variables with secret values, masked.'),
  secret_references: noted(
    nullable(list(secretReference)),
    'Environment variables from Secrets of the cluster; null when none were given.',
  ),
  'agent?': noted(
    object('DeploymentAgent', {
      agent_id: noted(text, 'Identifier of the agent, chosen by the client.'),
      environment: noted(text, 'Environment in which the agent runs.'),
    }),
    'Agent that the deployment was created for; absent on others.',
  ),
  id: noted(uuid, 'Identifier of the deployment.'),
  tenant_id: noted(uuid, 'Workspace that owns the deployment.'),
  created_at: noted(time, 'When the deployment was created.'),
  updated_at: noted(time, 'When a client or the rollout last changed the deployment.'),
  status: noted(
    status,
    '`AWAITING_DATABASE` until a revision has been deployed, then `READY`; `UNUSED` after the idle time that is configured, or while its program sleeps; `UNKNOWN` while the executor cannot be reached; `AWAITING_DELETE` until everything is removed.',
  ),
  'status_reason?': noted(
    text,
    'Why it is `UNKNOWN` or `UNUSED`, such as `Crash looping, 3 restarts, last line: …`; absent when there is nothing to say.',
  ),
  'crash_looping?': noted(
    boolean,
    '`true` while it is `UNKNOWN` because all its processes end again and again; absent otherwise.',
  ),
  latest_revision_id: noted(nullable(uuid), 'The newest revision; null before there is one.'),
  active_revision_id: noted(nullable(uuid), 'The revision that runs; null until one has been deployed.'),
  'executor?': noted(
    text,
    'What deployed the active revision, a value of the setting `EXECUTOR`: `record` means that it is recorded and nothing is run. Absent until a revision has been deployed.',
  ),
  'stopped?': noted(
    boolean,
    '`true` while somebody has stopped what runs, until it is started again; absent otherwise.',
  ),
  'tracing_project?': noted(
    text,
    'Name of the tracing project. Absent when it is that of the deployment: another one is taken when an experiment has that name.',
  ),
  image_version: noted(nullable(text), 'Tag of `image_uri`; null without an image, a tag, or with a digest.'),
});
export const deployments = object('DeploymentsList', {
  resources: noted(list(deployment), 'The items of this page.'),
  offset: noted(integer, 'The `offset` of the next page: the one of the request plus the number of items here.'),
  'total?': noted(integer, 'Number of items on all pages together; only with `count=true`.'),
});

export const bulkDeletion = object('DeploymentsDeleted', {
  deleted: noted(list(uuid), 'Deployments whose deletion has begun.'),
  failed: noted(
    list(
      object('DeploymentNotDeleted', {
        deployment_id: noted(uuid, 'As it was sent.'),
        detail: noted(text, 'Why it was not deleted, in one sentence.'),
      }),
    ),
    'Identifiers that are not those of a deployment of this workspace.',
  ),
});

export const tags = object('DeploymentTags', {
  tag_value_ids: noted(list(uuid), 'Tag values that lists find the deployment by.'),
});

const revisionMembers = {
  id: noted(uuid, 'Identifier of the revision.'),
  created_at: noted(time, 'When the revision was made.'),
  updated_at: noted(time, 'When its status last changed.'),
  status: noted(
    revisionStatus,
    'Step of the rollout. `DEPLOYED`, `CREATE_FAILED`, `BUILD_FAILED`, `DEPLOY_FAILED`, `SKIPPED` (a newer revision ran instead) and `INTERRUPTED` are final.',
  ),
  source: noted(source, 'Where the code or image of the revision came from.'),
  source_revision_config: noted(sourceRevisionConfig, 'What the revision deploys.'),
};
export const revision = object('Revision', revisionMembers);
const push = object('RevisionPush', {
  delivery_id: noted(uuid, 'The delivery that reported the push, in the list of the integration.'),
  pusher: noted(nullable(text), 'User of the code host who pushed, as the host said; null when it did not.'),
  author: noted(nullable(text), 'Author of the commit, as the commit says; null when not known.'),
  subject: noted(nullable(text), 'First line of the message of the commit; null when not known.'),
});
const causes = {
  'number?': noted(integer, 'Place of the revision among those of the deployment, from 1; only with `include=cause`.'),
  'reason?': noted(nullable(text), 'The header `x-reason` of the request that made it; null when it was not sent.'),
  'actor?': noted(nullable(text), 'Identifier of the API key that made it, or `system:` and a service; else null.'),
  'actor_name?': noted(nullable(text), 'Description of that API key; null for others.'),
  'redeployed_from?': noted(nullable(uuid), 'The revision that it repeats; null when it repeats none.'),
  'push?': noted(nullable(push), 'The push that it was made for; null for others.'),
  'executor?': noted(
    nullable(text),
    'What deployed it, a value of the setting `EXECUTOR`; null before that, and for revisions of earlier versions.',
  ),
  'activated_at?': noted(nullable(time), 'When it began to run; null when it has not run.'),
  'ended_at?': noted(
    nullable(time),
    'When another one began to run instead, or when its rollout ended without it running; null before that.',
  ),
};
export const revisions = page('RevisionsList', object('ListedRevision', { ...revisionMembers, ...causes }));

const change = object('Change', {
  member: noted(text, 'Path of the member, such as `source_config.resource_spec.cpu`.'),
  before: noted(any, 'Value before the change; null where there was none. Secrets are shown as digests.'),
  after: noted(any, 'Value after the change; null where it was removed. Secrets are shown as digests.'),
});
export const plan = object('DeploymentPlan', {
  changes: noted(
    list(change),
    'Members that the write would change; identifiers of revisions are left out. A secret value that is not stored yet is shown as `new value`.',
  ),
  creates_revision: noted(boolean, 'Whether the write would make a revision.'),
  pauses_push: noted(boolean, 'Whether pushes would no longer make revisions, as after a roll-back.'),
  etag: noted(
    nullable(text),
    'The `ETag` that the plan starts from: sent as `If-Match`, the write is refused after changes by others. Null for a new deployment.',
  ),
  'warnings?': noted(
    list(text),
    'What to know before a roll-back, such as secrets that it sets back; absent when empty.',
  ),
});
export const revisionDiff = object('RevisionDiff', {
  from: noted(uuid, 'The revision whose values are in `before`.'),
  to: noted(uuid, 'The revision whose values are in `after`.'),
  changes: noted(list(change), 'Members in which the two differ.'),
});

export const history = shape.countedPage(
  'DeploymentHistory',
  object('HistoryEntry', {
    version: noted(integer, 'Number of events of the deployment up to this one; `?version=` takes it.'),
    type: noted(text, 'Type of the event, such as `DeploymentPatched`.'),
    time: noted(time, 'When it happened.'),
    actor: noted(
      nullable(text),
      'Identifier of an API key, or `system:` and the name of a service; null where it was not recorded.',
    ),
    actor_name: noted(nullable(text), 'Description of the API key; null for others.'),
    request_id: noted(nullable(text), 'The `x-request-id` of the request; null when no request caused it.'),
    reason: noted(nullable(text), 'The header `x-reason` of the request; null when it was not sent.'),
    changes: noted(list(change), 'Members that it changed.'),
    'push?': noted(push, 'The push that a revision was made for; only in entries of these.'),
    'secrets_read?': noted(list(text), 'Names of the secrets whose values were read; only in entries of readings.'),
    'command?': noted(
      object('HistoryCommand', {
        id: noted(uuid, 'Identifier of the command: its start and its end have the same.'),
        'revision_id?': noted(uuid, 'The revision whose files and variables it had; only at its start.'),
        'words?': noted(list(text), 'Its words, in which values of secrets are `[redacted]`; only at its start.'),
        'exit_code?': noted(nullable(integer), 'Null when it did not end by itself; only at its end.'),
        'reason?': noted(
          nullable(text),
          'Why it was not started or was ended; null when its exit code says all; only at its end.',
        ),
        'duration_ms?': noted(integer, 'How long it took; only at its end.'),
      }),
      'The command that was started or has ended; only in entries of commands.',
    ),
  }),
);

export const uploadUrl = object('UploadUrl', {
  upload_url: noted(text, 'Address to PUT a gzip tarball of at most 200 MiB to, without a key; valid for one hour.'),
  object_path: noted(text, 'Value for `source_tarball_path` once the archive has been uploaded.'),
});
export const pushToken = object('PushToken', {
  token: noted(text, 'Password for the registry: the setting `REGISTRY_TOKEN`.'),
  registry_url: noted(text, 'Registry to push the image to: the setting `REGISTRY_URL`.'),
});
