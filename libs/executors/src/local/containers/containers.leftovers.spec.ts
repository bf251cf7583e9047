import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineDouble } from '../../testing/engine.double';
import { Containers } from './containers.client';

it('a container that could not be removed because the engine was gone is removed when that is back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-leftovers-'));
  const socket = join(folder, 'engine.sock');
  const engine = new EngineDouble(socket);
  const words = [process.execPath, '-e', 'setInterval(() => undefined, 1000)'];
  engine.images.set('agent', { Id: 'sha256:agent', words, env: {} });
  await engine.start();
  const containers = new Containers(folder, [socket], false);
  const image = { id: 'sha256:agent', port: 8123, pulled: false };
  const wanted = { deploymentId: 'one', revisionId: 'first', image, env: {}, port: 0 };
  const container = await containers.start(wanted, () => undefined);
  await engine.stop();
  expect(await container.ended).toContain('was lost');
  await engine.start();
  try {
    expect([engine.containers.size, engine.networks.size]).toEqual([1, 1]);
    await containers.engine();
    expect([engine.containers.size, engine.networks.size]).toEqual([0, 0]);
  } finally {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
