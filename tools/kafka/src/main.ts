import { parseArgs } from 'node:util';
import { fetchJars, KafkaProblem, startKafka } from '.';

const USAGE = `npm run kafka -- [--brokers 1|3] [--data <directory>]
  Starts Kafka on 127.0.0.1 and prints the addresses; Ctrl-C stops it. Data is kept in <directory> (.fairlead/kafka).
npm run kafka -- --fetch
  Only fetches the jars (Maven), so that the tests that need Kafka can run.`;

/** A terminal sends Ctrl-C to npm and to this process, and npm passes it on: what comes so soon is the same signal. */
const SAME_SIGNAL_MS = 1000;

void main().catch((error: unknown) => {
  console.error(error instanceof KafkaProblem ? error.message : error);
  process.exit(1);
});

async function main(): Promise<void> {
  const options = readArguments();
  if (options.fetch) return void console.log(`Kafka's jars are in ${await fetchJars()}`);
  console.log('Kafka is starting …');
  const brokers = options.brokers === '3' ? 3 : 1;
  const log = (line: string) => console.log(line);
  const kafka = await startKafka({ directory: options.data, brokers, log, revive: true });
  console.log(`\nKafka is ready:\n\n  KAFKA_BROKERS=${kafka.addresses}\n`);
  let stoppingSince: number | undefined;
  const stop = (why: string) => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    console.log(`${why}: stopping; send it again to stop at once.`);
    void kafka.stop().then(() => process.exit(0));
  };
  // A process that another one has started leaves Ctrl-C to that one, and ends with it.
  if (process.connected) process.on('SIGINT', () => undefined).once('disconnect', () => stop('No parent'));
  else process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        brokers: { type: 'string', default: '1' },
        data: { type: 'string', default: '.fairlead/kafka' },
        fetch: { type: 'boolean', default: false },
      },
    });
    if (values.brokers === '1' || values.brokers === '3') return values;
  } catch (error) {
    console.error((error as Error).message);
  }
  console.error(USAGE);
  process.exit(2);
}
