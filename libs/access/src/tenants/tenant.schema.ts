import { SCOPES } from '@fairlead/api';
import { QUOTA_KINDS, REMOVAL_PARTS } from '@fairlead/eventing';
import {
  bool,
  int,
  list,
  literal,
  note,
  nullable,
  object,
  optional,
  refine,
  str,
  timestamp,
  unused,
  uuid,
} from '@fairlead/schema';
import { NO_TENANT } from '../keys/api-key';
import { TENANT_STATUSES } from './tenant';

export const createRequest = object({
  display_name: note(str({ min: 1, max: 200 }), 'Name that people see.'),
  tenant_handle: note(
    optional(str({ max: 100, pattern: /^[a-z0-9][a-z0-9_-]*$/ })),
    'Short name for addresses, unique in the installation (409).',
  ),
  id: note(
    optional(refine(uuid(), (id) => (id === NO_TENANT ? 'the nil UUID names no workspace' : undefined))),
    'Identifier that the workspace gets, unused so far (409); absent: the service makes one.',
  ),
});
export const tenantsQuery = object({
  include_deleted: note(optional(bool()), 'True: workspaces that were removed as well. Default false.'),
  skip_create: note(optional(bool()), 'Accepted because clients send it; listing never creates a workspace.'),
});

export const workspacePath = object({
  workspace_id: note(uuid(), 'The `id` of a workspace that the key opens; for the key of the operator, of any.'),
});

export const workspace = object('Workspace', {
  id: note(uuid(), 'Identifier of the workspace, for `X-Tenant-Id`.'),
  organization_id: note(uuid(), 'Organisation that the workspace belongs to.'),
  created_at: note(timestamp(), 'When the workspace was created.'),
  display_name: note(str(), 'Name that people see.'),
  is_personal: note(bool(), 'Always false: there are no personal workspaces.'),
  is_deleted: note(bool(), 'True once the workspace has been removed.'),
  tenant_handle: note(
    nullable(str()),
    'Short name for addresses, unique in the installation; null when none was given.',
  ),
  data_plane_url: unused,
  read_only: note(bool(), 'True when the key of the request may change nothing.'),
  role_id: unused,
  role_name: unused,
  permissions: note(list(literal(SCOPES)), 'Scopes of the key of the request, those that they include too.'),
});

export const workspaceState = object('WorkspaceState', {
  id: note(uuid(), 'Identifier of the workspace.'),
  organization_id: note(uuid(), 'Organisation that the workspace belongs to.'),
  created_at: note(timestamp(), 'When the workspace was created.'),
  display_name: note(str(), 'Name that people see.'),
  tenant_handle: note(nullable(str()), 'Short name for addresses; null when none was given.'),
  status: note(
    literal(TENANT_STATUSES),
    '`suspended` until it is resumed; `removing` until nothing of it is left, then `removed`.',
  ),
  status_since: note(timestamp(), 'When the workspace got this status.'),
  remaining: note(
    list(literal(REMOVAL_PARTS)),
    'Kinds of things that are left while the workspace is being removed; else empty.',
  ),
});

const share = object('Share', {
  used: note(int(), 'How many the workspace has, or how many bytes it stores.'),
  limit: note(int(), 'How many it may have, or how many bytes it may store; beyond it creating is answered 409.'),
});
const things = (kind: string) =>
  `Number of ${kind.replace('_', ' ')}; the setting \`QUOTA_${kind.toUpperCase()}\` limits it.`;
type QuotaShares = Readonly<Record<(typeof QUOTA_KINDS)[number], typeof share>>;
export const usage = object('WorkspaceUsage', {
  ...(Object.fromEntries(QUOTA_KINDS.map((kind) => [kind, note(share, things(kind))])) as QuotaShares),
  stored_bytes: note(share, 'Bytes of uploads, changes of examples, attachments, source archives and runs.'),
});
