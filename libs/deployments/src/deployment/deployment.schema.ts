import { paging } from '@fairlead/api';
import { bool, csv, datetime, int, list, literal, note, object, optional, secret, str, uuid } from '@fairlead/schema';
import { SOURCES } from './deployment-events';
import { resourceSpec } from '../revision/resource-spec.schema';
import { both, source } from './spelling.schema';

const text = optional(str());
/** Characters of a deployment's name. */
export const LONGEST_NAME = 255;
const MOST_IDS = 100;
const MOST_TAGS = 1000;
/** Secrets of a deployment, and references to secrets. */
const MOST_SECRETS = 1000;

export const deploymentTypes = ['dev_free', 'dev', 'prod', 'serverless', 'dev_zero'] as const;
type DeploymentType = (typeof deploymentTypes)[number];
export const listenerConfig = object(both({ cluster_namespace: text }), 'ListenerConfig');

const sourceConfig = object(
  both({
    integration_id: optional(uuid()),
    repo_url: text,
    deployment_type: optional(literal(deploymentTypes)),
    build_on_push: optional(bool()),
    custom_url: text,
    resource_spec: optional(resourceSpec),
    listener_id: optional(uuid()),
    listener_config: optional(listenerConfig),
    install_command: text,
    build_command: text,
  }),
  'SourceConfigRequest',
);

const sourceRevisionConfig = object(
  both({
    repo_ref: text,
    graph_config_path: text,
    image_uri: text,
    source_tarball_path: text,
  }),
  'SourceRevisionConfigRequest',
);

const secrets = list(object({ name: str(), value: secret(str()) }, 'Secret'), { max: MOST_SECRETS });
const secretReferences = list(
  object({ name: str(), secret_name: str({ min: 1 }), secret_key: str({ min: 1 }) }, 'SecretReference'),
  { max: MOST_SECRETS },
);

const agentWord = str({ min: 1, max: LONGEST_NAME });
const created = {
  source: source(SOURCES),
  source_config: sourceConfig,
  source_revision_config: sourceRevisionConfig,
  secrets,
  secret_references: optional(secretReferences),
  agent: optional(
    note(
      object({ agent_id: agentWord, environment: agentWord }, 'DeploymentAgentRequest'),
      'The agent that it runs, and where: at most one deployment of both. It gives the name where none is sent.',
    ),
  ),
};
const name = str({ min: 1, max: LONGEST_NAME });
const ofAgent = object({ name: optional(name), ...created }, 'DeploymentCreateRequest');
const named = object({ name, ...created }, 'DeploymentCreateRequest');

/** Body of POST /v2/deployments: `name` may be left out where `agent` is sent. */
export const createRequest: typeof ofAgent = {
  ...ofAgent,
  parse: (input, context) =>
    hasAgent(input) ? ofAgent.parse(input, context) : (named as typeof ofAgent).parse(input, context),
};

function hasAgent(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'agent' in input && input.agent !== null;
}

/** Body of PATCH; `name` and `source` are read to refuse another value. */
export const patchRequest = object(
  {
    revision_source: optional(source(['codehost', 'internal_container', 'internal_source'])),
    source_config: optional(sourceConfig),
    source_revision_config: optional(sourceRevisionConfig),
    secrets: optional(secrets),
    secret_references: optional(secretReferences),
    name: optional(str()),
    source: optional(source(SOURCES)),
  },
  'DeploymentPatchRequest',
);

export const tagsRequest = object({ tag_value_ids: list(uuid(), { max: MOST_TAGS }) }, 'TagsRequest');

export const deploymentPath = object({ deployment_id: uuid() });
export const revisionPath = object({ deployment_id: uuid(), revision_id: uuid() });
export const diffPath = object({ deployment_id: uuid(), revision_id: uuid(), other_id: uuid() });

export const listQuery = object({
  ...paging,
  name: optional(note(str(), 'The whole name.')),
  name_contains: optional(note(str(), 'A part of the name, in any case.')),
  agent_id: optional(note(str(), 'Was created for this agent.')),
  agent_environment: optional(note(str(), 'Was created for an agent in this environment.')),
  status: text,
  remote_reconciled: optional(bool()),
  tag_value_ids: optional(note(csv(uuid()), 'Has one of these tags; separated by commas, or repeated.')),
  image_version: text,
  // The message names what the specification has.
  deployment_type: optional(
    literal<DeploymentType>(['dev_free', 'dev', 'prod'], { aliases: { dev_zero: 'dev_zero' } }),
  ),
  deployment_ids: optional(note(csv(uuid()), 'Is one of these; separated by commas, or repeated.')),
});

/** The point of the past to answer with: a time, or a version of the deployment. */
export const replayQuery = object({
  at: optional(note(datetime(), 'As it was at this time.')),
  version: optional(note(int({ ge: 1 }), 'As it was at this version.')),
});
export const dryRunQuery = object({
  dry_run: optional(note(bool(), 'Answer what the write would answer, and write nothing.'), false),
});
const deleteTracingProject = optional(note(bool(), 'Delete its tracing project as well.'), false);
export const deleteQuery = object({ delete_tracing_project: deleteTracingProject });
export const bulkDeleteQuery = object({
  deployment_ids: csv(uuid(), { max: MOST_IDS }),
  delete_tracing_project: deleteTracingProject,
});
export const revisionsQuery = object({ ...paging, status: optional(csv(str())) });
export const historyQuery = object({
  ...paging,
  after: optional(note(int({ ge: 0 }), 'Leave out what made this version, and all before.')),
});
export const waitQuery = object({
  timeout: optional(note(int({ ge: 0, le: 300 }), 'Most seconds to wait.'), 30),
});
