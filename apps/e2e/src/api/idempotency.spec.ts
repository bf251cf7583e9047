import { join } from 'node:path';
import type { Route } from '@fairlead/api';
import * as edge from '@fairlead/edge';
import { EventStore, type Recorded } from '@fairlead/eventing';
import { EventStoreDbDouble } from '@fairlead/eventstoredb/testing';
import { startTogether } from '@fairlead/service/testing';
import { type Sent, Successes } from '../testing/fuzz/successes';
import type { HeldAnswer } from '../testing/held-answers';
import { RouteService } from '../testing/route-service';

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Routes that change tables of the service, and append no event. */
const WITHOUT_EVENTS = new Set([
  'POST /v1/integrations/:integration_id/deliveries/:delivery_id/retry',
  'POST /v1/integrations/:integration_id/reports/:revision_id/retry',
  'POST /v1/webhooks/:webhook_id/test',
  'POST /v1/webhooks/:webhook_id/deliveries/:delivery_id/redeliver',
]);

const newExample = () => {
  const form = new FormData();
  form.append(crypto.randomUUID(), '{"inputs":{"made":"in parts"}}');
  return form;
};
/** Requests that have to make something new. */
const OTHER_BODIES: Readonly<Record<string, RequestInit['body']>> = {
  'POST /api/v1/platform/datasets/:dataset_id/examples': newExample(),
};

/** Requests to one process before it is killed. */
const MOST_REQUESTS = 30;
const HELD = join(__dirname, '../testing/held-answers.ts');

/** A request that a process has carried out, and whose answer it has not stored. */
interface Lost {
  readonly name: string;
  readonly key: string;
  readonly sent: Sent;
  /** Ids in the answer. */
  readonly ids: readonly string[];
}

