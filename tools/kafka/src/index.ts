import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { Broker, type BrokerPorts } from './broker';
import { fetchJars, hasJava, KafkaProblem } from './jars';

export { fetchJars, jars, KafkaProblem } from './jars';

interface KafkaOptions {
  /** Holds the brokers' data and ports; made when it is missing. */
  readonly directory: string;
  /** 1 when absent; 3 keep every topic three times. */
  readonly brokers?: 1 | 3;
  /** Answers the port that clients are told in the place of a broker's own: of what stands before it. */
  readonly advertise?: (port: number) => Promise<number>;
  /** Hears what the brokers say, one line at a time. */
  readonly log?: (line: string) => void;
  /** Starts a broker that ends by itself again, after a pause that grows until one serves. */
  readonly revive?: boolean;
}

export interface RunningKafka {
  /** Addresses for clients, separated by commas: what `KAFKA_BROKERS` takes. */
  readonly addresses: string;
  readonly brokers: readonly Broker[];
  /** Starts a broker that was ended; resolves when it serves again. */
  restart(broker: Broker): Promise<void>;
  /** Ends every broker in order. */
  stop(): Promise<void>;
}

interface Identity {
  readonly cluster: string;
  readonly ports: readonly BrokerPorts[];
}

const PATIENCE_MS = 120_000;
const REVIVE_MS = { first: 250, most: 10_000 };

/**
 * Starts Kafka on free ports of 127.0.0.1: brokers that are also the quorum, 512 MB heap each. The same directory gives
 * the same cluster on the same ports again. The brokers end with this process.
 * @throws KafkaProblem without Java 17, without Maven at the first time, or when a broker does not come up.
 */
export async function startKafka(options: KafkaOptions): Promise<RunningKafka> {
  const directory = resolve(options.directory);
  if (!(await hasJava())) throw new KafkaProblem('Kafka needs Java 17 or newer (java) on the path.');
  const folder = await fetchJars();
  mkdirSync(directory, { recursive: true });
  const { cluster, ports } = await identity(directory, options.brokers ?? 1);
  const log = options.log ?? (() => undefined);
  const { advertise = async (port: number) => port } = options;
  const brokers: Broker[] = [];
  for (const [n, { broker }] of ports.entries()) {
    const data = join(directory, `broker-${n + 1}`);
    brokers.push(new Broker(folder, data, n + 1, ports, await advertise(broker), log));
  }
  const stopping = new AbortController();
  const stop = async () => {
    stopping.abort();
    await Promise.all(brokers.map((broker) => broker.stop()));
  };
  try {
    await Promise.all(brokers.map((broker) => broker.start(cluster)));
    await serving(brokers, brokers.length);
  } catch (error) {
    await stop();
    throw error;
  }
  const restart = async (broker: Broker) => {
    await broker.start(cluster);
    await serving([broker], brokers.filter(({ isRunning }) => isRunning).length);
  };
  if (options.revive) for (const broker of brokers) keepAlive(broker, restart, log, stopping.signal);
  return { addresses: brokers.map(({ address }) => address).join(','), brokers, restart, stop };
}

function keepAlive(
  broker: Broker,
  restart: (broker: Broker) => Promise<void>,
  log: (line: string) => void,
  stopping: AbortSignal,
): void {
  let reviving = false;
  broker.onCrash = () => {
    if (!reviving) void revive().finally(() => (reviving = false));
  };
  const revive = async () => {
    reviving = true;
    for (let pause = REVIVE_MS.first; !broker.isRunning; pause = Math.min(2 * pause, REVIVE_MS.most)) {
      log(`${broker.name}: It ended and is started again.`);
      await delay(pause, undefined, { signal: stopping }).catch(() => undefined);
      if (stopping.aborted) return;
      await restart(broker).catch(({ message }: Error) => log(`${broker.name}: ${message}`));
    }
  };
}

/** Resolves when these brokers answer and know of so many that live. */
async function serving(brokers: readonly Broker[], live: number): Promise<void> {
  const addresses = brokers.map(({ address }) => address);
  const client = { brokers: addresses, logLevel: logLevel.NOTHING, connectionTimeout: 1000, retry: { retries: 0 } };
  for (const deadline = Date.now() + PATIENCE_MS; ; await delay(200)) {
    const dead = brokers.find(({ isRunning }) => !isRunning);
    if (dead) throw new KafkaProblem(`A broker ended: ${dead.lastWords}`);
    const admin = new Kafka(client).admin();
    try {
      await admin.connect();
      if ((await admin.describeCluster()).brokers.length >= live) return;
    } catch (error) {
      if (Date.now() > deadline) throw new KafkaProblem('Kafka did not come up in time.', { cause: error });
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }
}

async function identity(directory: string, count: number): Promise<Identity> {
  const file = join(directory, 'cluster.json');
  if (existsSync(file)) {
    const known = JSON.parse(readFileSync(file, 'utf8')) as Identity;
    if (known.ports.length === count) return known;
    throw new KafkaProblem(`${directory} holds a cluster of ${known.ports.length} brokers, not ${count}.`);
  }
  const free = await freePorts(2 * count);
  const ports = Array.from({ length: count }, (_, n) => ({ broker: free[2 * n]!, controller: free[2 * n + 1]! }));
  const made = { cluster: clusterId(), ports };
  writeFileSync(file, JSON.stringify(made));
  return made;
}

/** Begins with a letter: a hyphen would begin an option. */
function clusterId(): string {
  const bytes = randomBytes(16);
  bytes[0]! &= 0x7f;
  return bytes.toString('base64url');
}

/** Ports that nobody listens on, all different. */
async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  for (let n = 0; n < count; n++) {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    servers.push(server);
  }
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return ports;
}
