import { createRequire } from 'node:module';
import { endFetchingWhenStopped } from './stopped-consumer';

const load = createRequire(__filename);
const logger = { info: () => undefined, debug: () => undefined, namespace: () => logger };

function fetchingFor(consumer: { running: boolean }, fetched: () => unknown[]): { start: () => Promise<void> } {
  const { prototype } = load('kafkajs/src/consumer/runner');
  const runner = Object.assign(Object.create(prototype), {
    logger,
    instrumentationEmitter: { emit: () => undefined },
    consumerGroup: { fetch: async () => fetched() },
    heartbeat: async () => undefined,
  });
  Object.defineProperty(runner, 'running', { get: () => consumer.running });
  return load('kafkajs/src/consumer/fetchManager')({
    logger,
    getNodeIds: () => [1, 2],
    fetch: (nodeId: number) => runner.fetch(nodeId),
    handler: async () => undefined,
  });
}

describe('Fetching for a consumer', () => {
  beforeAll(() => {
    endFetchingWhenStopped();
    // Twice is as good as once.
    endFetchingWhenStopped();
  });

  it('ends when it begins after the consumer was stopped', async () => {
    await expect(fetchingFor({ running: false }, () => []).start()).rejects.toThrow('The consumer was stopped.');
  });

  it('goes on until the consumer is stopped', async () => {
    const consumer = { running: true };
    let fetched = 0;
    const fetching = fetchingFor(consumer, () => {
      if (++fetched === 10) consumer.running = false;
      return [];
    });
    await expect(fetching.start()).rejects.toThrow('The consumer was stopped.');
    expect(fetched).toBeGreaterThanOrEqual(10);
  });
});
