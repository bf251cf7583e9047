import { paging } from '@fairlead/api';
import {
  bool,
  csv,
  datetime,
  fixed,
  int,
  list,
  literal,
  note,
  object,
  optional,
  refine,
  type Schema,
  secret,
  str,
  uuid,
  webUrl,
} from '@fairlead/schema';
import { DEPLOYMENT_TYPES, type DeploymentType, SOURCES } from '../model/deployment-events';
import { resourceSpec } from './resource-spec.schema';
import { gateList } from '../model/gates.schema';
import { both, source } from '../model/spelling.schema';

const text = optional(str());
/** Characters of a deployment's name. */
export const LONGEST_NAME = 255;
const MOST_IDS = 100;
const MOST_TAGS = 1000;
const MOST_TYPES = 100;
/** Secrets of a deployment, and references to secrets. */
const MOST_SECRETS = 1000;
/** Characters of a reason, as of the header `x-reason`. */
const MOST_REASON = 1000;

export const listenerConfig = object(
  'ListenerConfig',
  both({
    cluster_namespace: note(
      text,
      "Namespace of the cluster that the deployment runs in, one of the listener's where there is a listener; null: the executor's own. Fixed at creation.",
    ),
  }),
);

/** Answers and events show it, so that it holds no password. */
const address = refine(webUrl(), (text) => {
  const { username, password } = new URL(text);
  return username || password ? 'the address must not hold credentials' : undefined;
});
const customUrl: Schema<string> = {
  ...address,
  parse: (input, context) => (input === '' ? input : address.parse(input, context)),
};

const sourceConfig = object(
  'SourceConfigRequest',
  both({
    integration_id: note(
      optional(uuid()),
      'Integration of the workspace that reads the repository: `host_integration_id` of a repository record. Only for `codehost`, and required there; fixed at creation.',
    ),
    repo_url: note(
      optional(webUrl()),
      'URL of the repository: `url` of a repository record. Only for `codehost`, and required there; fixed at creation.',
    ),
    deployment_type: note(
      optional(literal(DEPLOYMENT_TYPES)),
      'Kind of deployment that the client chose; kept and filtered by, without effect on resources. Fixed at creation.',
    ),
    build_on_push: note(
      optional(bool()),
      'True: each push to the branch in `repo_ref` makes a revision. Only for `codehost`, and not when `repo_ref` is a tag.',
    ),
    build_on_push_paths: note(
      optional(list(str({ min: 1, max: 200 }), { max: 20 })),
      'Patterns of files: a push is built only if it changes a file that they choose, as in path filters of the CI of the code host. `[]` chooses all files. Only for `codehost`.',
    ),
    custom_url: note(
      optional(customUrl),
      'Address at which users reach the deployment: http or https; empty for none. Stored and answered, never called.',
    ),
    resource_spec: note(optional(resourceSpec), 'Sizes and pod settings; a PATCH changes the members that it sends.'),
    listener_id: note(
      optional(uuid()),
      'Listener of the workspace whose cluster runs the deployment. Only for `external_container`; fixed at creation.',
    ),
    listener_config: note(
      optional(listenerConfig),
      'Where in the cluster of the listener the deployment runs. Only for `external_container`.',
    ),
    install_command: note(
      text,
      'Shell command that installs dependencies: the executor `local` runs it in the place of its own, and `command` passes it to the build; empty for none.',
    ),
    build_command: note(
      text,
      'Shell command that builds the source: the executor `local` runs it in the place of the script `build`, and `command` passes it to the build; empty for none.',
    ),
    gates: note(
      optional(gateList),
      'All gates of the deployment, as `PUT …/gates` takes them; `[]` removes all. They hold a revision that the same request makes. Answered only with `include=gates`. In a PATCH, changing or removing one takes the scope `admin` and a reason in `x-reason`.',
    ),
  }),
);

const sourceRevisionConfig = object(
  'SourceRevisionConfigRequest',
  both({
    repo_ref: note(
      text,
      'Branch, tag or commit to deploy, such as `main` or `refs/tags/v1`. Only for sources that are built; not empty.',
    ),
    graph_config_path: note(
      text,
      'Path of the graph configuration in the source, such as `langgraph.json`. Only for sources that are built.',
    ),
    image_uri: note(
      text,
      'Reference to a container image, `[host[:port]/]path[:tag][@digest]`. Only for `external_container` and `internal_container`.',
    ),
    source_tarball_path: note(
      text,
      'The `object_path` that `upload-url` answered for this deployment. Only for `internal_source`.',
    ),
  }),
);

