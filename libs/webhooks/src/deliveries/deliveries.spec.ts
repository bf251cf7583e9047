import { Followers } from '@fairlead/eventing';
import { OTHER_TENANT, TENANT } from '@fairlead/edge/testing';
import { Webhook } from 'standardwebhooks';
import { until } from '@fairlead/postgres/testing';
import { DeliverySweepWorker } from './delivery-sweep.worker';
import { type Received, Receiver } from '../testing/receiver';
import { activated, TestService } from '../testing/service';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let service: TestService;
let receiver: Receiver;

beforeAll(async () => {
  service = await TestService.start({ timeLimit: 60_000, mostPerTenant: 1000 });
});

afterAll(async () => {
  await service?.stop();
});

beforeEach(async () => {
  service.ahead = 0;
  receiver = await Receiver.start();
});

afterEach(async () => {
  // What a test leaves waiting is none of the next one's business.
  const { json } = await service.send('GET', '?limit=100');
  for (const { id } of json.resources) await service.send('DELETE', `/${id}`);
  await receiver.stop();
});

const arrived = (count: number) =>
  until(
    () => receiver.received,
    ({ length }) => length >= count,
  );

/** The message as a receiver verifies it, at the time of the service. @throws WebhookVerificationError */
function verified(secret: string, { text, headers }: Received): unknown {
  const now = jest.spyOn(Date, 'now').mockReturnValue(service.now());
  try {
    return new Webhook(secret).verify(text, headers as Record<string, string>);
  } finally {
    now.mockRestore();
  }
}

it('sends what happens, signed, to those who subscribed to it', async () => {
  const { id, secret } = await service.add(receiver.url, { event_types: ['revision.*'] });
  await service.add(receiver.url, { event_types: ['dataset.*'] });
  await service.add(receiver.url, {}, 'stranger');
  await service.happen({ type: 'DeploymentDeleted', data: { name: 'not asked for' } });
  const deployment = await service.happen();
  const [message] = await arrived(1);
  const [event] = await service.store.read(`deployment-${deployment}`);
  expect(verified(secret, message!)).toEqual({
    type: 'revision.activated',
    timestamp: event!.time,
    data: { deployment_id: deployment, ...activated.data },
  });
  expect(message!.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': event!.id });
  expect(() => verified(secret, { ...message!, text: message!.text.replace('revision', 'division') })).toThrow();
  const delivery = await service.tried(id, 1);
  expect(delivery).toEqual({
    id: expect.any(String),
    message_id: event!.id,
    event_type: 'revision.activated',
    status: 'delivered',
    attempt_count: 1,
    last_status: 204,
    created_at: event!.time,
    next_attempt_at: null,
    finished_at: expect.any(String),
    payload: message!.json,
    attempts: [
      { number: 1, at: expect.any(String), latency_ms: expect.any(Number), status: 204, response: '', error: null },
    ],
  });
  await service.send('POST', `/${id}/test`);
  await arrived(2);
  expect(receiver.types).toEqual(['revision.activated', 'webhook.test']);
});

it('sends messages in the form of Slack, signed as they are sent, once that is chosen', async () => {
  const { id, secret } = await service.add(receiver.url, { format: 'slack' });
  await service.happen();
  const [message] = await arrived(1);
  const { text, blocks } = verified(secret, message!) as { text: string; blocks: { type: string }[] };
  expect(text).toBe('A revision is the one that runs.');
  expect(blocks.map(({ type }) => type)).toEqual(['section', 'context']);
  expect((await service.tried(id, 1)).payload).toMatchObject({ type: 'revision.activated' });
  await service.send('POST', `/${id}/test`);
  expect((await arrived(2))[1]!.json.text).toBe('Event webhook.test.');
  await service.send('PATCH', `/${id}`, { body: { format: 'standard' } });
  await service.send('POST', `/${id}/test`);
  expect((await arrived(3))[2]!.json.type).toBe('webhook.test');
});

it('sends only what happens after a webhook was added', async () => {
  await service.happen();
  const { id } = await service.add(receiver.url);
  const later = await service.happen();
  await arrived(1);
  expect((await service.send('GET', `/${id}/deliveries`)).json.resources).toHaveLength(1);
  expect(receiver.received[0]!.json.data.deployment_id).toBe(later);
});

it('tries for a day, in the same words under the same id, and then gives up', async () => {
  receiver.says(503, 'later');
  const { id, secret } = await service.add(receiver.url);
  await service.happen();
  const begin = service.now();
  const times: number[] = [];
  for (let attempt = 1; ; attempt++) {
    const delivery = await service.tried(id, attempt);
    expect(delivery.attempts[0]).toMatchObject({ status: 503, response: 'later', error: 'The target answered 503.' });
    verified(secret, receiver.received[attempt - 1]!);
    times.push(Math.round((Date.parse(delivery.attempts[0].at) - begin) / HOUR));
    if (delivery.status !== 'pending') {
      expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null });
      break;
    }
    service.pass(Date.parse(delivery.next_attempt_at) - service.now() + 1);
  }
  expect([times.length, times.at(-1)]).toEqual([8, 24]);
  expect(new Set(receiver.received.map(({ text, headers }) => `${text} ${headers['webhook-id'] as string}`)).size).toBe(
    1,
  );
  expect((await service.send('GET', `/${id}`)).json.failing_since).not.toBeNull();
});

