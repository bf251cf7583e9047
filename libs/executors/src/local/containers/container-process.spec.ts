import { ContainerProcess } from './container-process';
import type { EngineClient } from './engine.client';

/** Jest replaces the global timers only; these are made of them. */
jest.mock('node:timers/promises', () => ({
  setTimeout: (ms: number, value: unknown, { signal }: { signal: AbortSignal }) =>
    new Promise((resolve, reject) => {
      setTimeout(resolve, ms, value);
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    }),
}));
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

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
  const stopped = container.stop();
  await jest.advanceTimersByTimeAsync(60_000);
  await stopped;
  expect(await container.ended).toBe('was lost: It hangs.');
  expect(removals).toBeGreaterThan(0);
});

it('what a container writes to the volumes of its image counts, also after the engine was busy', async () => {
  let looks = 0;
  let end: (answer: object) => void = () => undefined;
  const answers: Readonly<Record<string, () => unknown>> = {
    '/containers/one/wait': () => new Promise((resolve) => (end = resolve)),
    '/containers/one/kill': () => end({ StatusCode: 137 }),
    '/containers/one/json': () => ({ State: {} }),
    '/containers/one/json?size=1': () => {
      looks++;
      if (looks === 1) throw new Error('It is busy.');
      return { SizeRw: 100, Mounts: [{ Type: 'volume', Name: 'own' }, { Type: 'tmpfs' }] };
    },
    '/system/df?type=volume': () => ({
      Volumes: [
        { Name: 'other', UsageData: { Size: 5e9 } },
        { Name: 'own', UsageData: { Size: 2e9 } },
      ],
    }),
  };
  const call = async (_method: string, path: string) => answers[path]!();
  const open = () => Promise.reject(new Error('It tells no use.'));
  const container = new ContainerProcess(
    { call, open } as unknown as EngineClient,
    'one',
    { memory: 1e9, disk: 1e9 },
    () => undefined,
    async () => undefined,
  );
  await jest.advanceTimersByTimeAsync(60_000);
  expect(await container.ended).toBe('wrote more files than its limit of 1000 MB');
  expect(container.isFull).toBe(true);
  expect(looks).toBeGreaterThan(1);
});
