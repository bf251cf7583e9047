import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Log } from './log';
import { Replica } from './replica';

export interface RunningKafka {
  /** Value of `KAFKA_BROKERS`. */
  readonly addresses: string;
  stop(): Promise<void>;
}

const TOOL = join(__dirname, '../../../tools/kafka/kafka.mjs');

/** A broker that keeps its data in `directory`; undefined where none can run, as without Java, and the log says why. */
export async function startKafka(directory: string, log: Log): Promise<RunningKafka | undefined> {
  const say = (line: string) => log.say('kafka', line);
  let [addresses, isReady] = ['', (): void => undefined];
  const kafka = new Replica({
    name: 'kafka',
    say: (line) => {
      say(line);
      const [, found] = /KAFKA_BROKERS=(\S+)/.exec(line) ?? [];
      if (found === undefined) return;
      addresses = found;
      isReady();
    },
    launch: () => fork(TOOL, ['--data', directory], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }),
    ready: (gone) =>
      new Promise((resolve, reject) => {
        isReady = resolve;
        gone.addEventListener('abort', () => reject(new Error('It ended.')));
      }),
  });
  try {
    await kafka.start();
  } catch {
    say('There is no Kafka: services follow the log itself.');
    return undefined;
  }
  return { addresses, stop: () => kafka.stop() };
}
