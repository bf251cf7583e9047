import 'reflect-metadata';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { masterKeyFile } from '@fairlead/eventing';
import { startEmbedded } from '@fairlead/postgres';
import { adminKey, banner, type Edge, makeDataDirectory, run, type Settings, shownUrl } from '@fairlead/service';
import { Cluster, NAME_WIDTH, processesOf } from './cluster';
import { startKafka } from './kafka';
import { Log } from './log';

const USAGE = `npm run cluster -- [--replicas <1 to 9>] [--no-kafka]
  Every service as a process of its own, or as many as asked for, on an embedded PostgreSQL, and with a Kafka broker where
  Java is there; DATABASE_URL and KAFKA_BROKERS name others. Ctrl-C stops them; SIGHUP replaces every process, of each
  service one at a time.`;
/** Connections to the database that a process makes besides those that its requests share. */
const MORE_CONNECTIONS = 5;

const { replicas, kafka: wantsKafka } = readArguments();
const log = new Log((line) => console.log(line), process.stdout.isTTY, NAME_WIDTH);
void run(
  startCluster,
  async (edge, settings) =>
    `${await banner(edge, settings)}\nReplace every process, of each service one at a time: kill -HUP ${process.pid}\n`,
);

async function startCluster(settings: Settings): Promise<Edge> {
  makeDataDirectory(settings.dataDir);
  const key = adminKey(settings);
  if (!settings.masterKeys) await masterKeyFile(join(settings.dataDir, 'master.key'));
  const database = settings.databaseUrl ? undefined : await startPostgres(settings);
  const kafka = settings.kafka || !wantsKafka ? undefined : await startKafka(join(settings.dataDir, 'kafka'), log);
  const cluster = new Cluster({
    env: {
      ...process.env,
      FAIRLEAD_DATA_DIR: settings.dataDir,
      DATABASE_URL: settings.databaseUrl ?? database?.url,
      ...(kafka && { KAFKA_BROKERS: kafka.addresses }),
    },
    port: settings.port,
    replicas,
    log,
  });
  const stop = async () => {
    await cluster.stop();
    await Promise.all([kafka?.stop(), database?.stop()]);
  };
  try {
    const url = shownUrl(settings.host, await cluster.start());
    process.on('SIGHUP', () => void roll(cluster));
    return { url, key, executor: settings.rollouts.executor, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startPostgres({ dataDir, databaseConnections }: Settings) {
  return startEmbedded({
    dataDir: join(dataDir, 'postgres'),
    log: (line) => log.say('postgres', line),
    settings: { max_connections: String((databaseConnections + MORE_CONNECTIONS) * processesOf(replicas)) },
  });
}

async function roll(cluster: Cluster): Promise<void> {
  const say = (line: string) => log.say('cluster', line);
  say('Every process is replaced, of each service one at a time.');
  await cluster.roll().then(
    () => say('Every process has been replaced.'),
    (error: Error) => say(`${error.message} The others are left as they are.`),
  );
}

function readArguments(): { readonly replicas: number; readonly kafka: boolean } {
  try {
    const options = { replicas: { type: 'string', default: '1' }, kafka: { type: 'boolean', default: true } } as const;
    const { values } = parseArgs({ options, allowNegative: true });
    if (/^[1-9]$/.test(values.replicas)) return { replicas: Number(values.replicas), kafka: values.kafka };
  } catch (error) {
    console.error((error as Error).message);
  }
  console.error(USAGE);
  process.exit(2);
}
