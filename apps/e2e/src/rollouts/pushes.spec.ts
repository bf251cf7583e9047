import { createHmac, randomUUID } from 'node:crypto';
import { CodeHostServer } from '@fairlead/integrations/testing';
import { until } from '@fairlead/postgres/testing';
import { Installation } from '@fairlead/service/testing';

/** From a push at the code host to a revision, and to what people read about it. */

const SECRET = 'at least sixteen characters';
const BEFORE = 'c'.repeat(40);
const NEWER = 'd'.repeat(40);

let installation: Installation;
let host: CodeHostServer;
let integration: string;
let repository: { url: string; id: number };

beforeAll(async () => {
  host = await CodeHostServer.start('github');
  installation = await Installation.start({ OUTBOUND_ALLOW: '127.0.0.1' });
  const credentials = { token: 'ghp_good' };
  const wanted = { name: 'pushing', provider: 'github', base_url: host.origin, credentials, webhook_secret: SECRET };
  integration = (await ask('POST', '/v1/integrations', wanted)).json.id;
  repository = (await ask('GET', `/v1/integrations/codehost/${integration}/repos`)).json[0];
});
afterAll(async () => {
  await installation?.stop();
  await host?.stop();
});

const ask = (...request: Parameters<Installation['send']>) => installation.send(...request);

async function push(after: string, more: object = {}) {
  const head_commit = { id: after, message: 'Fix the agent', author: { name: 'Ada Author' } };
  const pusher = { name: 'pia' };
  const repo = { id: repository.id, html_url: repository.url };
  const body = JSON.stringify({
    ...{ ref: 'refs/heads/main', before: BEFORE, after, repository: repo, head_commit, pusher },
    ...more,
  });
  const answer = await fetch(`${installation.url}/v1/integrations/${integration}/webhook`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'x-github-event': 'push', 'x-github-delivery': randomUUID() },
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    },
    body,
  });
  return (await answer.json()) as { delivery_id: string; status: string; detail: string };
}

const deploymentOf = (name: string, repo_ref: string, build_on_push = true, more: object = {}) => ({
  ...{ name, source: 'codehost', secrets: [], source_revision_config: { repo_ref } },
  source_config: { integration_id: integration, repo_url: repository.url, build_on_push, ...more },
});

const delivery = async (id: string) => (await ask('GET', `/v1/integrations/${integration}/deliveries/${id}`)).json;

it('makes a revision of the head, which history, revisions and audit log tell with its pusher, author, subject and delivery', async () => {
  const { json: made } = await ask('POST', '/v2/deployments', deploymentOf('pushed', 'main'));
  const shown = async () => (await ask('GET', `/v2/deployments/${made.id}`)).json;
  await until(async () => (await shown()).status === 'READY');
  host.branches.main = { commit: NEWER, message: 'Fix the agent', author: 'Ada Author' };
  // It comes late: the branch has gone on since.
  const { delivery_id, status } = await push('e'.repeat(40));
  expect(status).toBe('waiting');
  await until(async () => (await shown()).latest_revision_id !== made.latest_revision_id);
  const { latest_revision_id, source_revision_config } = await shown();
  expect(source_revision_config.repo_commit_sha).toBe(NEWER);
  await until(async () => (await delivery(delivery_id)).pushes[0].deployments[0].revision_id !== null);
  expect(await delivery(delivery_id)).toMatchObject({
    status: 'done',
    pushes: [{ head: NEWER, deployments: [{ deployment_id: made.id, revision_id: latest_revision_id, reason: null }] }],
  });
  const told = { delivery_id, pusher: 'pia', author: 'Ada Author', subject: 'Fix the agent' };
  const { json: history } = await ask('GET', `/v2/deployments/${made.id}/history?types=RevisionCreated`);
  expect(history.resources[0]).toMatchObject({ actor: 'system:deployments', push: told });
  expect(history.resources[1].push).toBeUndefined();
  const { json: revisions } = await ask('GET', `/v2/deployments/${made.id}/revisions?include=cause`);
  expect(revisions.resources).toMatchObject([{ id: latest_revision_id, push: told }, { push: null }]);
  const entries = async () =>
    ((await ask('GET', `/api/v1/audit-logs?resource_id=${made.id}`)).json.items ?? []) as object[];
  await until(async () => JSON.stringify(await entries()).includes(delivery_id));
  const log = await entries();
  expect(log).toHaveLength(2);
  const text = JSON.stringify(log[0]);
  for (const part of ['pia', 'Ada Author', 'Fix the agent', delivery_id, 'system:deployments']) {
    expect(text).toContain(part);
  }
});

