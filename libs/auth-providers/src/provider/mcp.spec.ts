import { challengedMetadata, preferredMethod, readMetadata, wellKnownMetadata } from './mcp';

const server = new URL('https://mcp.example/tools/files');

it.each([
  ['Bearer resource_metadata="https://mcp.example/meta"', 'https://mcp.example/meta'],
  ['Bearer error="invalid_token", resource_metadata=https://mcp.example/meta, scope="x"', 'https://mcp.example/meta'],
  ['Bearer realm="x"', undefined],
  [null, undefined],
])('finds the metadata that the challenge %j names', (header, expected) => {
  expect(challengedMetadata(header)).toBe(expected);
});

it('looks for metadata below the path of the resource, then at the root', () => {
  const root = 'https://mcp.example/.well-known/oauth-protected-resource';
  expect(wellKnownMetadata(server)).toEqual([`${root}/tools/files`, root]);
  expect(wellKnownMetadata(new URL('https://mcp.example'))).toEqual([root]);
});

it('believes only metadata that speaks for the server or for one above it', () => {
  const authorization_servers = ['https://login.example'];
  const read = (resource: unknown) => readMetadata({ resource, authorization_servers }, server);
  expect(read('https://mcp.example/tools/files')).toEqual({
    resource: 'https://mcp.example/tools/files',
    authorizationServers: authorization_servers,
    scopes: [],
  });
  expect(read('https://mcp.example')).toBeDefined();
  expect(read('https://mcp.example/tools')).toBeDefined();
  for (const other of ['https://mcp.example/tool', 'https://evil.example/tools/files', 'nonsense', 7, undefined]) {
    expect(read(other)).toBeUndefined();
  }
  expect(readMetadata('text', server)).toBeUndefined();
});

it('prefers to keep a secret, in the body of the request', () => {
  expect(preferredMethod(['none', 'client_secret_basic', 'client_secret_post'])).toBe('client_secret_post');
  expect(preferredMethod(['none', 'private_key_jwt'])).toBe('none');
  expect(preferredMethod(undefined)).toBe('client_secret_basic');
  expect(preferredMethod(['private_key_jwt'])).toBeUndefined();
});