const SECRET_NAME =
  'Environment variable: letters, digits and `_`, no digit first; unique among `secrets` and `secret_references`. `PORT`, `DATABASE_URI`, `POSTGRES_URI`, `REDIS_URI` and names that begin with `FAIRLEAD_` are reserved.';
const secrets = list(
  object('Secret', {
    name: note(str(), SECRET_NAME),
    value: note(secret(str()), 'Value of the variable; in a PATCH `********` keeps the stored value.'),
  }),
  { max: MOST_SECRETS },
);
const secretReferences = list(
  object('SecretReference', {
    name: note(str(), SECRET_NAME),
    secret_name: note(str({ min: 1 }), 'Name of a Secret that exists in the cluster.'),
    secret_key: note(str({ min: 1 }), 'Key in the Secret of the cluster whose value the variable gets.'),
  }),
  { max: MOST_SECRETS },
);

const agentWord = str({ min: 1, max: LONGEST_NAME });
const agent = object('DeploymentAgentRequest', {
  agent_id: note(agentWord, 'Identifier of the agent, chosen by the client.'),
  environment: note(agentWord, 'Environment in which the agent runs, such as `production`.'),
});
const created = {
  source: note(
    source(SOURCES),
    'Where the code or image comes from; fixed at creation. The setting `HOSTING` can exclude sources. `internal_template` is for templates of the operator, which the executor `command` knows.',
  ),
  source_config: note(sourceConfig, 'Settings of the source; changing them makes no revision.'),
  source_revision_config: note(
    sourceRevisionConfig,
    'What to deploy; `{}` for `internal_source` and `internal_container` until something has been uploaded.',
  ),
  secrets: note(secrets, 'Environment variables with secret values, sealed at rest; `[]` for none.'),
  secret_references: note(
    optional(secretReferences),
    'Environment variables from Secrets that exist in the cluster. Only for `external_container`.',
  ),
  agent: note(
    optional(agent),
    'Agent for which the deployment is created: a workspace has at most one deployment per agent and environment.',
  ),
};
const NAME =
  'Name of the deployment, unique in the workspace; its tracing project gets the same name. Fixed at creation.';
const name = str({ min: 1, max: LONGEST_NAME });
const ofAgent = object('DeploymentCreateRequest', {
  name: note(optional(name), `${NAME} May be left out where \`agent\` is sent; then it is made of it.`),
  ...created,
});
const named = object('DeploymentCreateRequest', { name, ...created });

/** Body of POST /v2/deployments: `name` may be left out where `agent` is sent. */
export const createRequest: typeof ofAgent = {
  ...ofAgent,
  parse: (input, context) =>
    hasAgent(input) ? ofAgent.parse(input, context) : (named as typeof ofAgent).parse(input, context),
};

function hasAgent(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'agent' in input && input.agent !== null;
}

/** Body of PATCH. */
export const patchRequest = object('DeploymentPatchRequest', {
  revision_source: note(
    optional(source(['codehost', 'internal_container', 'internal_source'])),
    'Source of this revision instead of the source of the deployment, which is the default. The revision must have something to run.',
  ),
  source_config: note(
    optional(sourceConfig),
    'Settings of the source to change; members that are absent or null stay. Makes no revision.',
  ),
  source_revision_config: note(
    optional(sourceRevisionConfig),
    'What to deploy; members that are absent or null stay. A different value makes a revision.',
  ),
  secrets: note(optional(secrets), 'Replaces the whole list; `[]` removes all. Different secrets make a revision.'),
  secret_references: note(
    optional(secretReferences),
    'Replaces the whole list; different references make a revision. Only for `external_container`.',
  ),
  name: fixed(str()),
  source: fixed(source(SOURCES)),
  agent: fixed(agent),
});

export const tagsRequest = object('TagsRequest', {
  tag_value_ids: note(
    list(uuid(), { max: MOST_TAGS }),
    'Replaces the identifiers of tag values that lists are filtered by; `[]` removes all.',
  ),
});

const deployment_id = note(uuid(), 'The `id` of a deployment of this workspace.');
const revision_id = note(uuid(), 'The `id` of a revision of the deployment.');
export const deploymentPath = object({ deployment_id });
export const revisionPath = object({ deployment_id, revision_id });
export const secretPath = object({
  deployment_id,
  secret_name: note(str(), 'The `name` of a secret of the deployment.'),
});
export const revealRequest = object('SecretRevealRequest', {
  reason: note(str({ min: 1, max: MOST_REASON }), 'Why the value is read, for the history.'),
});
export const diffPath = object({
  deployment_id,
  revision_id,
  other_id: note(uuid(), 'The revision that the first one is compared with.'),
});

