import { SCOPES, shape } from '@fairlead/api';

const { boolean, list, noted, nullable, object, oneOf, text, time, uuid } = shape;

const key = object('ConsoleKey', {
  id: noted(uuid, 'Identifier of the API key; it is no secret.'),
  short_key: noted(text, 'First characters of the API key, to recognise it by.'),
  description: noted(text, 'What the API key is for, as its maker wrote it.'),
});

export const consoleSession = object('ConsoleSession', {
  id: noted(nullable(uuid), 'Null when the request was sent with a key.'),
  workspace_id: noted(uuid, 'The workspace of requests that name none.'),
  workspaces: noted(
    list(
      object('ConsoleWorkspace', {
        id: noted(uuid, 'Identifier of the workspace.'),
        display_name: noted(text, 'Name that people see.'),
        tenant_handle: noted(nullable(text), 'Short name for addresses; null when none was given.'),
      }),
    ),
    'The workspaces that can be named in `X-Tenant-Id`.',
  ),
  scopes: noted(list(oneOf(...SCOPES)), 'Those of the key; a session has neither `secrets:read` nor `tokens:read`.'),
  reveals_secrets: noted(boolean, 'Whether the key may reveal secrets of deployments, one at a time.'),
  key: noted(key, 'API key that the session was opened with.'),
  expires_at: noted(
    nullable(time),
    'When the session ends at the latest; it ends earlier when it is not used for 12 hours. Null when the request was sent with a key.',
  ),
});

export const listedConsoleSession = object('ListedConsoleSession', {
  id: noted(uuid, 'Identifier of the session.'),
  key: noted(key, 'API key that the session was opened with.'),
  workspace_id: noted(uuid, 'Workspace of requests that name none.'),
  address: noted(text, 'IP address from which the session was opened.'),
  created_at: noted(time, 'When the session was opened.'),
  used_at: noted(time, 'When the session was last used, up to 15 minutes earlier.'),
  expires_at: noted(time, 'When the session ends at the latest.'),
  current: noted(boolean, 'It is the session of this request.'),
});

export const consoleCode = object('ConsoleCode', {
  code: noted(text, 'Opens one session, within ten minutes.'),
  path: noted(text, 'The path of the page that uses the code, from the root of the server.'),
  expires_at: noted(time, 'When the code ends.'),
});
