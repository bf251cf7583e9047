import { ContainerProcess } from './container.process';
import type { EngineClient } from './engine.client';

it('a container is given up that an engine that hangs does not tell the end of', async () => {
  const call = (_method: string, path: string, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((_, reject) => {
      if (path.endsWith('/wait')) signal!.addEventListener('abort', () => reject(new Error('It hangs.')));
      else reject(new Error('It took too long.'));
    });
  const open = () => Promise.reject(new Error('It took too long.'));
  const engine = { call, open } as unknown as EngineClient;
  let removals = 0;
  const container = new ContainerProcess(
    engine,
    'one',
    { memory: 1e9, disk: 1e9 },
    () => undefined,
    async () => void removals++,
  );
  await container.stop();
  expect(await container.ended).toBe('was lost: It hangs.');
  expect(removals).toBeGreaterThan(0);
});
