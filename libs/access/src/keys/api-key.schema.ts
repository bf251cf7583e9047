import { SCOPES } from '@fairlead/api';
import {
  bool,
  datetime,
  list,
  literal,
  note,
  nullable,
  object,
  optional,
  refine,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';

export const createRequest = refine(
  object({
    description: note(optional(str({ max: 1000 }), 'API key'), 'What the key is for; lists and the audit log show it.'),
    scopes: note(
      optional(list(literal(SCOPES), { min: 1, max: SCOPES.length })),
      'What the key may do, at most what the key of the request may. Default `read` and `write`, with `read_only` only `read`.',
    ),
    read_only: note(
      optional(bool(), false),
      'True: the key may only read; not together with the scopes `write` or `admin`.',
    ),
    expires_at: note(
      optional(datetime()),
      'When the key ends, not later than the key of the request; absent: when that one ends.',
    ),
    organization: note(optional(bool(), false), 'True: the key opens every workspace of the organisation.'),
  }),
  ({ scopes, read_only }) => {
    const contradicts = read_only && scopes?.some((scope) => scope === 'write' || scope === 'admin');
    return contradicts ? 'a read_only key has neither of the scopes write and admin' : undefined;
  },
);
export const keyPath = object({ id: note(uuid(), 'The `id` of a key, not the key itself.') });

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
