import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that stands for everything the service calls. */
export interface Outside {
  readonly url: string;
  stop(): void;
}

/** Starts it: a code host with one repository, an authorisation server, and the token for whoever asks for anything else. */
export async function startOutside(token: string): Promise<Outside> {
  const server = createServer((request, response) => {
    const path = request.url!.split('?', 1)[0]!;
    const url = `http://${request.headers.host}`;
    const { status = 200, body } = PAGES[path]?.(url) ?? { body: { access_token: token } };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Page = (url: string) => { readonly status?: number; readonly body: unknown };

const PAGES: Readonly<Record<string, Page>> = {
  '/hook': () => ({ body: {} }),
  '/api/v4/projects': (url) => ({
    body: [
      {
        id: 7,
        path: 'agent',
        namespace: { full_path: 'team' },
        web_url: `${url}/team/agent`,
        default_branch: 'main',
      },
    ],
  }),
  '/api/v4/projects/team%2Fagent/repository/compare': () => ({ body: { commits: [] } }),
  '/.well-known/oauth-authorization-server': (url) => ({
    body: {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/register`,
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    },
  }),
  '/register': () => ({
    status: 201,
    body: { client_id: 'registered', client_secret: 'a-secret', client_secret_expires_at: 0 },
  }),
};