type Told = [name: string, says: (token: string) => string, kept: string | undefined];
it.each<Told>([
  ...[0, 1000, 1010, 1020].map((before): Told => [
    `after ${before} characters`,
    (token) => `${'x'.repeat(before)}No /hook/${token}?key=${token}, not ${token}.`,
    before === 0 ? 'No ********?key=********, not ********.' : undefined,
  ]),
  ...[0, 7, 20].map((before): Told => [
    `again and again after ${before}`,
    (token) => 'x'.repeat(before) + token.repeat(100),
    undefined,
  ]),
  ['as it is encoded', (token) => `${token}%2F${token} `.repeat(50), undefined],
])('keeps no part of the address of which an answer tells: %s', async (_, says, kept) => {
  const token = crypto.randomUUID();
  const { id } = await service.add(`${receiver.url}/${token}?key=${token}&${token}%2F${token}`);
  receiver.says(404, says(token));
  await service.happen();
  const { attempts } = await until(
    () => service.newest(id),
    (delivery) => delivery?.attempt_count > 0,
  );
  const { response } = attempts[0];
  expect(response.length).toBeLessThanOrEqual(1024);
  expect(response).not.toContain(token.slice(0, 8));
  if (kept !== undefined) expect(response).toBe(kept);
});

it('arrives when the target is well again', async () => {
  receiver.says(500);
  const { id } = await service.add(receiver.url);
  await service.happen();
  await service.tried(id, 1);
  receiver.says(200, 'thanks');
  service.pass(6000);
  expect(await service.tried(id, 2)).toMatchObject({ status: 'delivered', last_status: 200 });
  await until(
    async () => (await service.send('GET', `/${id}`)).json.failing_since,
    (since) => since === null,
  );
});

it('obeys Retry-After', async () => {
  receiver.says(429, '', { 'retry-after': '3600' });
  const { id } = await service.add(receiver.url);
  await service.happen();
  const delivery = await service.tried(id, 1);
  expect(Date.parse(delivery.next_attempt_at) - Date.parse(delivery.attempts[0].at)).toBeGreaterThanOrEqual(HOUR);
});

it('follows no redirect', async () => {
  receiver.says(302, '', { location: `${receiver.url}/elsewhere` });
  const { id } = await service.add(receiver.url);
  await service.happen();
  const [attempt] = (await service.tried(id, 1)).attempts;
  expect(attempt).toMatchObject({ status: 302, error: 'The target answered 302, and redirects are not followed.' });
  expect(receiver.received).toHaveLength(1);
});

it('keeps the first kilobyte of an answer, whatever that is', async () => {
  receiver.says(500, `\0${'ä'.repeat(5000)}`);
  const { id } = await service.add(receiver.url);
  await service.happen();
  const [attempt] = (await service.tried(id, 1)).attempts;
  expect(attempt.response).toBe(`\ufffd${'ä'.repeat(511)}`);
});

