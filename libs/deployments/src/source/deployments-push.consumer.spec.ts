import { streamName } from '@fairlead/eventing';
import { OTHER_TENANT, TENANT } from '@fairlead/edge/testing';
import { uuidOf } from '../testing/samples';
import { TestService } from '../testing/service';

const INTEGRATION = uuidOf(77);
const REPO = 'https://code.example/team/agent';
const SHA = 'a'.repeat(40);
let service: TestService;
let count = 0;

beforeAll(async () => {
  service = await TestService.start();
  for (const id of [INTEGRATION, uuidOf(79)]) await service.integration(id);
});

afterAll(async () => {
  await service?.stop();
});

const codehost = (build_on_push = true) => ({
  name: `agent-${count++}`,
  source: 'codehost',
  source_config: { integration_id: INTEGRATION, repo_url: REPO, build_on_push },
  source_revision_config: { repo_ref: 'main' },
  secrets: [],
});

/** Says, as the integrations service does, that a branch has moved. */
const push = (data: object = {}, tenant = TENANT) => {
  const message = {
    integration_id: INTEGRATION,
    repo_url: REPO,
    ref: 'refs/heads/main',
    repo_commit_sha: SHA,
    ...data,
  };
  const stream = streamName('push', `test${count++}`);
  return service.store.append(stream, 0, [{ type: 'PushReceived', data: message }], { tenant });
};

const shown = (id: string) => service.send('GET', `/v2/deployments/${id}`);

it('builds a push for every deployment that follows the branch, and says why in the history', async () => {
  const [first, second, manual] = [
    await service.ready(codehost()),
    await service.ready(codehost()),
    await service.ready(codehost(false)),
  ];
  await push();
  for (const { id } of [first, second]) {
    const { json } = await service.eventually(
      () => shown(id),
      (answer) => answer.json.source_revision_config.repo_commit_sha === SHA,
    );
    const revisions = await service.send('GET', `/v2/deployments/${id}/revisions`);
    expect(revisions.json.resources[0]).toMatchObject({
      id: json.latest_revision_id,
      source_revision_config: { repo_ref: 'main', repo_commit_sha: SHA },
    });
    const history = await service.send('GET', `/v2/deployments/${id}/history`);
    const entries = (history.json.resources ?? history.json) as { reason: string }[];
    expect(entries.map(({ reason }) => reason)).toContain(`Push of ${SHA} to refs/heads/main.`);
  }
  expect((await shown(manual.id)).json.latest_revision_id).toBe(manual.latest_revision_id);
});

it('builds no push of another tenant, integration or branch', async () => {
  const created = await service.ready(codehost());
  await push({}, OTHER_TENANT);
  await push({ integration_id: uuidOf(78) });
  await push({ ref: 'refs/heads/other' });
  const other = await service.ready({
    ...codehost(),
    source_config: { integration_id: uuidOf(79), repo_url: REPO, build_on_push: true },
  });
  await push({ integration_id: uuidOf(79) });
  await service.eventually(
    () => shown(other.id),
    (answer) => answer.json.latest_revision_id !== other.latest_revision_id,
  );
  expect((await shown(created.id)).json.latest_revision_id).toBe(created.latest_revision_id);
});

it('shows the commit that a rollout found for a revision', async () => {
  const { id, latest_revision_id } = await service.ready(codehost());
  const found = { deployment_id: id, revision_id: latest_revision_id, repo_commit_sha: SHA };
  const resolved = [{ type: 'CommitResolved', data: found }];
  await service.store.append(streamName('rollout', latest_revision_id), 0, resolved, { tenant: TENANT });
  await service.eventually(
    () => shown(id),
    (answer) => answer.json.source_revision_config.repo_commit_sha === SHA,
  );
  const revision = await service.send('GET', `/v2/deployments/${id}/revisions/${latest_revision_id}`);
  expect(revision.json.source_revision_config).toMatchObject({ repo_ref: 'main', repo_commit_sha: SHA });
});

it('pauses build_on_push in the answer to a roll-back, until source_revision_config is patched', async () => {
  const { id, latest_revision_id: first } = await service.ready(codehost());
  await service.send('PATCH', `/v2/deployments/${id}`, { body: { source_revision_config: { repo_ref: 'next' } } });
  const back = await service.send('POST', `/v2/deployments/${id}/revisions/${first}/redeploy`);
  expect(back.json.source_config.build_on_push).toBe(false);
  const body = { source_revision_config: { repo_ref: 'main' } };
  const patched = await service.send('PATCH', `/v2/deployments/${id}`, { body });
  expect(patched.json.source_config.build_on_push).toBe(true);
});

it.each(['http://code.example/a/b', 'https://127.0.0.1/a/b', 'https://user:word@code.example/a'])(
  'refuses the repo_url %s',
  async (repo_url) => {
    const answer = await service.send('POST', '/v2/deployments', {
      body: { ...codehost(), source_config: { integration_id: INTEGRATION, repo_url } },
    });
    expect([answer.status, answer.json.detail]).toEqual([400, expect.stringMatching(/^repo_url /)]);
  },
);
