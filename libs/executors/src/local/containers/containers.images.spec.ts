import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RevisionAssignment, Step } from '../../port/executor';
import { EngineDouble } from '../../testing/engine.double';
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
