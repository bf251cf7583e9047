import { randomUUID } from 'node:crypto';
import net, { type Socket } from 'node:net';
import { Logger } from '@nestjs/common';
import { describeKafka, sharedKafka } from '@fairlead/kafka/testing';
import type { Producer } from 'kafkajs';
import { until } from '@fairlead/postgres/testing';
import { ParkedSubjects } from '..';
import { Orders, upTo } from '../testing/orders';

describeKafka('Kafka', () => {
  let addresses: string;
  let orders: Orders;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    addresses = await sharedKafka();
  });
  beforeEach(async () => {
    orders = await Orders.open(addresses);
  });
  afterEach(() => orders.close());

  it('carries the public facts of events as CloudEvents, keyed by stream', async () => {
    orders.relay();
    await orders.append('order-1', 1);
    await orders.append('order-1', 1, 'Paid');
    const heard = await messages(['orders.v1', 'payments.v1'], 2);
    expect(heard).toEqual([
      {
        topic: 'orders.v1',
        key: 'order-1',
        value: '{"n":0}',
        headers: {
          ce_specversion: '1.0',
          ce_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          ce_source: '/fairlead/orders.v1',
          ce_type: 'Ordered',
          ce_time: expect.stringMatching(/^\d{4}-.*Z$/),
          ce_subject: 'order-1',
          ce_partitionkey: 'order-1',
          ce_streamversion: '1',
          ce_tenantid: 'tenant-1',
          traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
          'content-type': 'application/json',
        },
      },
      expect.objectContaining({ topic: 'payments.v1', key: 'order-1', value: '{}' }),
    ]);
  });

  it('gives consumers the event of the log, in the order of its stream', async () => {
    orders.relay();
    await orders.consume();
    for (let n = 0; n < 20; n++) for (const stream of ['order-1', 'order-2', 'order-3']) await orders.append(stream, 2);
    await orders.effected(120);
    for (const stream of ['order-1', 'order-2', 'order-3']) expect(await orders.effects(stream)).toEqual(upTo(40));
    const { rows } = await orders.database.pool.query('select payload, tenant from effects limit 1');
    expect(rows).toEqual([{ payload: { n: expect.any(Number) }, tenant: 'tenant-1' }]);
  });

  it('has effects once when the relay crashes between sending and moving its checkpoint', async () => {
    let crashes = 3;
    await orders.append('order-1', 5);
    const cluster = orders.anotherCluster();
    const { client } = cluster;
    const producer = client.producer.bind(client);
    jest.spyOn(client, 'producer').mockImplementation((options): Producer => {
      const made = producer(options);
      const send = made.sendBatch.bind(made);
      made.sendBatch = async (batch) => {
        const sent = await send(batch);
        if (crashes-- > 0) throw new Error('crashed');
        return sent;
      };
      return made;
    });
    orders.relay(cluster);
    await orders.consume();
    await orders.effected(5);
    await orders.append('order-1', 5);
    await orders.effected(10);
    expect((await messages(['orders.v1'], 25)).length).toBeGreaterThanOrEqual(25);
    expect(await orders.effects('order-1')).toEqual(upTo(10));
  });

  it('has effects once when a consumer ends in the middle and another goes on', async () => {
    orders.relay();
    await orders.append('order-1', 30);
    const middle = new Promise<void>((reached) => {
      orders.meanwhile = ({ version }) => void (version === 15 && reached());
    });
    const end = await orders.consume();
    await middle;
    await end();
    orders.meanwhile = () => undefined;
    await orders.consume();
    await orders.effected(30);
    expect(await orders.effects('order-1')).toEqual(upTo(30));
  });

  it('has effects once when answers are lost on every connection that there is', async () => {
    const connecting = jest.spyOn(net, 'connect');
    orders.relay();
    await orders.consume();
    await orders.append('order-1', 5);
    await orders.effected(5);
    const sockets = connecting.mock.results.map(({ value }) => value as Socket);
    connecting.mockRestore();
    for (const socket of sockets) socket.removeAllListeners('data');
    await orders.append('order-1', 5);
    await orders.effected(10);
    expect(await orders.effects('order-1')).toEqual(upTo(10));
    await until(() => sockets.every(({ destroyed }) => destroyed));
  });

  it('shares the work among the members of a group, and one takes over from another', async () => {
    orders.relay();
    const first = await orders.consume();
    await orders.consume();
    const streams = Array.from({ length: 12 }, (_, n) => `order-${n}`);
    for (const stream of streams) await orders.append(stream, 5);
    await orders.effected(20);
    await first();
    for (const stream of streams) await orders.append(stream, 5);
    await orders.effected(120);
    for (const stream of streams) expect(await orders.effects(stream)).toEqual(upTo(10));
  });

  it('stays a member of its group while a handler takes longer than a session', async () => {
    orders.relay();
    let calls = 0;
    orders.meanwhile = async ({ stream }) => {
      if (stream !== 'order-slow') return;
      calls += 1;
      await new Promise((resolve) => setTimeout(resolve, 10_000));
    };
    await orders.consume();
    await orders.append('order-slow', 1);
    await until(async () => (await orders.effects('order-slow')).length === 1);
    await orders.append('order-quick', 1);
    await until(async () => (await orders.effects('order-quick')).length === 1);
    expect(calls).toBe(1);
  });

  it('parks a stream whose event is poison and goes on with the others', async () => {
    orders.relay();
    orders.meanwhile = ({ stream }) => {
      if (stream === 'order-bad') throw new Error('poison');
    };
    await orders.consume();
    await orders.append('order-bad', 2);
    await orders.append('order-good', 3);
    await until(async () => (await orders.effects('order-good')).length === 3);
    const parked = new ParkedSubjects(orders.database.pool);
    await until(async () =>
      (await parked.list(10)).some(({ status, last_version }) => status === 'parked' && last_version === 2),
    );
    const [subject] = await parked.list(10);
    expect(subject).toMatchObject({ consumer: 'effects.Ordered', subject: 'order-bad', version: 1, reason: 'poison' });
    orders.meanwhile = () => undefined;
    await parked.retry(subject!.id);
    await until(async () => (await orders.effects('order-bad')).length === 2);
    expect(await orders.effects('order-bad')).toEqual([1, 2]);
  });

  it('passes over messages that are not ours and events that the store does not hold', async () => {
    orders.relay();
    await orders.consume();
    await orders.append('order-1', 1);
    await orders.effected(1);
    const producer = orders.link.cluster.client.producer();
    await producer.connect();
    const forged = { ce_id: randomUUID(), ce_type: 'Ordered', ce_subject: 'order-1', ce_streamversion: '9' };
    await producer.send({
      topic: orders.link.cluster.name('orders.v1'),
      messages: [
        { key: 'order-1', value: 'no event' },
        { key: 'order-1', value: '{}', headers: forged },
      ],
    });
    await producer.disconnect();
    await orders.append('order-1', 1);
    await orders.effected(2);
    expect(await orders.effects('order-1')).toEqual([1, 2]);
  });

  /** The first so many messages on these topics, as they are there. */
  async function messages(topics: string[], most: number) {
    const heard: { topic: string; key?: string; value?: string; headers: Record<string, string> }[] = [];
    const { cluster } = orders.link;
    await cluster.prepare(topics);
    const consumer = cluster.client.consumer({ groupId: cluster.name('listener') });
    await consumer.connect();
    await consumer.subscribe({ topics: topics.map((topic) => cluster.name(topic)), fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ topic, message: { key, value, headers } }) => {
        heard.push({
          topic: topic.slice(cluster.name('').length),
          key: key?.toString(),
          value: value?.toString(),
          headers: Object.fromEntries(Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)])),
        });
      },
    });
    try {
      // It is the first to use the broker, which then is still busy with its own start.
      await until(() => heard.length >= most, undefined, 270_000);
    } finally {
      await consumer.disconnect();
    }
    return heard.sort((a, b) => a.topic.localeCompare(b.topic));
  }
});
