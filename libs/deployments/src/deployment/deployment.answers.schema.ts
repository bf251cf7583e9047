import { TONES } from '@fairlead/contracts';
import { anyJson, bool, int, list, literal, note, nullable, object, str, timestamp, uuid } from '@fairlead/schema';
import { countedPage, page } from '@fairlead/api';
import { DEPLOYMENT_TYPES, SOURCES } from '../model/deployment-events';
import { listenerConfig } from './deployment.schema';
import { gateList } from '../model/gates.schema';
import { resourceSpec } from './resource-spec.schema';

const source = literal(SOURCES);
const status = literal(['AWAITING_DATABASE', 'READY', 'UNUSED', 'AWAITING_DELETE', 'UNKNOWN']);
const revisionStatus = literal([
  ...['CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED'],
  ...['CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED', 'UNKNOWN'],
]);

const sourceConfig = object('SourceConfig', {
  integration_id: note(nullable(uuid()), 'Integration that reads the repository; null for other sources.'),
  repo_url: note(nullable(str()), 'URL of the repository; null for other sources than `codehost`.'),
  deployment_type: note(nullable(literal(DEPLOYMENT_TYPES)), 'Kind that the client chose; null when it chose none.'),
  build_on_push: note(nullable(bool()), 'Whether a push makes a revision; null, which means no, when never set.'),
  build_on_push_paths: note(
    nullable(list(str())),
    'Patterns of files of which a push must change one to be built; null, which means any file, when never set.',
  ),
  custom_url: note(
    nullable(str()),
    'Address at which users reach the deployment: the one that was given, or that of its program on the machine of the server; null when there is neither.',
  ),
  resource_spec: note(
    nullable<object>(resourceSpec),
    'Sizes and pod settings as they were given; null when none were.',
  ),
  listener_id: note(nullable(uuid()), 'Listener whose cluster runs the deployment; null without a listener.'),
  listener_config: note(nullable<object>(listenerConfig), 'Where in the cluster it runs; null when not given.'),
  install_command: note(nullable(str()), 'Shell command that installs dependencies; null when not given.'),
  build_command: note(nullable(str()), 'Shell command that builds the source; null when not given.'),
  'gates?': note(gateList, 'Gates that hold its next revisions; only with `include=gates`.'),
});

const sourceRevisionConfig = object('SourceRevisionConfig', {
  repo_ref: note(nullable(str()), 'Branch, tag or commit that was asked for; null for sources that are not built.'),
  graph_config_path: note(nullable(str()), 'Path of the graph configuration in the source; null when not given.'),
  image_uri: note(nullable(str()), 'Container image with tag or digest; null for other sources.'),
  source_tarball_path: note(nullable(str()), 'Path of the uploaded source archive; null for other sources.'),
  repo_commit_sha: note(nullable(str()), 'Commit that `repo_ref` was resolved to; null until it has been resolved.'),
});

const secret = object('StoredSecret', {
  name: note(str(), 'Environment variable that holds the secret.'),
  value: note(str(), '`********`; the value where it was asked for.'),
});
export const revealedSecret = object('RevealedSecret', {
  name: note(str(), 'Environment variable that holds the secret.'),
  value: note(str(), 'What the secret is.'),
});
const secretReference = object('StoredSecretReference', {
  name: note(str(), 'Environment variable that gets the value.'),
  secret_name: note(str(), 'Name of the Secret in the cluster.'),
  secret_key: note(str(), 'Key in that Secret.'),
});

const standingRevision = object('StandingRevision', {
  id: note(uuid(), 'Identifier of the revision.'),
  number: note(int(), 'Its place among the revisions of the deployment, from 1.'),
  status: note(revisionStatus, 'Step of its rollout.'),
  source_revision_config: note(sourceRevisionConfig, 'What it deploys.'),
});
const standing = object('DeploymentStanding', {
  text: note(str(), 'How the deployment is, such as `Live, v16` or `First build failed`.'),
  tone: note(
    literal(TONES),
    '`bad` while anything of it fails, `busy` while it changes by itself, `idle` when nothing runs on purpose, else `ok`.',
  ),
  live: note(nullable(standingRevision), 'The active revision; null until one has been deployed.'),
  latest: note(nullable(standingRevision), 'The newest revision; null before there is one.'),
});

