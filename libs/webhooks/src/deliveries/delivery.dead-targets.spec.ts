import { OutboundPolicy, OutboundResolver, parseOutboundAllow } from '@fairlead/outbound';
import { NameServer, OTHER_TENANT } from '@fairlead/edge/testing';
import { until } from '@fairlead/postgres/testing';
import { Receiver } from '../testing/receiver';
import { activated, TestService } from '../testing/service';
import type { WebhooksOptions } from '../webhook/webhooks.options';

let service: TestService;
let receiver: Receiver;
let names: NameServer;

async function start(options: Partial<WebhooksOptions> = {}): Promise<void> {
  service = await TestService.start(options);
}

beforeEach(async () => {
  receiver = await Receiver.start();
  names = await NameServer.start();
});

afterEach(async () => {
  await receiver.stop();
  await service.stop();
  await names.stop();
});

const log = async (id: string, status = '') =>
  (await service.send('GET', `/${id}/deliveries?limit=100${status && `&status=${status}`}`)).json.resources as {
    id: string;
    status: string;
  }[];
const arrived = (at: Receiver, count: number) =>
  until(
    () => at.received.length,
    (length) => length >= count,
  );

it('names that nobody answers for stop no other workspace’s calls, and leave nothing behind', async () => {
  const resolver = new OutboundResolver({ servers: [names.address], deadline: 500, most: 16, mostPerWorkspace: 4 });
  const outbound = new OutboundPolicy(parseOutboundAllow('127.0.0.1'), { connect: 30_000 }, false, resolver.resolve);
  await start({ outbound, timeLimit: 30_000 });
  const urls = Array.from({ length: 50 }, (_, n) => `https://dead-${n}.example/`);
  await Promise.all(urls.map((url) => service.add(url, {}, 'stranger')));
  await service.add(receiver.url);
  await service.happen(activated, OTHER_TENANT);
  await service.happen();
  await arrived(receiver, 1);
  for (let n = 0; n < 20; n++) await service.happen(activated, OTHER_TENANT);
  await service.happen();
  await arrived(receiver, 2);
  expect(resolver.pending).toBeLessThanOrEqual(4);
  await until(
    () => service.database.pool.query('select from webhook_targets where failures > 0'),
    ({ rowCount }) => rowCount! > 4,
  );
  await until(
    () => resolver.pending,
    (pending) => pending === 0,
  );
});

it('targets that take every call and never answer leave another workspace its places', async () => {
  await start({ targets: 8, targetsPerTenant: 4, timeLimit: 60_000 });
  const hanging = await Receiver.start();
  hanging.hangs();
  for (let n = 0; n < 12; n++) await service.add(hanging.url, {}, 'stranger');
  await service.happen(activated, OTHER_TENANT);
  await arrived(hanging, 4);
  await service.add(receiver.url);
  await service.happen();
  await arrived(receiver, 1);
  expect(hanging.received).toHaveLength(4);
  await hanging.stop();
});

it('a target that fails is called ever less, says so, and is called as before once it answers', async () => {
  await start({ lanes: 1 });
  receiver.says(500);
  const { id } = await service.add(receiver.url);
  const paused = async () => (await service.send('GET', `/${id}`)).json.paused_until as string | null;
  for (let n = 0; n < 20; n++) await service.happen();
  await until(paused, (until) => until !== null);
  expect(receiver.received).toHaveLength(3);
  const rests: number[] = [];
  for (let calls = 4; calls <= 7; calls++) {
    const end = Date.parse((await paused())!);
    service.pass(end - service.now() + 1);
    await arrived(receiver, calls);
    const next = await until(paused, (seen) => seen !== null && Date.parse(seen) > end);
    rests.push(Date.parse(next) - service.now());
    await service.happen();
    expect(receiver.received).toHaveLength(calls);
  }
  for (let n = 1; n < rests.length; n++) expect(rests[n]).toBeGreaterThan(1.5 * rests[n - 1]!);
  expect((await service.send('GET', '')).json.resources[0]).toMatchObject({ paused_until: await paused() });
  receiver.says(204);
  service.pass(3_600_000);
  await until(
    () => log(id, 'delivered'),
    ({ length }) => length >= 20,
  );
  expect(await paused()).toBeNull();
});

it('a test is sent to a target that rests, and enabling it anew ends the rest', async () => {
  await start({ lanes: 1 });
  receiver.says(500);
  const { id } = await service.add(receiver.url);
  const rests = () =>
    until(
      async () => (await service.send('GET', `/${id}`)).json.paused_until,
      (until) => until !== null,
    );
  for (let n = 0; n < 5; n++) await service.happen();
  await rests();
  expect(receiver.received).toHaveLength(3);
  await service.send('POST', `/${id}/test`);
  await arrived(receiver, 4);
  await rests();
  await service.send('PATCH', `/${id}`, { body: { enabled: false } });
  await service.send('PATCH', `/${id}`, { body: { enabled: true } });
  expect((await service.send('GET', `/${id}`)).json).toMatchObject({ paused_until: null, failing_since: null });
});

it('what waits for a dead target is bounded: the oldest is set aside, can be seen, and can be sent on request', async () => {
  await start({ lanes: 1, mostPending: 5, mostLogged: 10 });
  receiver.says(500);
  const { id } = await service.add(receiver.url);
  for (let n = 0; n < 3; n++) await service.happen();
  await until(
    async () => (await service.send('GET', `/${id}`)).json.paused_until,
    (until) => until !== null,
  );
  for (let n = 0; n < 12; n++) await service.happen();
  const aside = await until(
    () => log(id, 'set_aside'),
    ({ length }) => length >= 3,
  );
  expect((await log(id, 'pending')).length).toBeLessThan(5 + 5);
  receiver.says(204);
  const again = await service.send('POST', `/${id}/deliveries/${aside[0]!.id}/redeliver`);
  expect(again).toMatchObject({ status: 202, json: { status: 'pending', finished_at: null } });
  await until(
    () => service.send('GET', `/${id}/deliveries/${aside[0]!.id}`),
    ({ json }) => json.status === 'delivered',
  );
  for (let n = 0; n < 20; n++) {
    const before = receiver.received.length;
    await service.happen();
    await arrived(receiver, before + 1);
  }
  await until(
    () => log(id),
    ({ length }) => length <= 5 + 10 + 5,
  );
});
