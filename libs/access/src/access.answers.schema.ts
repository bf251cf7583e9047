import { QUOTA_KINDS, REMOVAL_PARTS } from '@fairlead/eventing';
import { SCOPES, shape } from '@fairlead/api';
import { TENANT_STATUSES } from './tenant';

const { boolean, integer, list, noted, nullable, object, oneOf, text, time, unused, uuid } = shape;

const keyMembers = {
  id: noted(uuid, 'Identifier of the key; it is no secret.'),
  short_key: noted(text, 'First characters of the key, to recognise it by.'),
  description: noted(text, 'What the key is for, as its maker wrote it.'),
  scopes: noted(
    list(oneOf(...SCOPES)),
    'What the key may do; `admin` includes `write`, which includes `read` and `invoke`.',
  ),
  read_only: noted(boolean, 'True when the scopes allow no change.'),
  organization: noted(boolean, 'True when the key opens every workspace of its organisation.'),
  tenant_id: noted(nullable(uuid), 'Workspace that the key belongs to; null for a key of the organisation.'),
  organization_id: noted(uuid, 'Organisation that the key belongs to.'),
  created_at: noted(time, 'When the key was made.'),
  expires_at: noted(nullable(time), 'When the key ends; null when it has no end.'),
  made_by: noted(nullable(uuid), 'Key that made it and whose end ends it too; null where that is not known.'),
};

export const apiKey = object('ApiKey', keyMembers);
export const newApiKey = object('NewApiKey', {
  ...keyMembers,
  key: noted(text, 'The key itself, to be sent in `x-api-key`; no later answer shows it.'),
});

export const workspace = object('Workspace', {
  id: noted(uuid, 'Identifier of the workspace, for `X-Tenant-Id`.'),
  organization_id: noted(uuid, 'Organisation that the workspace belongs to.'),
  created_at: noted(time, 'When the workspace was created.'),
  display_name: noted(text, 'Name that people see.'),
  is_personal: noted(boolean, 'Always false: there are no personal workspaces.'),
  is_deleted: noted(boolean, 'True once the workspace has been removed.'),
  tenant_handle: noted(
    nullable(text),
    'Short name for addresses, unique in the installation; null when none was given.',
  ),
  data_plane_url: unused,
  read_only: noted(boolean, 'True when the key of the request may change nothing.'),
  role_id: unused,
  role_name: unused,
  permissions: noted(list(oneOf(...SCOPES)), 'Scopes of the key of the request, those that they include too.'),
});

export const workspaceState = object('WorkspaceState', {
  id: noted(uuid, 'Identifier of the workspace.'),
  organization_id: noted(uuid, 'Organisation that the workspace belongs to.'),
  created_at: noted(time, 'When the workspace was created.'),
  display_name: noted(text, 'Name that people see.'),
  tenant_handle: noted(nullable(text), 'Short name for addresses; null when none was given.'),
  status: noted(
    oneOf(...TENANT_STATUSES),
    '`suspended` until it is resumed; `removing` until nothing of it is left, then `removed`.',
  ),
  status_since: noted(time, 'When the workspace got this status.'),
  remaining: noted(
    list(oneOf(...REMOVAL_PARTS)),
    'Kinds of things that are left while the workspace is being removed; else empty.',
  ),
});

const share = object('Share', {
  used: noted(integer, 'How many the workspace has, or how many bytes it stores.'),
  limit: noted(integer, 'How many it may have, or how many bytes it may store; beyond it creating is answered 409.'),
});
const things = (kind: string) =>
  `Number of ${kind.replace('_', ' ')}; the setting \`QUOTA_${kind.toUpperCase()}\` limits it.`;
type QuotaShares = Readonly<Record<(typeof QUOTA_KINDS)[number], typeof share>>;
export const usage = object('WorkspaceUsage', {
  ...(Object.fromEntries(QUOTA_KINDS.map((kind) => [kind, noted(share, things(kind))])) as QuotaShares),
  stored_bytes: noted(share, 'Bytes of uploads, changes of examples, attachments, source archives and runs.'),
});

export const parkedSubject = object('ParkedSubject', {
  id: noted(uuid, 'Identifier of the parked subject.'),
  consumer: noted(text, 'Consumer that could not handle the event.'),
  subject: noted(text, 'Stream whose events wait.'),
  tenant_id: noted(nullable(uuid), 'Workspace that the stream belongs to; null when it belongs to none.'),
  status: noted(
    oneOf('retrying', 'parked'),
    '`retrying`: it is tried again by itself. `parked`: only `POST …/retry` tries it again.',
  ),
  event_type: noted(text, 'Type of the event that fails.'),
  version: noted(integer, 'Version in the stream of the event that fails; it and those up to `last_version` wait.'),
  last_version: noted(integer, 'Version of the newest event that waits.'),
  attempts: noted(integer, 'How often the event has been tried.'),
  reason: noted(text, 'Error of the newest attempt.'),
  created_at: noted(time, 'When the first attempt failed.'),
  failed_at: noted(time, 'When the newest attempt failed.'),
  retry_at: noted(nullable(time), 'When it is tried again by itself; null when it is not.'),
});
export const parkedSubjectsPage = object('ParkedSubjectsPage', {
  resources: noted(list(parkedSubject), 'The parked subjects of this page.'),
  after: noted(nullable(uuid), 'Value for `after` to get the next page; null on the last one.'),
});