export const deployment = object('Deployment', {
  name: note(
    str(),
    'Name of the deployment, unique in the workspace; its tracing project has the same name, unless `tracing_project` says another.',
  ),
  source: note(source, 'Where the code or image comes from.'),
  source_config: note(sourceConfig, 'Settings of the source; a change of them makes no revision.'),
  source_revision_config: note(sourceRevisionConfig, 'What the latest revision deploys.'),
  secrets: note(list(secret), 'Environment variables with secret values, masked.'),
  secret_references: note(
    nullable(list(secretReference)),
    'Environment variables from Secrets of the cluster; null when none were given.',
  ),
  'agent?': note(
    object('DeploymentAgent', {
      agent_id: note(str(), 'Identifier of the agent, chosen by the client.'),
      environment: note(str(), 'Environment in which the agent runs.'),
    }),
    'Agent that the deployment was created for; absent on others.',
  ),
  id: note(uuid(), 'Identifier of the deployment.'),
  tenant_id: note(uuid(), 'Workspace that owns the deployment.'),
  created_at: note(timestamp(), 'When the deployment was created.'),
  updated_at: note(timestamp(), 'When a client or the rollout last changed the deployment.'),
  status: note(
    status,
    '`AWAITING_DATABASE` until a revision has been deployed, then `READY`; `UNUSED` after the idle time that is configured, or while its program sleeps; `UNKNOWN` while the executor cannot be reached; `AWAITING_DELETE` until everything is removed.',
  ),
  'status_reason?': note(
    str(),
    'Why it is `UNKNOWN` or `UNUSED`, such as `Crash looping, 3 restarts, last line: …`; absent when there is nothing to say.',
  ),
  'crash_looping?': note(
    bool(),
    '`true` while it is `UNKNOWN` because all its processes end again and again, until one has run for ten minutes; absent otherwise.',
  ),
  latest_revision_id: note(nullable(uuid()), 'The newest revision; null before there is one.'),
  active_revision_id: note(nullable(uuid()), 'The revision that runs; null until one has been deployed.'),
  'executor?': note(
    str(),
    'What deployed the active revision, a value of the setting `EXECUTOR`: `record` means that it is recorded and nothing is run. Absent until a revision has been deployed.',
  ),
  'stopped?': note(bool(), '`true` while somebody has stopped what runs, until it is started again; absent otherwise.'),
  'tracing_project?': note(
    str(),
    'Name of the tracing project. Absent when it is that of the deployment: another one is taken when an experiment has that name.',
  ),
  image_version: note(nullable(str()), 'Tag of `image_uri`; null without an image, a tag, or with a digest.'),
  'standing?': note(standing, 'How it is, for people; only with `include=standing`.'),
});
export const deployments = object('DeploymentsList', {
  resources: note(list(deployment), 'The items of this page.'),
  offset: note(int(), 'The `offset` of the next page: the one of the request plus the number of items here.'),
  'total?': note(int(), 'Number of items on all pages together; only with `count=true`.'),
});

export const bulkDeletion = object('DeploymentsDeleted', {
  deleted: note(list(uuid()), 'Deployments whose deletion has begun.'),
  failed: note(
    list(
      object('DeploymentNotDeleted', {
        deployment_id: note(uuid(), 'As it was sent.'),
        detail: note(str(), 'Why it was not deleted, in one sentence.'),
      }),
    ),
    'Identifiers that are not those of a deployment of this workspace.',
  ),
});

export const tags = object('DeploymentTags', {
  tag_value_ids: note(list(uuid()), 'Tag values that lists find the deployment by.'),
});

const revisionMembers = {
  id: note(uuid(), 'Identifier of the revision.'),
  created_at: note(timestamp(), 'When the revision was made.'),
  updated_at: note(timestamp(), 'When its status last changed.'),
  status: note(
    revisionStatus,
    'Step of the rollout. `DEPLOYED`, `CREATE_FAILED`, `BUILD_FAILED`, `DEPLOY_FAILED`, `SKIPPED` (a newer revision ran instead) and `INTERRUPTED` are final.',
  ),
  source: note(source, 'Where the code or image of the revision came from.'),
  source_revision_config: note(sourceRevisionConfig, 'What the revision deploys.'),
};
export const revision = object('Revision', revisionMembers);
const push = object('RevisionPush', {
  delivery_id: note(uuid(), 'The delivery that reported the push, in the list of the integration.'),
  pusher: note(nullable(str()), 'User of the code host who pushed, as the host said; null when it did not.'),
  author: note(nullable(str()), 'Author of the commit, as the commit says; null when not known.'),
  subject: note(nullable(str()), 'First line of the message of the commit; null when not known.'),
});
const upload = object('RevisionUpload', {
  sha256: note(nullable(str()), 'SHA-256 of the archive; null when nothing was uploaded.'),
  bytes: note(nullable(int()), 'Size of the archive; null when nothing was uploaded.'),
  actor: note(
    nullable(str()),
    'Identifier of the API key that asked for the address to upload it to; null if unknown.',
  ),
  actor_name: note(nullable(str()), 'Description of that API key; null for others.'),
  issued_at: note(nullable(timestamp()), 'When it asked; null if unknown.'),
});
const causes = {
  'number?': note(int(), 'Place of the revision among those of the deployment, from 1; only with `include=cause`.'),
  'reason?': note(nullable(str()), 'The header `x-reason` of the request that made it; null when it was not sent.'),
  'actor?': note(nullable(str()), 'Identifier of the API key that made it, or `system:` and a service; else null.'),
  'actor_name?': note(nullable(str()), 'Description of that API key; null for others.'),
  'redeployed_from?': note(nullable(uuid()), 'The revision that it repeats; null when it repeats none.'),
  'push?': note(nullable(push), 'The push that it was made for; null for others.'),
  'upload?': note(nullable(upload), 'Its uploaded source; null for others.'),
  'executor?': note(
    nullable(str()),
    'What deployed it, a value of the setting `EXECUTOR`; null before that, and for revisions of earlier versions.',
  ),
  'activated_at?': note(nullable(timestamp()), 'When it began to run; null when it has not run.'),
  'ended_at?': note(
    nullable(timestamp()),
    'When another one began to run instead, or when its rollout ended without it running; null before that.',
  ),
  'healthy_seconds?': note(
    nullable(int()),
    'Longest time that it ran while the deployment was neither `UNKNOWN` nor stopped (s); null when it has not run.',
  ),
};
export const revisions = page('RevisionsList', object('ListedRevision', { ...revisionMembers, ...causes }));

