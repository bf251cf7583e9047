import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Log } from './log';
import { Replica } from './replica';

export interface RunningKafka {
  /** What `KAFKA_BROKERS` takes. */
  readonly addresses: string;
  stop(): Promise<void>;
}

const TOOL = join(__dirname, '../../../tools/kafka/kafka.mjs');

/** A broker that keeps its data in `directory`; undefined where none can run, as without Java, and the log says why. */
export async function startKafka(directory: string, log: Log): Promise<RunningKafka | undefined> {
  const say = (line: string) => log.say('kafka', line);
  let told: (addresses: string) => void = () => undefined;
  const addresses = new Promise<string>((resolve) => (told = resolve));
  const kafka = new Replica({
    name: 'kafka',
    say: (line) => {
      say(line);
      const found = /KAFKA_BROKERS=(\S+)/.exec(line)?.[1];
      if (found !== undefined) told(found);
    },
    launch: () => fork(TOOL, ['--data', directory], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }),
    ready: async (gone) => {
      const ended = new Promise<never>((_, reject) =>
        gone.addEventListener('abort', () => reject(new Error('It ended.'))),
      );
      await Promise.race([addresses, ended]);
    },
  });
  try {
    await kafka.start();
  } catch {
    say('There is no Kafka: services follow the log itself.');
    return undefined;
  }
  return { addresses: await addresses, stop: () => kafka.stop() };
}
