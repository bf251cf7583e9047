/**
 * A real authorization server with a sign-in form, and beside it an MCP server that it protects. Takes its clients as
 * JSON in the first argument, prints its address, ends with its standard input.
 */
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const clients = JSON.parse(process.argv[2]);
const listener = createServer();
await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${listener.address().port}`;
const counts = { authorization_code: 0, refresh_token: 0, refused: 0 };

const provider = new Provider(issuer, {
  clients,
  scopes: ['openid', 'offline_access', 'files:read', 'files:write'],
  cookies: { keys: ['a key for tests'] },
  pkce: { required: (ctx, client) => client.clientId.includes('pkce') },
  rotateRefreshToken: true,
  issueRefreshToken: (ctx, client) => client.grantTypeAllowed('refresh_token'),
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  ttl: {
    AccessToken: (ctx, token, client) => (client.clientId.startsWith('short') ? 600 : 3600),
    RefreshToken: 86_400,
    Grant: 86_400,
    Interaction: 600,
    Session: 600,
    IdToken: 600,
  },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    revocation: { enabled: true, allowedPolicy: () => true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: 'files:read files:write', accessTokenFormat: 'opaque' }),
    },
  },
});
const grants = new Set();
provider.on('grant.success', ({ oidc }) => {
  counts[oidc.params.grant_type] += 1;
  grants.add(oidc.entities.Grant);
});
provider.on('grant.error', () => (counts.refused += 1));

const handle = provider.callback();
const beside = {
  '/counts': (response) => json(response, 200, counts),
  // Takes back all that was ever consented to.
  '/withdraw': async (response) => {
    for (const grant of grants) await grant.destroy();
    json(response, 200, {});
  },
  '/broken': (response) => json(response, 503, { error: 'secret of the provider' }),
  '/mcp/files': (response) => {
    const metadata = `${issuer}/.well-known/oauth-protected-resource/mcp/files`;
    response.setHeader('www-authenticate', `Bearer error="invalid_token", resource_metadata="${metadata}"`);
    json(response, 401, {});
  },
  '/.well-known/oauth-protected-resource/mcp/files': (response) =>
    json(response, 200, { resource: `${issuer}/mcp/files`, authorization_servers: [issuer] }),
};
listener.on('request', (request, response) => {
  const own = beside[request.url];
  if (own) own(response);
  else handle(request, response);
});
process.stdin.resume().on('end', () => process.exit());
console.log(issuer);

function json(response, status, body) {
  response.statusCode = status;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
}
