import { QUOTA_KINDS, REMOVAL_PARTS } from '@fairlead/eventing';
import { shape } from '@fairlead/api';
import { SCOPES } from './scopes';
import { TENANT_STATUSES } from './tenant';

const { boolean, integer, list, noted, nothing, nullable, object, oneOf, text, time, uuid } = shape;

const keyMembers = {
  id: uuid,
  short_key: noted(text, 'Enough of the key to recognise it by.'),
  description: text,
  scopes: list(oneOf(...SCOPES)),
  read_only: boolean,
  organization: noted(boolean, 'The key opens every workspace of its organisation.'),
  tenant_id: nullable(uuid),
  organization_id: uuid,
  created_at: time,
  expires_at: nullable(time),
  made_by: noted(nullable(uuid), 'The key that made it, with which it ends; null where that is not known.'),
};

export const apiKey = object('ApiKey', keyMembers);
export const newApiKey = object('NewApiKey', { ...keyMembers, key: noted(text, 'Shown only this once.') });

export const workspace = object('Workspace', {
  id: uuid,
  organization_id: uuid,
  created_at: time,
  display_name: text,
  is_personal: boolean,
  is_deleted: boolean,
  tenant_handle: nullable(text),
  data_plane_url: nothing,
  read_only: boolean,
  role_id: nothing,
  role_name: nothing,
  permissions: list(oneOf(...SCOPES)),
});

export const workspaceState = object('WorkspaceState', {
  id: uuid,
  organization_id: uuid,
  created_at: time,
  display_name: text,
  tenant_handle: nullable(text),
  status: noted(
    oneOf(...TENANT_STATUSES),
    '`suspended` until it is resumed; `removing` until nothing of it is left, then `removed`.',
  ),
  status_since: time,
  remaining: noted(list(oneOf(...REMOVAL_PARTS)), 'What a workspace that is being removed still has.'),
});

const share = object('Share', { used: integer, limit: integer });
export const usage = object('WorkspaceUsage', {
  ...Object.fromEntries(QUOTA_KINDS.map((kind) => [kind, share])),
  stored_bytes: noted(share, 'Bytes of uploads, changes of examples, attachments, source archives and runs.'),
});

export const parkedSubject = object('ParkedSubject', {
  id: uuid,
  consumer: text,
  subject: noted(text, 'The stream that waits.'),
  tenant_id: nullable(uuid),
  status: noted(oneOf('retrying', 'parked'), '`parked` when only a retry that somebody asks for goes on.'),
  event_type: text,
  version: noted(integer, 'The event that fails; it and those up to `last_version` wait.'),
  last_version: integer,
  attempts: integer,
  reason: text,
  created_at: time,
  failed_at: time,
  retry_at: nullable(time),
});
export const parkedSubjectsPage = object('ParkedSubjectsPage', {
  resources: list(parkedSubject),
  after: nullable(uuid),
});
