import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { until } from '@fairlead/postgres/testing';
import { Installation } from '@fairlead/service/testing';

let directory: string;
let installation: Installation;

async function start(settings: Record<string, string> = {}): Promise<void> {
  installation = await Installation.start(settings);
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'fairlead-rollouts-'));
});
afterEach(async () => {
  await installation.stop();
  rmSync(directory, { recursive: true, force: true });
});

const ask = (...request: Parameters<Installation['send']>) => installation.send(...request);
const wait = (id: string, rid: string) =>
  until(
    () => ask('GET', `/v2/deployments/${id}/revisions/${rid}/wait?timeout=20`),
    ({ json }) => /FAILED|DEPLOYED/.test(json.status),
  );
const container = {
  name: 'agent',
  source: 'external_container',
  source_config: {},
  source_revision_config: { image_uri: 'registry.example/agent:1' },
  secrets: [],
};

it('deploys without being told how, and removes what is deleted', async () => {
  await start();
  const { json: created } = await ask('POST', '/v2/deployments', container);
  const { json: revision } = await wait(created.id, created.latest_revision_id);
  expect(revision.status).toBe('DEPLOYED');
  const { json: deployment } = await ask('GET', `/v2/deployments/${created.id}`);
  expect(deployment).toMatchObject({ status: 'READY', active_revision_id: revision.id });
  expect((await ask('DELETE', `/v2/deployments/${created.id}`)).status).toBe(204);
  for (let status = 200; status !== 404;) ({ status } = await ask('GET', `/v2/deployments/${created.id}`));
  expect((await ask('POST', '/v2/deployments', container)).status).toBe(201);
});

it('builds an uploaded archive with the operator’s command, and shows its log', async () => {
  const build = join(directory, 'build.sh');
  writeFileSync(build, '#!/bin/sh\necho "building $FAIRLEAD_SECRET_TOKEN"\ngzip -dc "$1"\n');
  chmodSync(build, 0o755);
  await start({ EXECUTOR: 'command', COMMAND_BUILD: `${build} {source_tarball}` });
  const empty = {
    source: 'internal_source',
    source_revision_config: {},
    secrets: [{ name: 'TOKEN', value: 'sesame' }],
  };
  const { json: created } = await ask('POST', '/v2/deployments', { ...container, ...empty });
  const { json: upload } = await ask('POST', `/v2/deployments/${created.id}/upload-url`);
  expect((await fetch(upload.upload_url, { method: 'PUT', body: gzipSync('the source\n') })).status).toBe(200);
  const { json: patched } = await ask('PATCH', `/v2/deployments/${created.id}`, {
    revision_source: 'internal_source',
    source_revision_config: { source_tarball_path: upload.object_path, langgraph_config_path: 'langgraph.json' },
  });
  const { json: revision } = await wait(created.id, patched.latest_revision_id);
  expect(revision.status).toBe('DEPLOYED');
  const logs = `/v1/projects/${created.id}/revisions/${revision.id}/build_logs`;
  const { json } = await ask('POST', logs, { order: 'asc', limit: 50 });
  expect(json.logs.map(({ message }: { message: string }) => message)).toEqual(['building [redacted]', 'the source']);
  expect(typeof json.next_offset).toBe('string');
});

it('ends a rollout at the time limit', async () => {
  await start({ EXECUTOR: 'command', COMMAND_DEPLOY: 'sleep 600', ROLLOUT_TIME_LIMIT: '1' });
  const { json: created } = await ask('POST', '/v2/deployments', container);
  const { json: revision } = await wait(created.id, created.latest_revision_id);
  expect(revision.status).toBe('DEPLOY_FAILED');
});