it('tells when a target cannot be reached', async () => {
  const { url } = receiver;
  await receiver.stop();
  const { id } = await service.add(url);
  await service.happen();
  const [attempt] = (await service.tried(id, 1)).attempts;
  expect(attempt).toMatchObject({ status: null, response: null, error: expect.stringMatching(/could not be reached/) });
  receiver = await Receiver.start();
});

it('lets a slow target delay no other', async () => {
  const own = await TestService.start({ timeLimit: 5000 });
  const slow = await Receiver.start();
  slow.hangs();
  const { id } = await own.add(slow.url);
  await own.add(receiver.url);
  for (let n = 0; n < 30; n++) await own.happen();
  await arrived(30);
  expect((await own.send('GET', `/${id}/deliveries?status=delivered`)).json.resources).toEqual([]);
  const tried = await until(
    async () => {
      const { resources } = (await own.send('GET', `/${id}/deliveries?limit=100`)).json;
      return resources.find(({ attempt_count }: { attempt_count: number }) => attempt_count > 0);
    },
    (found) => found !== undefined,
  );
  const { attempts } = (await own.send('GET', `/${id}/deliveries/${tried.id}`)).json;
  expect(attempts[0]).toMatchObject({ status: null, error: expect.stringMatching(/took too long/) });
  await slow.stop();
  await own.stop();
});

it('is disabled by 410, and what waits is given up', async () => {
  receiver.says(500);
  const { id } = await service.add(receiver.url);
  await service.happen();
  const waiting = await service.tried(id, 1);
  receiver.says(410);
  await service.happen();
  const { json } = await until(
    () => service.send('GET', `/${id}`),
    (seen) => !seen.json.enabled,
  );
  expect(json).toMatchObject({ enabled: false, disabled_reason: 'gone', disabled_at: expect.any(String) });
  await until(
    () => service.send('GET', `/${id}/deliveries/${waiting.id}`),
    (seen) => seen.json.status === 'failed',
  );
  const refused = await service.send('POST', `/${id}/test`);
  expect([refused.status, refused.json.detail]).toEqual([409, 'The webhook is disabled: enable it first.']);
  expect((await service.send('POST', `/${id}/deliveries/${waiting.id}/redeliver`)).status).toBe(409);
  await service.happen();
  receiver.says(204);
  await service.send('PATCH', `/${id}`, { body: { enabled: true } });
  const last = await service.happen();
  const messages = await arrived(3);
  expect(messages.at(-1)!.json.data.deployment_id).toBe(last);
});

it('is disabled after five days of nothing but failures', async () => {
  receiver.says(500);
  const { id } = await service.add(receiver.url);
  await service.happen();
  await service.tried(id, 1);
  service.pass(4 * DAY);
  await service.tried(id, 2);
  expect((await service.send('GET', `/${id}`)).json.enabled).toBe(true);
  service.pass(2 * DAY);
  await service.happen();
  const { json } = await until(
    () => service.send('GET', `/${id}`),
    (seen) => !seen.json.enabled,
  );
  expect(json).toMatchObject({ disabled_reason: 'failing', failing_since: expect.any(String) });
  const enabled = await service.send('PATCH', `/${id}`, { body: { enabled: true } });
  expect(enabled.json).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null });
});

it('signs with both secrets for a day after a rotation', async () => {
  const { id, secret } = await service.add(receiver.url);
  const { json: rotated } = await service.send('POST', `/${id}/rotate-secret`);
  await service.happen();
  const [both] = await arrived(1);
  for (const one of [secret, rotated.secret])
    expect(verified(one, both!)).toMatchObject({ type: 'revision.activated' });
  service.pass(DAY);
  await service.happen();
  const [, later] = await arrived(2);
  expect(verified(rotated.secret, later!)).toMatchObject({ type: 'revision.activated' });
  expect(() => verified(secret, later!)).toThrow();
});

