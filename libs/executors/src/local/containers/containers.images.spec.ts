import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PreviewAssignment, RevisionAssignment, Step } from '../../port/executor';
import { EngineDouble } from '../../testing/engine.double';
import { previewName } from '../app-previews';
import { LocalApps } from '../local-apps';
import { Containers } from './containers.client';
import { LocalExecutor } from '../local-executor';

const SERVER = `require('node:http').createServer((_, response) => response.end()).listen(process.env.PORT);`;

it('an image that was pulled goes with the revision that fails, and with the last deployment that runs it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-images-'));
  const socket = join(folder, 'engine.sock');
  const engine = new EngineDouble(socket);
  engine.registry.set('team/agent:1', { Id: 'sha256:one', words: [process.execPath, '-e', SERVER], env: {} });
  engine.registry.set('team/agent:2', {
    Id: 'sha256:two',
    words: [process.execPath, '-e', 'process.exit(1)'],
    env: {},
  });
  await engine.start();
  const apps = new LocalApps(join(folder, 'apps'), {}, false, new Containers(folder, [socket], false));
  apps.begin(
    async () => undefined,
    async () => undefined,
    () => undefined,
  );
  const executor = new LocalExecutor(apps);
  const step = { signal: new AbortController().signal, log: async () => undefined } as unknown as Step;
  const rollOut = async (deploymentId: string, image_uri: string) => {
    const steps = executor.rollOut({
      ...{ deploymentId, tenantId: 'tenant', name: deploymentId, config: {}, commit: null },
      revision: { revision_id: 'first', source: 'external_container', source_revision_config: { image_uri } },
      secrets: async () => new Map(),
    } as unknown as RevisionAssignment);
    await steps.pull!(step);
    await steps.deploy(step);
  };
  const images = () => [...engine.images.keys()];
  try {
    await expect(rollOut('one', 'team/agent:2')).rejects.toThrow('ended with exit code 1');
    expect(images()).toEqual([]);
    await rollOut('one', 'team/agent:1');
    await rollOut('two', 'team/agent:1');
    await apps.remove('one');
    expect(images()).toEqual(['team/agent:1']);
    await apps.remove('two');
    expect(images()).toEqual([]);
  } finally {
    await apps.end();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

it('the image of a held revision answers beside the live one, and goes with its container when it ends', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-images-'));
  const socket = join(folder, 'engine.sock');
  const engine = new EngineDouble(socket);
  const serving = (version: string) => {
    const answers = `response.end(JSON.stringify({ version: '${version}', env: process.env }))`;
    return SERVER.replace('response.end()', answers);
  };
  for (const version of ['1', '2']) {
    const words = [process.execPath, '-e', serving(version)];
    engine.registry.set(`team/agent:${version}`, { Id: `sha256:${version}`, words, env: {} });
  }
  await engine.start();
  const containers = new Containers(folder, [socket], false);
  const apps = new LocalApps(join(folder, 'apps'), { awake: 2 }, false, containers);
  const token = new Map([['TOKEN', 'sesame']]);
  apps.begin(
    async ([revision]) => ({ revision: revision!, secrets: revision!.isPreview ? new Map() : token, sizes: null }),
    async () => undefined,
    () => undefined,
  );
  const executor = new LocalExecutor(apps);
  const step = { signal: new AbortController().signal, log: async () => undefined } as unknown as Step;
  const assignment = (revision_id: string, image_uri: string) =>
    ({
      ...{ deploymentId: 'one', tenantId: 'tenant', name: 'agent', config: {}, commit: null },
      revision: { revision_id, source: 'external_container', source_revision_config: { image_uri } },
      secrets: async () => token,
      preview: { project: 'agent@second', secrets: false },
    }) as unknown as PreviewAssignment;
  const ask = async (name: string) => {
    const { port, end } = await apps.runners.enter(name);
    const answer = (await (await fetch(`http://127.0.0.1:${port}/`)).json()) as {
      version: string;
      env: NodeJS.ProcessEnv;
    };
    end();
    return answer;
  };
  const images = () => [...engine.images.keys()];
  const running = () => [...engine.containers.values()].filter(({ child }) => child?.exitCode === null).length;
  const second = '0198c0de-0000-7000-8000-000000000002';
  try {
    const steps = executor.rollOut(assignment('first', 'team/agent:1'));
    await steps.pull!(step);
    await steps.deploy(step);
    const held = assignment(second, 'team/agent:2');
    expect(await executor.previews.begin(held, step)).toBe(`/apps/agent@${second}`);
    // It starts with its first request.
    expect([images(), running()]).toEqual([['team/agent:1', 'team/agent:2'], 1]);
    const { version, env } = await ask(previewName('one', second));
    expect(version).toBe('2');
    expect(env).toMatchObject({ LANGCHAIN_REVISION_ID: second });
    expect(env).not.toHaveProperty('TOKEN');
    expect(await ask('one')).toMatchObject({ version: '1', env: { TOKEN: 'sesame' } });
    expect(running()).toBe(2);
    // Its memory counts as that of its deployment.
    expect(apps.uses().map(({ deployment_id }) => deployment_id)).toEqual(['one']);
    await executor.previews.end(held, step);
    expect([images(), running()]).toEqual([['team/agent:1'], 1]);
    expect(apps.previews.find('tenant', `agent@${second}`)).toBeUndefined();
    await expect(apps.runners.enter(previewName('one', second))).rejects.toThrow();
    expect(await ask('one')).toMatchObject({ version: '1' });
    // One of the same image leaves that to the live revision.
    const third = '0198c0de-0000-7000-8000-000000000003';
    await executor.previews.begin(assignment(third, 'team/agent:1'), step);
    expect(await ask(previewName('one', third))).toMatchObject({ version: '1', env: { LANGCHAIN_REVISION_ID: third } });
    await apps.stop('one');
    expect(running()).toBe(0);
    await executor.previews.end(assignment(third, 'team/agent:1'), step);
    expect(images()).toEqual(['team/agent:1']);
  } finally {
    await apps.end();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
