import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import {
  type Cluster,
  type Consumer,
  type EachBatchPayload,
  type PartitionAssigner,
  PartitionAssigners,
} from 'kafkajs';
import type { KafkaCluster } from './cluster';
import type { KafkaReceiver } from './receiver';
import { disconnect, silence } from './silence';

/** The least that brokers allow: so long nobody has the partitions of a member that was killed. */
const SESSION_MS = 6000;
const HEARTBEAT_MS = 1000;
/** While partitions are given out anew, a member may be busy for so long, and the others wait for it. */
const REBALANCE_MS = 10_000;
/** Refresh interval of topic metadata (ms): new partitions are found this late. */
const METADATA_MS = 15_000;
/** For what is being handled when the process stops. */
const FINISH_MS = 3000;
const LEAVE_MS = { most: 2000, pause: 100 };

/** A member of the library that it does not declare. */
interface Coordinator {
  leaveGroup(member: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
}

/** The place of this process in a consumer group: one member after the other, each until its connection is lost. */
export class KafkaGroup {
  private readonly logger = new Logger('KafkaGroup');
  private readonly groupId: string;
  private member: string | undefined;
  private connections: Cluster | undefined;

  constructor(
    private readonly cluster: KafkaCluster,
    name: string,
    private readonly receiver: KafkaReceiver,
    /** Called whenever the group has taken this process in. */
    private readonly joined: () => void,
  ) {
    this.groupId = cluster.name(`fairlead.${name}`);
  }

  /** Consumes until the signal aborts. @throws Error when the connection to the group is lost for good. */
  async consume(topics: readonly string[], signal: AbortSignal): Promise<void> {
    const consumer = this.cluster.client.consumer({
      groupId: this.groupId,
      partitionAssigners: [this.assigner],
      sessionTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      rebalanceTimeout: REBALANCE_MS,
      maxWaitTimeInMs: 500,
      metadataMaxAge: METADATA_MS,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 1000, retries: 4, restartOnFailure: () => Promise.resolve(false) },
    });
    const { CRASH, GROUP_JOIN, REBALANCING } = consumer.events;
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve, reject) => {
      stop = resolve;
      consumer.on(CRASH, ({ payload }) => reject(payload.error));
    });
    const ended = Promise.race([stopped, silence(consumer)]);
    ended.catch(() => undefined);
    consumer.on(GROUP_JOIN, ({ payload }) => {
      this.member = payload.memberId;
      this.joined();
    });
    consumer.on(REBALANCING, () => this.logger.debug(`${this.groupId} gives out its partitions anew`));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const over = new AbortController();
    const begun = this.begin(consumer, topics, over.signal);
    try {
      await Promise.race([ended, begun]);
      await ended;
    } finally {
      signal.removeEventListener('abort', stop);
      over.abort();
      await disconnect(consumer, signal.aborted ? FINISH_MS : undefined);
      // The group may take it in only now.
      void begun.then(() => disconnect(consumer)).catch(() => undefined);
    }
  }

  private async begin(consumer: Consumer, topics: readonly string[], over: AbortSignal): Promise<void> {
    await consumer.connect();
    over.throwIfAborted();
    await consumer.subscribe({ topics: topics.map((topic) => this.cluster.name(topic)), fromBeginning: true });
    await this.leaveAsFormer();
    over.throwIfAborted();
    await consumer.run({
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: 3,
      eachBatch: (payload) => this.take(payload, over),
    });
  }

  /** Shares partitions as the library does by itself; this is how it lets its connections be used. */
  private readonly assigner: PartitionAssigner = (config) => {
    this.connections = config.cluster;
    return PartitionAssigners.roundRobin(config);
  };

  /**
   * Takes the member that this process was until now out of the group, as far as brokers answer soon: everybody would
   * wait for it until its session ends.
   */
  private async leaveAsFormer(): Promise<void> {
    const { groupId, member: memberId, connections } = this;
    if (memberId === undefined) return;
    // Right after their start brokers may not know yet whose group it is.
    for (const deadline = Date.now() + LEAVE_MS.most; Date.now() < deadline; await delay(LEAVE_MS.pause)) {
      try {
        const coordinator = (await connections!.findGroupCoordinator({ groupId })) as unknown as Coordinator;
        await coordinator.leaveGroup({ groupId, memberId });
      } catch (error) {
        if ((error as { type?: string }).type !== 'UNKNOWN_MEMBER_ID') continue;
      }
      this.member = undefined;
      return;
    }
  }

  /** Handles a batch while the group is told that this member lives; leaves the rest when it has lost the partition. */
  private async take(payload: EachBatchPayload, over: AbortSignal): Promise<void> {
    let lost: unknown;
    const beat = setInterval(() => {
      payload.heartbeat().catch((error: unknown) => (lost = error));
    }, HEARTBEAT_MS);
    const goesOn = () => lost === undefined && payload.isRunning() && !payload.isStale() && !over.aborted;
    try {
      await this.receiver.receive(payload.batch.messages, goesOn, (offset) => payload.resolveOffset(offset));
    } finally {
      clearInterval(beat);
    }
    // The library then joins the group again.
    if (lost !== undefined) throw lost as Error;
    await payload.heartbeat();
  }
}
