import { SCOPES } from '@fairlead/api';
import {
  bool,
  list,
  literal,
  note,
  nullable,
  object,
  optional,
  refine,
  secret,
  str,
  timestamp,
  uuid,
} from '@fairlead/schema';

const LONGEST = 256;
export const signInRequest = refine(
  object({
    api_key: note(optional(secret(str({ max: LONGEST }))), 'API key to sign in with; either it or `code`.'),
    code: note(optional(secret(str({ max: LONGEST }))), 'One-time code to sign in with; either it or `api_key`.'),
  }),
  ({ api_key, code }) => ((api_key === undefined) === (code === undefined) ? 'give api_key or code' : undefined),
);
export const sessionPath = object({
  console_session_id: note(uuid(), 'The `id` of an element of the list of sessions.'),
});

const key = object('ConsoleKey', {
  id: note(uuid(), 'Identifier of the API key; it is no secret.'),
  short_key: note(str(), 'First characters of the API key, to recognise it by.'),
  description: note(str(), 'What the API key is for, as its maker wrote it.'),
});

export const consoleSession = object('ConsoleSession', {
  id: note(nullable(uuid()), 'Null when the request was sent with a key.'),
  workspace_id: note(uuid(), 'The workspace of requests that name none.'),
  workspaces: note(
    list(
      object('ConsoleWorkspace', {
        id: note(uuid(), 'Identifier of the workspace.'),
        display_name: note(str(), 'Name that people see.'),
        tenant_handle: note(nullable(str()), 'Short name for addresses; null when none was given.'),
      }),
    ),
    'The workspaces that can be named in `X-Tenant-Id`.',
  ),
  scopes: note(list(literal(SCOPES)), 'Those of the key; a session has neither `secrets:read` nor `tokens:read`.'),
  reveals_secrets: note(bool(), 'Whether the key may reveal secrets of deployments, one at a time.'),
  key: note(key, 'API key that the session was opened with.'),
  expires_at: note(
    nullable(timestamp()),
    'When the session ends at the latest; it ends earlier when it is not used for 12 hours. Null when the request was sent with a key.',
  ),
});

export const listedConsoleSession = object('ListedConsoleSession', {
  id: note(uuid(), 'Identifier of the session.'),
  key: note(key, 'API key that the session was opened with.'),
  workspace_id: note(uuid(), 'Workspace of requests that name none.'),
  address: note(str(), 'IP address from which the session was opened.'),
  created_at: note(timestamp(), 'When the session was opened.'),
  used_at: note(timestamp(), 'When the session was last used, up to 15 minutes earlier.'),
  expires_at: note(timestamp(), 'When the session ends at the latest.'),
  current: note(bool(), 'It is the session of this request.'),
});

export const consoleCode = object('ConsoleCode', {
  code: note(str(), 'Opens one session, within ten minutes.'),
  path: note(str(), 'The path of the page that uses the code, from the root of the server.'),
  expires_at: note(timestamp(), 'When the code ends.'),
});
