import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Metadata of a client, as RFC 7591 names it. */
export interface ServerClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method: string;
  readonly redirect_uris: readonly string[];
}

interface Counts {
  readonly authorization_code: number;
  readonly refresh_token: number;
  readonly refused: number;
}

export interface AuthorizationServer {
  readonly url: string;
  /** Number of grants that it gave, by type, and of those that it refused. */
  counts(): Promise<Counts>;
  stop(): Promise<void>;
}

/** Starts a real authorization server in a process of its own. */
export async function startAuthorizationServer(clients: readonly ServerClient[]): Promise<AuthorizationServer> {
  const web = clients.map((client) => ({
    ...client,
    application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'],
  }));
  const script = join(__dirname, 'authorization-server.mjs');
  const child = spawn(process.execPath, [script, JSON.stringify(web)], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  let complaint = '';
  child.stderr.on('data', (bytes: Buffer) => (complaint += bytes.toString()));
  const lines = createInterface({ input: child.stdout });
  const url = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    ended.then(() => Promise.reject(new Error(`The authorization server did not start: ${complaint}`))),
  ]);
  return {
    url,
    counts: async () => (await (await fetch(`${url}/counts`)).json()) as Counts,
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}
