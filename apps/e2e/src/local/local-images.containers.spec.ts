import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { ImageRegistry, makeProgramLayer } from '@fairlead/executors/testing';
import { Installation, startTogether } from '@fairlead/service/testing';

const folder = mkdtempSync(join(tmpdir(), 'fairlead-local-images-'));
const registry = new ImageRegistry();
let installation: Installation;

beforeAll(async () => {
  await registry.start();
  installation = await Installation.start({ EXECUTOR: 'local' }, startTogether);
});
afterAll(async () => {
  await installation?.stop();
  await registry.stop();
  rmSync(folder, { recursive: true, force: true });
});

it('an image answers at its address, and its runs arrive in the tracing project of its deployment', async () => {
  const config = { Cmd: ['/app/node', '/app/server.js'], Env: ['VERSION=one'] };
  registry.push('agent', 'one', makeProgramLayer(folder), config);
  const { id, latest_revision_id } = await installation.ask('POST', '/v2/deployments', {
    ...{ name: 'Contained', source: 'external_container', source_config: {}, secrets: [] },
    source_revision_config: { image_uri: registry.reference('agent:one') },
  });
  const revision = await until(
    () => installation.ask('GET', `/v2/deployments/${id}/revisions/${latest_revision_id}/wait?timeout=60`),
    ({ status }) => /DEPLOYED|FAILED/.test(status),
  );
  const path = `/v1/projects/${id}/revisions/${latest_revision_id}/deploy_logs`;
  const { logs } = await installation.ask('POST', path, {});
  expect([revision.status, logs.at(-1).message]).toEqual(['DEPLOYED', `It is ready at /apps/${id}/.`]);
  const { did, env } = await installation.ask('GET', `/apps/${id}/trace`);
  expect(did).toMatch(/^202 /);
  expect(env).toMatchObject({ LANGSMITH_TRACING: 'true', LANGSMITH_PROJECT: 'Contained' });
  const [session] = await until(
    () => installation.ask('GET', '/api/v1/sessions?name=Contained'),
    (sessions) => sessions.length > 0,
  );
  const query = { session: [session.id], is_root: true };
  const { runs } = await until(
    () => installation.ask('POST', '/api/v1/runs/query', query),
    (answer) => answer.runs.length > 0,
  );
  expect(runs).toMatchObject([{ name: 'from a container' }]);
  await installation.ask('DELETE', `/v2/deployments/${id}`);
  await until(
    () => installation.send('GET', `/v2/deployments/${id}`),
    ({ status }) => status === 404,
  );
});
