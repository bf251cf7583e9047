import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type Admin, Kafka, type KafkaConfig, logLevel } from 'kafkajs';
import type { KafkaSettings } from './settings';
import { disconnect, silence } from './silence';
import { endFetchingWhenStopped } from './stopped-consumer';

const PARTITIONS = 6;
const COPIES = 3;
const LED_MS = 10_000;
/** A connection on which a request has had no response for so long (ms) counts as dead: the client is replaced. */
const REQUEST_MS = 5000;
/** Kept for ever: a consumer that has been away misses nothing, and a new one can begin at the beginning. */
const TOPIC = { 'retention.ms': '-1', 'cleanup.policy': 'delete' };
const LEVELS: Partial<Record<logLevel, 'debug' | 'verbose'>> = {
  [logLevel.ERROR]: 'debug',
  [logLevel.WARN]: 'verbose',
};

/** A Kafka cluster, and the topics of this installation in it. */
export class KafkaCluster {
  readonly client: Kafka;

  constructor(private readonly settings: KafkaSettings) {
    const { brokers, tls, sasl } = settings;
    const logger = new Logger('Kafka');
    endFetchingWhenStopped();
    this.client = new Kafka({
      clientId: 'fairlead',
      brokers: [...brokers],
      ssl: tls && { ca: tls.ca },
      sasl: sasl as KafkaConfig['sasl'],
      connectionTimeout: 3000,
      authenticationTimeout: 5000,
      requestTimeout: REQUEST_MS,
      retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 4 },
      logLevel: logLevel.WARN,
      // Whoever uses the client reports what it could not do; this tells only how it came to that.
      logCreator:
        () =>
        ({ level, log }) =>
          logger[LEVELS[level] ?? 'verbose'](log.message),
    });
  }

  name(name: string): string {
    return this.settings.prefix + name;
  }

  /**
   * Makes the topics that are missing, each with as many copies as there are brokers, three at most, and waits until
   * every topic is led. Answers the cluster's id. @throws Error when the cluster cannot be reached.
   */
  async prepare(topics: readonly string[]): Promise<string> {
    const admin = this.client.admin();
    const names = topics.map((topic) => this.name(topic));
    try {
      return await Promise.race([silence(admin), this.make(admin, names)]);
    } finally {
      await disconnect(admin);
    }
  }

  private async make(admin: Admin, topics: string[]): Promise<string> {
    await admin.connect();
    const { brokers, clusterId } = await admin.describeCluster();
    await this.create(admin, topics, Math.min(COPIES, brokers.length));
    await led(admin, topics);
    return clusterId;
  }

  private async create(admin: Admin, topics: readonly string[], copies: number): Promise<void> {
    const known = new Set(await admin.listTopics());
    const missing = topics.filter((topic) => !known.has(topic));
    if (missing.length === 0) return;
    const settings = { ...TOPIC, 'min.insync.replicas': String(Math.max(1, copies - 1)) };
    const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
    // Answers false, and changes nothing, when another process was faster.
    await admin.createTopics({
      topics: missing.map((topic) => ({ topic, numPartitions: PARTITIONS, replicationFactor: copies, configEntries })),
      timeout: 10_000,
    });
  }
}

/** A consumer that joined earlier would be given only the partitions that are known by then. */
async function led(admin: Admin, names: string[]): Promise<void> {
  for (const deadline = Date.now() + LED_MS; ; await delay(100)) {
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: names });
      if (topics.every(({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0)))
        return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    if (Date.now() > deadline) throw new Error('Some partitions have no leader.');
  }
}
