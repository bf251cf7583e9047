import 'reflect-metadata';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { masterKeyFile } from '@fairlead/eventing';
import { startEmbedded } from '@fairlead/postgres';
import { adminKey, banner, type Edge, makeDataDirectory, run, type Settings, shownUrl } from '@fairlead/service';
import { Cluster, NAME_WIDTH } from './cluster';
import { Log } from './log';

const USAGE = `npm run cluster -- [--replicas <1 to 9>]
  Every service as a process of its own, or as many as asked for. Ctrl-C stops them; SIGHUP replaces one after the other.`;
/** Connections to the database that a process needs at most. */
const CONNECTIONS = 25;

const replicas = readReplicas();
const log = new Log((line) => console.log(line), process.stdout.isTTY, NAME_WIDTH);
void run(
  startCluster,
  ({ url, key }) => `${banner(url, key)}\nReplace every process, one after the other: kill -HUP ${process.pid}\n`,
);

async function startCluster(settings: Settings): Promise<Edge> {
  makeDataDirectory(settings.dataDir);
  const key = adminKey(settings);
  if (!settings.masterKeys) await masterKeyFile(join(settings.dataDir, 'master.key'));
  const database = settings.databaseUrl ? undefined : await startPostgres(settings);
  const cluster = new Cluster({
    env: { ...process.env, FAIRLEAD_DATA_DIR: settings.dataDir, DATABASE_URL: settings.databaseUrl ?? database?.url },
    port: settings.port,
    replicas,
    log,
  });
  const stop = async () => {
    await cluster.stop();
    await database?.stop();
  };
  try {
    const url = shownUrl(settings.host, await cluster.start());
    process.on('SIGHUP', () => void roll(cluster));
    return { url, key, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function startPostgres({ dataDir }: Settings) {
  return startEmbedded({
    dataDir: join(dataDir, 'postgres'),
    log: (line) => log.say('postgres', line),
    settings: { max_connections: String(CONNECTIONS * 6 * replicas) },
  });
}

async function roll(cluster: Cluster): Promise<void> {
  const say = (line: string) => log.say('cluster', line);
  say('Every process is replaced, one after the other.');
  await cluster.roll().then(
    () => say('Every process has been replaced.'),
    (error: Error) => say(`${error.message} The others are left as they are.`),
  );
}

function readReplicas(): number {
  try {
    const { values } = parseArgs({ options: { replicas: { type: 'string', default: '1' } } });
    if (/^[1-9]$/.test(values.replicas)) return Number(values.replicas);
  } catch (error) {
    console.error((error as Error).message);
  }
  console.error(USAGE);
  process.exit(2);
}
