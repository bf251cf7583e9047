import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '@fairlead/postgres/testing';
import { EngineDouble } from '../../testing/engine.double';
import { ContainerProcess } from './container-process';
import { Containers } from './containers.client';
import type { EngineClient } from './engine.client';

it('the engine keeps a limited part of what a container writes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-output-'));
  const socket = join(folder, 'engine.sock');
  const engine = new EngineDouble(socket);
  engine.images.set('agent', { Id: 'sha256:agent', words: [process.execPath, '-e', ''], env: {} });
  await engine.start();
  try {
    const containers = new Containers(folder, [socket], false);
    const image = { id: 'sha256:agent', port: 8123, pulled: false };
    const wanted = { deploymentId: 'one', revisionId: 'first', image, env: {}, port: 0 };
    const container = await containers.start(wanted, () => undefined);
    await container.ended;
    expect(engine.created.map(({ HostConfig }) => HostConfig.LogConfig)).toEqual([
      { Type: 'json-file', Config: { 'max-size': '16m' } },
    ]);
  } finally {
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

it('a container that writes without end is read at a limited rate', async () => {
  const frame = Buffer.alloc(8 + 1024 ** 2, 'a');
  frame.fill(0, 0, 8);
  frame[0] = 1;
  frame.writeUInt32BE(1024 ** 2, 4);
  async function* written() {
    for (;;) {
      await delay(1);
      yield frame;
    }
  }
  let end: (answer: object) => void = () => undefined;
  const call = (_method: string, path: string) =>
    path.endsWith('/wait') ? new Promise((resolve) => (end = resolve)) : Promise.resolve({});
  const open = (_method: string, path: string) =>
    path.includes('/logs') ? Promise.resolve(written()) : Promise.reject(new Error('It tells no use.'));
  const begun = performance.now();
  let megabytes = 0;
  const notes: string[] = [];
  const container = new ContainerProcess(
    { call, open } as unknown as EngineClient,
    'one',
    { memory: 1e9, disk: 1e9 },
    (_, text) => (text.startsWith('a') ? megabytes++ : notes.push(text)),
    async () => undefined,
  );
  await until(
    () => megabytes,
    (count) => count >= 12,
  );
  end({ StatusCode: 0 });
  await container.ended;
  const seconds = (performance.now() - begun) / 1000;
  // Four megabytes at once, four a second, those after which it waits, and sixteen after its end.
  expect(megabytes).toBeLessThanOrEqual(4 + 4 * seconds + 2 + 16);
  expect(notes).toEqual(['What the program wrote after this, at its end, was not read.\n']);
});
