import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Logger } from '@nestjs/common';
import { type RunningKafka, startKafka } from '@fairlead/kafka';
import { describeKafka } from '@fairlead/kafka/testing';
import { Orders, upTo } from '../testing/orders';

const STREAMS = ['order-1', 'order-2', 'order-3', 'order-4'];

describeKafka('Three Kafka brokers', () => {
  let directory: string;
  let kafka: RunningKafka;
  let orders: Orders;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    directory = mkdtempSync(join(tmpdir(), 'fairlead-brokers-'));
    kafka = await startKafka({ directory, brokers: 3 });
    orders = await Orders.open(kafka.addresses);
    orders.relay();
    await orders.consume();
  });
  afterAll(async () => {
    await orders?.close();
    await kafka?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Two events to each stream, so many times. */
  async function append(times: number): Promise<void> {
    for (let n = 0; n < times; n++) for (const stream of STREAMS) await orders.append(stream, 2);
  }

  async function expectEffects(each: number): Promise<void> {
    await orders.effected(each * STREAMS.length);
    for (const stream of STREAMS) expect(await orders.effects(stream)).toEqual(upTo(each));
  }

  it('keep every topic three times, and go on when one is killed', async () => {
    await append(3);
    await expectEffects(6);
    const admin = kafka && orders.link.cluster.client.admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [orders.link.cluster.name('orders.v1')] });
    await admin.disconnect();
    expect(topics[0]!.partitions.map(({ replicas }) => replicas.length)).toEqual([3, 3, 3, 3, 3, 3]);
    await append(1);
    const killed = kafka.brokers[0]!.kill();
    await append(3);
    await killed;
    await append(3);
    await expectEffects(20);
  });

  it('lose nothing and double nothing when all are killed and come back', async () => {
    await append(2);
    await Promise.all(kafka.brokers.map((broker) => broker.kill()));
    await append(2);
    await Promise.all(kafka.brokers.map((broker) => kafka.restart(broker)));
    await append(1);
    await expectEffects(30);
  });
});
