import { bool, int, list, literal, note, nullable, object, str, timestamp, unused, uuid } from '@fairlead/schema';
import { QUOTA_KINDS, REMOVAL_PARTS } from '@fairlead/eventing';
import { SCOPES } from '@fairlead/api';
import { TENANT_STATUSES } from './tenants/tenant';

const keyMembers = {
  id: note(uuid(), 'Identifier of the key; it is no secret.'),
  short_key: note(str(), 'First characters of the key, to recognise it by.'),
  description: note(str(), 'What the key is for, as its maker wrote it.'),
  scopes: note(
    list(literal(SCOPES)),
    'What the key may do; `admin` includes `write`, which includes `read` and `invoke`.',
  ),
  read_only: note(bool(), 'True when the scopes allow no change.'),
  organization: note(bool(), 'True when the key opens every workspace of its organisation.'),
  tenant_id: note(nullable(uuid()), 'Workspace that the key belongs to; null for a key of the organisation.'),
  organization_id: note(uuid(), 'Organisation that the key belongs to.'),
  created_at: note(timestamp(), 'When the key was made.'),
  expires_at: note(nullable(timestamp()), 'When the key ends; null when it has no end.'),
  made_by: note(nullable(uuid()), 'Key that made it and whose end ends it too; null where that is not known.'),
};

export const apiKey = object('ApiKey', keyMembers);
export const newApiKey = object('NewApiKey', {
  ...keyMembers,
  key: note(str(), 'The key itself, to be sent in `x-api-key`; no later answer shows it.'),
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

export const parkedSubject = object('ParkedSubject', {
  id: note(uuid(), 'Identifier of the parked subject.'),
  consumer: note(str(), 'Consumer that could not handle the event.'),
  subject: note(str(), 'Stream whose events wait.'),
  tenant_id: note(nullable(uuid()), 'Workspace that the stream belongs to; null when it belongs to none.'),
  status: note(
    literal(['retrying', 'parked']),
    '`retrying`: it is tried again by itself. `parked`: only `POST …/retry` tries it again.',
  ),
  event_type: note(str(), 'Type of the event that fails.'),
  version: note(int(), 'Version in the stream of the event that fails; it and those up to `last_version` wait.'),
  last_version: note(int(), 'Version of the newest event that waits.'),
  attempts: note(int(), 'How often the event has been tried.'),
  reason: note(str(), 'Error of the newest attempt.'),
  created_at: note(timestamp(), 'When the first attempt failed.'),
  failed_at: note(timestamp(), 'When the newest attempt failed.'),
  retry_at: note(nullable(timestamp()), 'When it is tried again by itself; null when it is not.'),
});
export const parkedSubjectsPage = object('ParkedSubjectsPage', {
  resources: note(list(parkedSubject), 'The parked subjects of this page.'),
  after: note(nullable(uuid()), 'Value for `after` to get the next page; null on the last one.'),
});