const include = optional(
  note(
    csv(literal(['standing', 'gates'])),
    '`standing`: answers as well how the deployment is in one sentence, with its active and its newest revision. `gates`: answers as well `gates` in `source_config`. Separated by commas, or repeated.',
  ),
);

export const listQuery = object({
  ...paging,
  name: optional(note(str(), 'Only the deployment of exactly this name.')),
  name_contains: optional(
    note(str(), 'Only deployments whose name contains this text, in upper or lower case; an exact match comes first.'),
  ),
  agent_id: optional(note(str(), 'Only deployments that were created for this agent.')),
  agent_environment: optional(note(str(), 'Only deployments that were created for an agent in this environment.')),
  status: note(text, 'Only deployments in this status; an unknown status finds none.'),
  remote_reconciled: note(optional(bool()), 'True: only deployments with a listener. False: only those without.'),
  tag_value_ids: optional(
    note(csv(uuid()), 'Only deployments with at least one of these tag values; separated by commas, or repeated.'),
  ),
  image_version: note(text, 'Only deployments whose image has exactly this tag.'),
  // The message names what the specification has.
  deployment_type: note(
    optional(literal<DeploymentType>(['dev_free', 'dev', 'prod'], { aliases: { dev_zero: 'dev_zero' } })),
    'Only deployments of this kind.',
  ),
  deployment_ids: optional(note(csv(uuid()), 'Only these deployments; separated by commas, or repeated.')),
  count: optional(
    note(bool(), 'True: the answer has `total`, the number of deployments on all pages together.'),
    false,
  ),
  include,
});

/** The point of the past to answer with, a time or a version of the deployment; or the values of its secrets. */
export const findQuery = object({
  at: optional(note(datetime(), 'Answers the deployment as it was at this time; not together with `version`.')),
  version: optional(
    note(int({ ge: 1 }), 'Answers the deployment as it was after so many events, counted as `version` in its history.'),
  ),
  include_secrets: optional(
    note(
      bool(),
      'True: answers the values of the secrets, for which the key needs the scope `secrets:read`, and records that they were read.',
    ),
    false,
  ),
  include,
});
const triedOrPlanned: Schema<boolean | 'plan'> = {
  ...bool(),
  json: { anyOf: [bool().json, literal(['plan']).json] },
  parse: (input, context) => (input === 'plan' ? input : bool().parse(input, context)),
};
const dry_run = optional(
  note(
    triedOrPlanned,
    'True: answers what the write would answer, with `x-dry-run: true`. `plan`: answers what the write would change. Nothing is written.',
  ),
  false,
);
export const dryRunQuery = object({ dry_run });
export const redeployQuery = object({
  dry_run,
  keep_secrets: optional(
    note(
      bool(),
      'True: the new revision runs with the present `secrets` and `secret_references` instead of those of the earlier one.',
    ),
    false,
  ),
  skip_commit: optional(
    note(
      bool(),
      'True: only the commit of the latest revision is not built by pushes; the next one is. False: a roll-back sets `build_on_push` to false.',
    ),
    false,
  ),
});
const deleteTracingProject = optional(
  note(bool(), 'True: deletes the tracing project of the same name with its runs as well.'),
  false,
);
export const deleteQuery = object({ delete_tracing_project: deleteTracingProject, dry_run });
export const bulkDeleteQuery = object({
  deployment_ids: note(csv(uuid(), { max: MOST_IDS }), 'The deployments to delete; separated by commas, or repeated.'),
  delete_tracing_project: deleteTracingProject,
  dry_run: optional(
    note(bool(), 'True: answers what the deletion would answer, with `x-dry-run: true`, and deletes nothing.'),
    false,
  ),
});
export const revisionsQuery = object({
  ...paging,
  status: note(optional(csv(str())), 'Only revisions in one of these statuses; separated by commas, or repeated.'),
  include: note(optional(literal(['cause'])), '`cause`: answers as well who made each revision, why, and when it ran.'),
});
export const historyQuery = object({
  ...paging,
  order: optional(
    note(literal(['asc', 'desc']), '`desc`: the newest entries first. `asc`: the oldest first.'),
    'desc' as const,
  ),
  types: optional(
    note(
      csv(str(), { max: MOST_TYPES }),
      'Only entries of these types, such as `DeploymentPatched`; separated by commas, or repeated.',
    ),
  ),
  after: optional(
    note(
      int({ ge: 0 }),
      'Only entries after the event that made this version of the deployment; 0, like absent, leaves out none.',
    ),
  ),
});
export const waitQuery = object({
  timeout: optional(
    note(
      int({ ge: 0, le: 300 }),
      'Longest time to wait, in seconds; then the revision is answered in the status that it has.',
    ),
    30,
  ),
});
