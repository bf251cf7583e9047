import { createRequire } from 'node:module';
import { KafkaJSError } from 'kafkajs';

/** The object that runs a consumer inside kafkajs, as far as it is used here. */
interface Runner {
  readonly running: boolean;
  readonly fetch: (this: Runner, nodeId: number) => Promise<unknown[]>;
}

const { prototype: runner } = createRequire(__filename)('kafkajs/src/consumer/runner') as { prototype: Runner };
const ENDED = Symbol('fetching ends with the consumer');

/**
 * Makes fetching end when its consumer has been stopped. When the brokers change at the moment of the stop, kafkajs 2.2.4
 * begins to fetch anew for the stopped consumer: each fetch resolves at once with nothing and the next one follows without a
 * turn of the event loop, so that the process does nothing else any more. A fetch that rejects ends that: kafkajs tries
 * again after a moment, sees that the consumer was stopped, and leaves it.
 */
export function endFetchingWhenStopped(): void {
  if (ENDED in runner) return;
  const { fetch } = runner;
  Object.assign(runner, {
    [ENDED]: true,
    async fetch(this: Runner, nodeId: number): Promise<unknown[]> {
      if (!this.running) throw new KafkaJSError('The consumer was stopped.', { retriable: true });
      return fetch.call(this, nodeId);
    },
  });
}
