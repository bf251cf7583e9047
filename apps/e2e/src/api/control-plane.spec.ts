import { setTimeout as pause } from 'node:timers/promises';
import { CodeHostServer } from '@fairlead/integrations/testing';
import { Installation } from '@fairlead/service/testing';

/** From a repository to a deployment and back: what scripts against the incumbent's control plane do, step by step. */

const SETTLED = ['DEPLOYED', 'CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'SKIPPED', 'INTERRUPTED'];

let installation: Installation;
let host: CodeHostServer;

beforeAll(async () => {
  host = await CodeHostServer.start('github');
  installation = await Installation.start({ OUTBOUND_ALLOW: '127.0.0.1' });
});
afterAll(async () => {
  await installation?.stop();
  await host?.stop();
});

const ask = (...request: Parameters<Installation['send']>) => installation.send(...request);

const SPECIFICATION = {
  source: 'codehost',
  config: 'graph_config_path',
  repositories: 'codehost',
  managed: 'managed/codehost',
};
const WIRE = { source: 'github', config: 'langgraph_config_path', repositories: 'github', managed: 'forge/github' };

describe.each([
  { base: '', sent: SPECIFICATION, answered: SPECIFICATION },
  { base: '', sent: WIRE, answered: SPECIFICATION },
  { base: '/api-host', sent: SPECIFICATION, answered: WIRE },
  { base: '/api-host', sent: WIRE, answered: WIRE },
])('Below "$base", spelled as $sent.source', ({ base, sent, answered }) => {
  const deployments = `${base}/v2/deployments`;
  const integrations = `${base}/v1/integrations`;
  let integration: string;

  /** Polls the latest revision of a deployment until it has ended; its commit may be told of a moment after that. */
  async function waitForDeployment(id: string) {
    for (;;) {
      const { json: listed } = await ask('GET', `${deployments}/${id}/revisions`);
      const { json: revision } = await ask('GET', `${deployments}/${id}/revisions/${listed.resources[0].id}`);
      const { repo_commit_sha } = revision.source_revision_config;
      if (revision.status === 'DEPLOYED' ? repo_commit_sha : SETTLED.includes(revision.status)) return revision;
      await pause(50);
    }
  }

  beforeAll(async () => {
    const credentials = { token: 'ghp_good' };
    const wanted = { name: `host of ${sent.source}${base}`, provider: 'github', base_url: host.origin, credentials };
    integration = (await ask('POST', '/v1/integrations', wanted)).json.id;
  });
  afterAll(() => ask('DELETE', `/v1/integrations/${integration}`));

  it.each(['repositories', 'managed'] as const)('finds integrations and repositories: %s', async (listing) => {
    const { status, json: installed } = await ask('GET', `${integrations}/${sent[listing]}/install`);
    expect(status).toBe(200);
    expect(installed).toEqual([
      { id: integration, installation_id: expect.any(Number) as number, name: `host of ${sent.source}${base}` },
    ]);
    const { status: found, json: repositories } = await ask(
      'GET',
      `${integrations}/${sent[listing]}/${integration}/repos`,
    );
    expect(found).toBe(200);
    expect(repositories).toHaveLength(host.repositories);
    expect(repositories[0]).toEqual({
      host_integration_id: integration,
      id: expect.any(Number) as number,
      name: 'agent-0',
      owner: 'octo-org',
      url: `${host.origin}/octo-org/agent-0`,
      default_branch: 'main',
    });
  });

  it('creates from a repository record, waits, patches, waits, deletes', async () => {
    const { json: repositories } = await ask('GET', `${integrations}/${sent.repositories}/${integration}/repos`);
    const [{ host_integration_id, url, default_branch }] = repositories;
    const { status: created, json: made } = await ask('POST', deployments, {
      name: `from a record ${sent.source}${base}`,
      source: sent.source,
      source_config: {
        integration_id: host_integration_id,
        repo_url: url,
        deployment_type: 'dev',
        build_on_push: false,
        custom_url: null,
        resource_spec: null,
      },
      source_revision_config: { repo_ref: default_branch, [sent.config]: 'langgraph.json', image_uri: null },
      secrets: [{ name: 'MODEL_KEY', value: 'not-so-secret' }],
    });
    expect({ created, made }).toMatchObject({
      created: 201,
      made: {
        source: answered.source,
        source_config: { integration_id: host_integration_id, repo_url: url, deployment_type: 'dev' },
        source_revision_config: { repo_ref: 'main', [answered.config]: 'langgraph.json' },
        active_revision_id: null,
      },
    });
    const first = await waitForDeployment(made.id);
    expect(first).toEqual({
      id: made.latest_revision_id,
      created_at: expect.any(String) as string,
      updated_at: expect.any(String) as string,
      status: 'DEPLOYED',
      source: answered.source,
      source_revision_config: expect.objectContaining({
        repo_ref: 'main',
        [answered.config]: 'langgraph.json',
        repo_commit_sha: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
      }) as object,
    });
    expect((await ask('GET', `${deployments}/${made.id}`)).json).toMatchObject({
      status: 'READY',
      active_revision_id: first.id,
    });

    const { status: patchedStatus, json: patched } = await ask('PATCH', `${deployments}/${made.id}`, {
      source_config: { build_on_push: true },
      source_revision_config: { repo_ref: 'feature/x', [sent.config]: 'agents/langgraph.json' },
    });
    expect(patchedStatus).toBe(200);
    expect(patched.latest_revision_id).not.toBe(first.id);
    expect(patched).toMatchObject({ source_config: { build_on_push: true }, active_revision_id: first.id });
    const second = await waitForDeployment(made.id);
    expect(second).toMatchObject({ id: patched.latest_revision_id, status: 'DEPLOYED' });
    expect(second.source_revision_config).toMatchObject({
      repo_ref: 'feature/x',
      [answered.config]: 'agents/langgraph.json',
    });

    expect(await ask('DELETE', `${deployments}/${made.id}`)).toEqual({ status: 204, json: undefined });
    let gone = await ask('GET', `${deployments}/${made.id}`);
    while (gone.status === 200) {
      await pause(50);
      gone = await ask('GET', `${deployments}/${made.id}`);
    }
    expect(gone).toEqual({ status: 404, json: { detail: `Deployment ID ${made.id} not found.` } });
  });
});
