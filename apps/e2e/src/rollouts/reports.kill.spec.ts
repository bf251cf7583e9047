import { Client } from 'pg';
import { CodeHostServer } from '@fairlead/integrations/testing';
import { until } from '@fairlead/postgres/testing';
import { Home, killed, type Service } from '../testing/home';
import { newGate } from '../testing/tenant-things';

/** The request that posts a comment. */
const POSTING = /^POST .*\/comments$/;
const POSTED = /\/comments$/;

let home: Home;
let host: CodeHostServer;
let service: Service;
beforeAll(async () => {
  home = new Home();
  host = await CodeHostServer.start('github');
});
afterAll(async () => {
  await home?.end();
  await host?.stop();
});

const start = () => home.start({ OUTBOUND_ALLOW: '127.0.0.1' });

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': home.key(), 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as T;
}

/** Lets the time pass for which the process that was killed would have held its work. */
async function pass(): Promise<void> {
  const database = new Client({ connectionString: home.databaseUrl() });
  await database.connect();
  try {
    await database.query('update verdict_comments set held_until = now()');
    await database.query('update verdict_turns set leased_until = now() where holder is not null');
  } finally {
    await database.end();
  }
}

it('a pull request has one comment when the server is killed before it knows that the host took it', async () => {
  service = await start();
  const repo_url = `${host.origin}/octo-org/agent-0`;
  const { id: integration_id } = await ask<{ id: string }>('POST', '/v1/integrations', {
    ...{ name: 'host', provider: 'github', base_url: host.origin, credentials: { token: 'ghp_good' } },
    reports: [{ repo_url }],
  });
  const { id: dataset } = await ask<{ id: string }>('POST', '/api/v1/datasets', { name: 'questions' });
  // Nobody can tell these two apart before the server is there again.
  const rounds = [
    { fault: 'unanswered', pull: 7, posted: 1 },
    { fault: 'silent', pull: 8, posted: 0 },
  ] as const;
  for (const { fault, pull, posted } of rounds) {
    const { commit } = host.branches.main!;
    host.reported.pulls = [{ number: pull, commit, state: 'open' }];
    host.faultsAt = [{ at: POSTING, fault }];
    const before = host.reported.comments.length;
    await ask('POST', '/v2/deployments', {
      ...{ name: `agent-${pull}`, source: 'codehost', secrets: [], source_revision_config: { repo_ref: 'main' } },
      source_config: { integration_id, repo_url, gates: [newGate('questions', dataset)] },
    });
    await until(() => host.faultsAt.length === 0);
    expect(host.reported.comments).toHaveLength(before + posted);
    await killed(service.process);
    service = await start();
    await pass();
    await until(async () => {
      const path = `/v1/integrations/${integration_id}/reports`;
      const { resources } = await ask<{ resources: { pulls: number[]; status: string }[] }>('GET', path);
      return resources.some(({ pulls, status }) => pulls.includes(pull) && status === 'sent');
    });
    expect(host.reported.comments).toHaveLength(before + 1);
    expect(host.reported.comments.at(-1)).toMatchObject({ pull, body: expect.stringContaining(`agent-${pull}`) });
  }
  const posts = host.asked.filter(({ method, path }) => method === 'POST' && POSTED.test(path));
  expect(posts.map(({ status }) => status)).toEqual([0, 201]);
});