it('sends a delivery again on request, under the same id', async () => {
  const { id } = await service.add(receiver.url);
  await service.happen();
  const delivered = await service.tried(id, 1);
  const again = await service.send('POST', `/${id}/deliveries/${delivered.id}/redeliver`);
  expect([again.status, again.json.id]).toEqual([202, delivered.id]);
  const [first, second] = await arrived(2);
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  expect(await service.tried(id, 2)).toMatchObject({ status: 'delivered', attempts: [{ number: 2 }, { number: 1 }] });
  const missing = await service.send('POST', `/${id}/deliveries/${id}/redeliver`);
  expect([missing.status, missing.json.detail]).toEqual([404, `Delivery ID ${id} not found.`]);
});

it('pages and filters its log', async () => {
  const { id } = await service.add(receiver.url);
  for (let n = 0; n < 3; n++) await service.happen();
  await service.happen({ type: 'DeploymentDeleted', data: { name: 'a' } });
  await arrived(4);
  const list = async (search: string) => (await service.send('GET', `/${id}/deliveries${search}`)).json;
  const all = (await list('')).resources.map((delivery: { id: string }) => delivery.id);
  const first = await list('?limit=3');
  const second = await list(`?limit=3&cursor=${first.next_cursor}`);
  expect([...first.resources, ...second.resources].map((delivery) => delivery.id)).toEqual(all);
  expect([all.length, second.next_cursor]).toEqual([4, null]);
  expect((await list('?event_type=deployment.deleted')).resources).toHaveLength(1);
  expect((await list('?status=failed')).resources).toEqual([]);
  expect((await service.send('GET', `/${id}/deliveries?status=unknown`)).status).toBe(422);
});

it('keeps the log for its time, and nothing of a removed webhook', async () => {
  const { id } = await service.add(receiver.url);
  await service.happen();
  await service.tried(id, 1);
  const removed = await service.add(receiver.url);
  await service.happen();
  for (const webhook of [id, removed.id]) await service.tried(webhook, 1);
  await service.send('DELETE', `/${removed.id}`);
  await service.app.get(Followers).passed(await service.store.head(), ['webhooks.view'], 60_000);
  const count = async (webhook: string) => {
    const text = 'select from webhook_deliveries where webhook_id = $1';
    return (await service.database.pool.query(text, [webhook])).rowCount;
  };
  const sweep = () => service.app.get(DeliverySweepWorker).sweep();
  await sweep();
  expect([await count(id), await count(removed.id)]).toEqual([2, 0]);
  service.pass(31 * DAY);
  await sweep();
  expect(await count(id)).toBe(0);
});

it('sends nothing twice when several processes send', async () => {
  const other = await service.startAnother();
  const { id } = await service.add(receiver.url);
  await service.add(receiver.url, {}, 'stranger');
  for (let n = 0; n < 60; n++) await service.happen(activated, n % 2 ? TENANT : OTHER_TENANT);
  await arrived(60);
  await until(
    async () => (await service.send('GET', `/${id}/deliveries?status=pending`)).json.resources,
    ({ length }) => length === 0,
  );
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect([ids.length, new Set(ids).size]).toEqual([60, 60]);
  await other.close();
});

it('goes on with what a killed process held', async () => {
  const { id } = await service.add(receiver.url, { enabled: false });
  const target = [id, '7f0d0f6e-5c3e-4c1a-9a61-444444444444'];
  const text = `update webhook_targets set holder = $2, leased_until = now() + interval '1 second' where webhook_id = $1`;
  await service.database.pool.query(text, target);
  await service.send('PATCH', `/${id}`, { body: { enabled: true } });
  await service.happen();
  await arrived(1);
});

it('breaks off what is under way when its process ends, and sends it again', async () => {
  const own = await TestService.start({ timeLimit: 60_000 });
  receiver.hangs();
  await own.add(receiver.url);
  await own.happen();
  await arrived(1);
  await own.app.close();
  receiver.says(204);
  await own.startAnother();
  const [first, second] = await arrived(2);
  expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  await own.stop();
});