const change = object('Change', {
  member: note(str(), 'Path of the member, such as `source_config.resource_spec.cpu`.'),
  before: note(anyJson(), 'Value before the change; null where there was none. Secrets are shown as digests.'),
  after: note(anyJson(), 'Value after the change; null where it was removed. Secrets are shown as digests.'),
});
export const plan = object('DeploymentPlan', {
  changes: note(
    list(change),
    'Members that the write would change; identifiers of revisions are left out. A secret value that is not stored yet is shown as `new value`.',
  ),
  creates_revision: note(bool(), 'Whether the write would make a revision.'),
  pauses_push: note(bool(), 'Whether pushes would no longer make revisions, as after a roll-back.'),
  'skips_commit?': note(str(), 'Commit of which pushes would make no revisions, while those of others would.'),
  etag: note(
    nullable(str()),
    'The `ETag` that the plan starts from: sent as `If-Match`, the write is refused after changes by others. Null for a new deployment.',
  ),
  'warnings?': note(
    list(str()),
    'What to know before a roll-back, such as secrets that it sets back; absent when empty.',
  ),
});
export const revisionDiff = object('RevisionDiff', {
  from: note(uuid(), 'The revision whose values are in `before`.'),
  to: note(uuid(), 'The revision whose values are in `after`.'),
  changes: note(list(change), 'Members in which the two differ.'),
});

export const history = countedPage(
  'DeploymentHistory',
  object('HistoryEntry', {
    version: note(int(), 'Number of events of the deployment up to this one; `?version=` takes it.'),
    type: note(str(), 'Type of the event, such as `DeploymentPatched`.'),
    time: note(timestamp(), 'When it happened.'),
    actor: note(
      nullable(str()),
      'Identifier of an API key, or `system:` and the name of a service; null where it was not recorded.',
    ),
    actor_name: note(nullable(str()), 'Description of the API key; null for others.'),
    request_id: note(nullable(str()), 'The `x-request-id` of the request; null when no request caused it.'),
    reason: note(nullable(str()), 'The header `x-reason` of the request; null when it was not sent.'),
    changes: note(list(change), 'Members that it changed.'),
    'push?': note(push, 'The push that a revision was made for; only in entries of these.'),
    'secrets_read?': note(list(str()), 'Names of the secrets whose values were read; only in entries of readings.'),
    'command?': note(
      object('HistoryCommand', {
        id: note(uuid(), 'Identifier of the command: its start and its end have the same.'),
        'revision_id?': note(uuid(), 'The revision whose files and variables it had; only at its start.'),
        'words?': note(list(str()), 'Its words, in which values of secrets are `[redacted]`; only at its start.'),
        'exit_code?': note(nullable(int()), 'Null when it did not end by itself; only at its end.'),
        'reason?': note(
          nullable(str()),
          'Why it was not started or was ended; null when its exit code says all; only at its end.',
        ),
        'duration_ms?': note(int(), 'How long it took; only at its end.'),
      }),
      'The command that was started or has ended; only in entries of commands.',
    ),
  }),
);

export const uploadUrl = object('UploadUrl', {
  upload_url: note(str(), 'Address to PUT a gzip tarball of at most 200 MiB to, without a key; valid for one hour.'),
  object_path: note(str(), 'Value for `source_tarball_path` once the archive has been uploaded.'),
});
export const pushToken = object('PushToken', {
  token: note(str(), 'Password for the registry: the setting `REGISTRY_TOKEN`.'),
  registry_url: note(str(), 'Registry to push the image to: the setting `REGISTRY_URL`.'),
});