describe.each(['PostgreSQL', 'EventStoreDB (double)'])('A write with an Idempotency-Key, with its log in %s', (log) => {
  let double: EventStoreDbDouble | undefined;
  let service: RouteService;
  let successes: Successes;

  beforeAll(async () => {
    double = log === 'PostgreSQL' ? undefined : await EventStoreDbDouble.start();
    const settings = {
      // Revisions stay under way, so that they can be interrupted, for as long as the process that began them.
      ...{ EXECUTOR: 'command', COMMAND_DEPLOY: `/bin/sh -c 'while kill -0 $PPID; do sleep 1; done'` },
      ...{ REGISTRY_URL: 'https://registry.example', REGISTRY_TOKEN: 'a-registry-token' },
      ...(double && { EVENTSTORE_URL: double.url }),
    };
    service = await RouteService.start(jest.mocked(edge.createServer), 'token', settings, startTogether);
    successes = await Successes.prepare(service);
  });
  afterAll(async () => {
    await service?.stop();
    await double?.stop();
  });

  async function send({ route, path, headers, body, key: caller }: Sent, url: string, key: string) {
    const init = { method: route.method, body, headers: { ...headers, 'x-api-key': caller, 'idempotency-key': key } };
    const answer = await fetch(url + path, init);
    // Signatures are made for each answer.
    const text = (await answer.text()).replaceAll(/\?expires=[^"]*/g, '');
    return { status: answer.status, text, replayed: answer.headers.get('idempotent-replayed') };
  }

  // A request for what is so already would change nothing.
  async function allowChange({ route, path, key }: Sent): Promise<void> {
    if (!path.endsWith('/share')) return;
    const opposite = route.method === 'DELETE' ? 'PUT' : 'DELETE';
    await service.ask(opposite, path.replace('/v2/', '/api/v1/'), key);
  }

  /** Lets a process carry out requests, and kills it before it stores an answer. */
  async function kill(requests: readonly Omit<Lost, 'ids'>[]): Promise<Lost[]> {
    const process = service.another([HELD]);
    await process.start();
    const waiting = new Map<string, (held: HeldAnswer) => void>();
    process.onMessage((message) => waiting.get((message as HeldAnswer).key)?.(message as HeldAnswer));
    const lost: Lost[] = [];
    const connections: Promise<unknown>[] = [];
    for (const request of requests) {
      const { name, key, sent } = request;
      await allowChange(sent);
      const held = new Promise<HeldAnswer>((resolve) => waiting.set(key, resolve));
      const answered = send(sent, process.url, key);
      connections.push(answered);
      const first = await Promise.race([held, answered]);
      if ('status' in first) throw new Error(`${name} answered ${first.status}: ${first.text}`);
      lost.push({ ...request, ids: first.answer?.match(UUIDS) ?? [] });
    }
    await process.stop('SIGKILL');
    const ends = (await Promise.allSettled(connections)).map(({ status }) => status);
    expect(ends).toEqual(requests.map(() => 'rejected'));
    const passed = `update idempotency_keys set leased_until = now() - interval '1 second' where key = any($1)`;
    await service.query(`${passed} and status is null`, [requests.map(({ key }) => key)]);
    return lost;
  }

  /** Events of the log that a request with this key caused. */
  async function eventsOf(key: string): Promise<Recorded[]> {
    const store = service.app.get(EventStore);
    const [head, stop, found] = [await store.head(), new AbortController(), [] as Recorded[]];
    for await (const { events, position } of store.subscribe(0n, stop.signal)) {
      found.push(...events.filter(({ metadata }) => metadata.causationId === key));
      if (position >= head) break;
    }
    stop.abort();
    return found;
  }

  /** Deliveries; other tables follow the events. */
  async function deliveries() {
    const tables = ['webhook_deliveries', 'integration_deliveries'];
    return Promise.all(tables.map((table) => service.query(`select count(*) from ${table}`)));
  }

  async function repeat({ name, key, sent, ids }: Lost): Promise<void> {
    const appends = !WITHOUT_EVENTS.has(name);
    const [events, before] = [await eventsOf(key), appends ? undefined : await deliveries()];
    expect({ name, appends: events.length > 0 }).toEqual({ name, appends });
    const again = await send(sent, service.url, key);
    if (again.status >= 300) throw new Error(`${name} answered ${again.status}: ${again.text}`);
    expect({ name, ids: again.text.match(UUIDS) ?? [] }).toEqual({ name, ids: expect.arrayContaining([...ids]) });
    expect({ name, events: await eventsOf(key) }).toEqual({ name, events });
    if (before) expect({ name, deliveries: await deliveries() }).toEqual({ name, deliveries: before });
    const third = await send(sent, service.url, key);
    expect({ name, third }).toEqual({ name, third: { ...again, replayed: 'true' } });
  }

  it('has one effect and the same ids when its process is killed before it stores the answer, on every route', async () => {
    const isStart = ({ path }: Route) => Number(path.endsWith('/start'));
    const routes = successes
      .inOrder()
      .filter(({ description }) => description?.takes?.includes('Idempotency-Key'))
      // Only what was stopped can be started.
      .sort((a, b) => isStart(a) - isStart(b));
    expect(routes.length).toBeGreaterThan(20);
    const requests = routes.flatMap((route) => {
      const name = `${route.method} ${route.path}`;
      const [first] = successes.requestsTo(route);
      return { name, key: name, sent: { ...first!, body: OTHER_BODIES[name] ?? first!.body } };
    });
    while (requests.length > 0) {
      // What is deleted cannot be changed again: deletions stand together, after the requests before them.
      const isDeletion = ({ sent }: (typeof requests)[number]) => sent.route.method === 'DELETE';
      const alike = requests.findIndex((request) => isDeletion(request) !== isDeletion(requests[0]!));
      const count = Math.min(alike < 0 ? requests.length : alike, MOST_REQUESTS);
      for (const lost of await kill(requests.splice(0, count))) await repeat(lost);
    }
  });
});
