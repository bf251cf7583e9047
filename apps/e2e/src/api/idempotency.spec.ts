import type { Route } from '@fairlead/api';
import * as edge from '@fairlead/edge';
import { EventStore, type Recorded } from '@fairlead/eventing';
import { EventStoreDbDouble } from '@fairlead/eventstoredb/testing';
import { startTogether, type Whole } from '@fairlead/service/testing';
import { Pool } from 'pg';
import { type Sent, Successes } from '../testing/fuzz/successes';
import { RouteService } from '../testing/route-service';

jest.mock('@fairlead/edge', () => {
  const actual = jest.requireActual<typeof edge>('@fairlead/edge');
  return { ...actual, createServer: jest.fn(actual.createServer) };
});

const UUIDS = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
/** Routes that change tables of the service, and append no event. */
const WITHOUT_EVENTS = new Set([
  'POST /v1/integrations/:integration_id/deliveries/:delivery_id/retry',
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

/** Answer of a server. */
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly replayed: string | null;
}

describe.each(['PostgreSQL', 'EventStoreDB (double)'])('A write with an Idempotency-Key, with its log in %s', (log) => {
  let double: EventStoreDbDouble | undefined;
  let service: RouteService;
  let other: Whole;
  let successes: Successes;

  beforeAll(async () => {
    double = log === 'PostgreSQL' ? undefined : await EventStoreDbDouble.start();
    const settings = {
      // Revisions stay under way, so that they can be interrupted.
      ...{ EXECUTOR: 'command', COMMAND_DEPLOY: `/bin/sh -c 'sleep 600'` },
      ...{ REGISTRY_URL: 'https://registry.example', REGISTRY_TOKEN: 'a-registry-token' },
      ...(double && { EVENTSTORE_URL: double.url }),
    };
    service = await RouteService.start(jest.mocked(edge.createServer), 'token', settings, startTogether);
    successes = await Successes.prepare(service);
    other = await service.another();
    losesAnswers(service.app.get(Pool));
  });
  afterAll(async () => {
    await other?.stop();
    await service?.stop();
    await double?.stop();
  });

  /** Lets a server store no answer, and free no key, as if its process had ended before. */
  function losesAnswers(pool: Pool): void {
    const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
    pool.query = ((...args: unknown[]) =>
      /^\s*update idempotency_keys/.test(String(args[0]))
        ? Promise.reject(new Error('The process has ended.'))
        : query(...args)) as typeof pool.query;
  }

  async function send({ route, path, headers, body, key: caller }: Sent, url: string, key: string): Promise<Answer> {
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

  it('has one effect and one answer when its process ends before it stores the answer, on every route', async () => {
    const isStart = ({ path }: Route) => Number(path.endsWith('/start'));
    const routes = successes
      .inOrder()
      .filter(({ description }) => description?.takes?.includes('Idempotency-Key'))
      // Only what was stopped can be started.
      .sort((a, b) => isStart(a) - isStart(b));
    expect(routes.length).toBeGreaterThan(20);
    for (const route of routes) {
      const name = `${route.method} ${route.path}`;
      for (const [nth, prepared] of successes.requestsTo(route).entries()) {
        const sent = { ...prepared, body: OTHER_BODIES[name] ?? prepared.body };
        const key = `${name} ${nth}`;
        await allowChange(sent);
        const lost = await send(sent, service.url, key);
        if (lost.status >= 300) throw new Error(`${name} answered ${lost.status}: ${lost.text}`);
        await service.query(
          `update idempotency_keys set leased_until = now() - interval '1 second' where key = $1 and status is null`,
          [key],
        );
        const events = await eventsOf(key);
        const before = WITHOUT_EVENTS.has(name) ? await deliveries() : undefined;
        expect({ name, nth, appends: events.length > 0 || nth > 0 }).toEqual({
          ...{ name, nth },
          appends: !WITHOUT_EVENTS.has(name),
        });
        const again = await send(sent, other.url, key);
        const { status, ids } = { status: lost.status, ids: lost.text.match(UUIDS) };
        expect({ name, status: again.status, ids: again.text.match(UUIDS) }).toEqual({ name, status, ids });
        expect({ name, events: await eventsOf(key) }).toEqual({ name, events });
        if (before) expect({ name, deliveries: await deliveries() }).toEqual({ name, deliveries: before });
        const third = await send(sent, other.url, key);
        expect({ name, third }).toEqual({ name, third: { ...again, replayed: 'true' } });
      }
    }
  });
});