it('has one entry in the audit log for each action, whatever follows from it', async () => {
  const { json: made } = await ask('POST', '/v2/deployments', deploymentOf('audited', 'main'));
  const path = `/v2/deployments/${made.id}`;
  const ready = async () => until(async () => (await ask('GET', path)).json.status === 'READY');
  await ready();
  await ask('PATCH', path, { source_revision_config: { repo_ref: 'feature/x' } });
  await ask('POST', `${path}/revisions/${made.latest_revision_id}/redeploy`, {});
  await ask('PATCH', path, { source_config: { build_on_push: true } });
  const count = async () => (await ask('GET', `/api/v1/audit-logs?resource_id=${made.id}`)).json.items?.length;
  await until(async () => (await count()) >= 4);
  expect(await count()).toBe(4);
});

it('goes on after a roll-back that skips a commit, and says why a push of that commit makes no revision', async () => {
  const [good, bad, next] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string];
  const at = (commit: string) => ({ commit, message: 'A change', author: 'Ada Author' });
  host.branches.main = at(good);
  const { json: made } = await ask('POST', '/v2/deployments', deploymentOf('skipping', 'main'));
  const path = `/v2/deployments/${made.id}`;
  const shown = async () => (await ask('GET', path)).json;
  const commit = async () => (await shown()).source_revision_config.repo_commit_sha;
  const builds = async (pushed: string) => {
    host.branches.main = at(pushed);
    await push(pushed);
    await until(async () => (await commit()) === pushed);
  };
  await until(async () => (await shown()).status === 'READY');
  await builds(good);
  const { latest_revision_id } = await shown();
  await builds(bad);
  const redeploy = `${path}/revisions/${latest_revision_id}/redeploy?skip_commit=true`;
  expect((await ask('POST', `${redeploy}&dry_run=plan`)).json).toMatchObject({
    ...{ creates_revision: true, pauses_push: false, skips_commit: bad },
    warnings: [expect.stringContaining('contains commit 222222222222 unless that was reverted')],
  });
  const back = await ask('POST', redeploy);
  expect(back.json).toMatchObject({ source_config: { build_on_push: true } });
  expect(back.json.source_revision_config.repo_commit_sha).toBe(good);
  const { delivery_id } = await push(bad);
  const [{ deployments }] = await until(
    async () => (await delivery(delivery_id)).pushes,
    (pushes) => pushes?.[0]?.deployments?.some((one: { reason: unknown }) => one.reason !== null),
  );
  expect(deployments.find((one: { deployment_id: string }) => one.deployment_id === made.id)).toMatchObject({
    ...{ revision_id: null, reason: 'it was rolled back from this commit, which is skipped' },
  });
  expect(await commit()).toBe(good);
  await builds(next);
});

it('follows a repository that was renamed after the first revision', async () => {
  const { json: made } = await ask('POST', '/v2/deployments', deploymentOf('renamed', 'main'));
  const shown = async () => (await ask('GET', `/v2/deployments/${made.id}`)).json;
  await until(async () => (await shown()).status === 'READY');
  host.renamed = 'another-name';
  host.branches.main = { commit: 'a1'.repeat(20), message: 'After', author: 'Ada' };
  const html_url = repository.url.replace('agent-0', 'another-name');
  await push('a1'.repeat(20), { repository: { id: repository.id, html_url } });
  await until(async () => (await shown()).source_revision_config.repo_commit_sha === 'a1'.repeat(20));
  host.renamed = undefined;
});

