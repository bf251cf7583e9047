type Members = Readonly<Record<string, object>>;

/** JSON Schema of an object with members that are always there and members that may be absent. */
export function members(always: Members, sometimes: Members = {}): object {
  return { type: 'object', required: Object.keys(always), properties: { ...always, ...sometimes } };
}

export function ref(name: keyof typeof SCHEMAS): object {
  return { $ref: `#/components/schemas/${name}` };
}

export const TEXT = { type: 'string' };
export const TEXT_OR_NULL = { type: ['string', 'null'] };
export const COUNT = { type: 'integer', minimum: 0 };
export const TIME = { type: 'string', format: 'date-time' };
export const NUMBER_OR_NULL = { type: ['number', 'null'] };

export const SCHEMAS = {
  Id: { type: 'string', format: 'uuid' },
  DeploymentStatus: {
    type: 'object',
    required: ['deployment_id', 'status'],
    properties: {
      deployment_id: { $ref: '#/components/schemas/Id' },
      status: { enum: ['AWAITING_DATABASE', 'READY', 'UNUSED', 'UNKNOWN', 'AWAITING_DELETE'] },
      reason: TEXT,
      crash_looping: { const: true },
    },
  },
  SourceConfig: {
    type: 'object',
    properties: {
      integration_id: TEXT,
      repo_url: TEXT,
      deployment_type: TEXT,
      build_on_push: { type: 'boolean' },
      build_on_push_paths: { type: 'array', items: TEXT },
      custom_url: TEXT,
      listener_id: TEXT,
    },
  },
  SourceRevisionConfig: {
    type: 'object',
    properties: {
      repo_ref: TEXT,
      repo_commit_sha: TEXT,
      graph_config_path: TEXT,
      image_uri: TEXT,
      source_tarball_path: TEXT,
    },
  },
  RevisionStatus: {
    enum: [
      'CREATING',
      'QUEUED',
      'AWAITING_BUILD',
      'BUILDING',
      'AWAITING_DEPLOY',
      'DEPLOYING',
      'DEPLOYED',
      'CREATE_FAILED',
      'BUILD_FAILED',
      'DEPLOY_FAILED',
      'SKIPPED',
      'INTERRUPTED',
      'UNKNOWN',
    ],
  },
};

export const ID = ref('Id');

/** An id, or null; with what it says when it is there. */
export function idOrNull(description?: string): object {
  return { ...(description !== undefined && { description }), oneOf: [ID, { type: 'null' }] };
}
