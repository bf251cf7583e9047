import { setMaxListeners } from 'node:events';
import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { attacks, type Hostile } from './attacks';
import { Connections } from './connections';

/** Message to the attacking process when it is forked. */
export interface Orders extends Hostile {
  readonly port: number;
}

/** Rounds of each attack so far. */
export type Rounds = Record<string, number>;

/** An attack that is refused at once is not repeated faster than this. */
const PAUSE_MS = 50;

/** An attacker sits on a machine of its own: here it leaves the processors to the service. */
setPriority(15);

/** All attacks at once, each again and again, in a process of its own until the process that forked it says stop. */
process.once('message', (orders: Orders) => {
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  const connections = new Connections(orders.port, ending.signal);
  const rounds: Rounds = {};
  const running = Object.entries(attacks(orders)).map(async ([name, attack]) => {
    for (rounds[name] = 0; !ending.signal.aborted; rounds[name]++) {
      await attack(connections).catch(() => undefined);
      await delay(PAUSE_MS);
    }
  });
  process.once('message', () => {
    ending.abort();
    void Promise.all(running).then(() => process.send!(rounds, () => process.exit()));
  });
});
process.once('disconnect', () => process.exit());