it('refuses to follow tags and commits, under whatever name, and follows what the host does not answer about', async () => {
  for (const [name, what] of [
    ['v1', 'tag'],
    ['refs/tags/v1', 'tag'],
    ['a'.repeat(40), 'commit'],
  ] as const) {
    const answer = await ask('POST', '/v2/deployments', deploymentOf('of-a-tag', name));
    expect([answer.status, answer.json.detail]).toEqual([
      400,
      `build_on_push cannot be true when repo_ref is a ${what}.`,
    ]);
  }
  const { json: made, status } = await ask('POST', '/v2/deployments', deploymentOf('of-a-tag', 'v1', false));
  expect(status).toBe(201);
  const path = `/v2/deployments/${made.id}`;
  expect((await ask('PATCH', path, { source_config: { build_on_push: true } })).status).toBe(400);
  const branch = { source_config: { build_on_push: true }, source_revision_config: { repo_ref: 'main' } };
  expect((await ask('PATCH', path, branch)).status).toBe(200);
  expect((await ask('PATCH', path, { source_revision_config: { repo_ref: 'v1' } })).status).toBe(400);
  // A branch of the same name is followed.
  host.branches.v1 = host.branches.main!;
  expect((await ask('PATCH', path, { source_revision_config: { repo_ref: 'v1' } })).status).toBe(200);
  delete host.branches.v1;
  host.faults = Array.from({ length: 9 }, () => ({ status: 401 }));
  expect((await ask('POST', '/v2/deployments', deploymentOf('unknown', 'v1'))).status).toBe(201);
  host.faults = [];
});

it('builds what build_on_push_paths choose, which only repositories have', async () => {
  const paths = { build_on_push_paths: ['agent/**', '!agent/docs/**'] };
  const { json: made } = await ask('POST', '/v2/deployments', deploymentOf('filtered', 'main', true, paths));
  expect(made.source_config.build_on_push_paths).toEqual(paths.build_on_push_paths);
  const path = `/v2/deployments/${made.id}`;
  await until(async () => (await ask('GET', path)).json.status === 'READY');
  host.branches.main = { commit: 'b1'.repeat(20), message: 'Docs', author: 'Ada' };
  host.changed = { files: ['agent/docs/a.md'] };
  const docs = await push('b1'.repeat(20));
  await until(async () => (await delivery(docs.delivery_id)).status !== 'waiting');
  const reasons = (await delivery(docs.delivery_id)).pushes[0].deployments as { name: string; reason: string | null }[];
  expect(reasons.find(({ name }) => name === 'filtered')?.reason).toContain('no file that build_on_push_paths chooses');
  expect((await ask('GET', path)).json.latest_revision_id).toBe(made.latest_revision_id);
  host.branches.main = { commit: 'b2'.repeat(20), message: 'Code', author: 'Ada' };
  host.changed = { files: ['agent/docs/a.md', 'agent/graph.py'] };
  await push('b2'.repeat(20));
  await until(async () => (await ask('GET', path)).json.source_revision_config.repo_commit_sha === 'b2'.repeat(20));
  const container = {
    ...{ name: 'no-repository', source: 'internal_container', source_revision_config: {}, secrets: [] },
    source_config: paths,
  };
  expect((await ask('POST', '/v2/deployments', container)).json.detail).toBe(
    "build_on_push_paths is not allowed when source is 'internal_container'.",
  );
  for (const wrong of ['x', [''], [5], Array(21).fill('a'), ['x'.repeat(201)]]) {
    expect((await ask('PATCH', path, { source_config: { build_on_push_paths: wrong } })).status).toBe(422);
  }
  const none = await ask('PATCH', path, { source_config: { build_on_push_paths: [] } });
  expect(none.json.source_config.build_on_push_paths).toEqual([]);
});
