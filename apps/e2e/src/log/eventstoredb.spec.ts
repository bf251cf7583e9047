import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { EventStoreDbDouble } from '@fairlead/eventstoredb/testing';
import { until } from '@fairlead/postgres/testing';
import { Home } from '../testing/home';

describe('The standalone service with its log in EventStoreDB (double)', () => {
  let home: Home;
  let double: EventStoreDbDouble;
  beforeEach(async () => {
    home = new Home();
    double = await EventStoreDbDouble.start();
  });
  afterEach(async () => {
    await home.end();
    await double.stop();
  });

  const start = () => home.start({ EVENTSTORE_URL: double.url });
  async function call(url: string, method: string, path: string, body?: unknown) {
    const answer = await fetch(url + path, {
      method,
      headers: { 'x-api-key': home.key(), 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: text && JSON.parse(text) };
  }
  const deployment = (name: string, secrets: object[] = []) => ({
    name,
    source: 'external_container',
    source_config: {},
    source_revision_config: { image_uri: 'registry.example/agent:1' },
    secrets,
  });

  it('asks of the server one append for a change and for a step of a rollout, and reads neither stream again', async () => {
    const { url } = await start();
    const { id } = (await call(url, 'POST', '/v2/deployments', deployment('agent'))).body;
    await until(async () => (await call(url, 'GET', `/v2/deployments/${id}`)).body.active_revision_id);
    const stream = () => ({ ...double.streams.get(`deployment-${id}`)! });
    const ten = { reads: 0, appends: 10 };
    // What follows the rollout may still look at the deployment.
    await until(async () => {
      const before = stream();
      for (let turn = 0; turn < 10; turn++) {
        const body = { source_config: { resource_spec: { cpu: 1 + (turn % 2) } } };
        expect((await call(url, 'PATCH', `/v2/deployments/${id}`, body)).status).toBe(200);
      }
      const { reads, appends } = stream();
      return isDeepStrictEqual({ reads: reads - before.reads, appends: appends - before.appends }, ten);
    });
    const rollouts = [...double.streams].filter(([name]) => name.startsWith('rollout-'));
    expect(rollouts).toEqual([[expect.any(String), expect.objectContaining({ reads: 0 })]]);
    expect(rollouts[0]![1].appends).toBeGreaterThan(2);
  });

  it('asks of the server no read of any stream for a revision and its rollout', async () => {
    const { url } = await start();
    const { id } = (await call(url, 'POST', '/v2/deployments', deployment('agent'))).body;
    let image = 0;
    const rollOut = async () => {
      const source_revision_config = { image_uri: `registry.example/agent:${(image += 1)}` };
      expect((await call(url, 'PATCH', `/v2/deployments/${id}`, { source_revision_config })).status).toBe(200);
      await until(async () => {
        const { latest_revision_id, active_revision_id } = (await call(url, 'GET', '/v2/deployments')).body
          .resources[0];
        return latest_revision_id === active_revision_id;
      });
    };
    const sum = (of: 'reads' | 'appends') =>
      [...double.streams].reduce((total, [name, counted]) => total + (name.startsWith('logKey-') ? 0 : counted[of]), 0);
    // What follows the rollout before may still look at something.
    await until(async () => {
      const before = { reads: sum('reads'), appends: sum('appends') };
      for (let turn = 0; turn < 5; turn++) await rollOut();
      expect(sum('appends') - before.appends).toBeGreaterThanOrEqual(35);
      return sum('reads') === before.reads;
    });
  });

  it('asks of the server two appends and at most one read for a new listener', async () => {
    const { url } = await start();
    const streams = () => {
      // The key that signs the log is made, and read once, at some time after the start.
      const all = [...double.streams].filter(([name]) => !name.startsWith('logKey-')).map(([, counted]) => counted);
      const sum = (of: 'reads' | 'appends') => all.reduce((total, counted) => total + counted[of], 0);
      return { reads: sum('reads'), appends: sum('appends') };
    };
    const create = async (n: number) => {
      const body = { compute_type: 'k8s', compute_id: `cluster-${n}`, compute_config: { cluster_namespaces: ['a'] } };
      expect((await call(url, 'POST', '/v2/listeners', body)).status).toBe(201);
    };
    await create(0);
    const before = streams();
    for (let n = 1; n <= 10; n++) await create(n);
    const { reads, appends } = streams();
    expect(appends - before.appends).toBe(20);
    expect(reads - before.reads).toBeLessThanOrEqual(10);
  });

  it('answers 409 for a deployment whose stream was deleted in the server by hand, and goes on with all others', async () => {
    const { url } = await start();
    const { id } = (await call(url, 'POST', '/v2/deployments', deployment('deleted'))).body;
    const other = (await call(url, 'POST', '/v2/deployments', deployment('other'))).body.id;
    for (const one of [id, other]) {
      await until(async () => (await call(url, 'GET', `/v2/deployments/${one}`)).body.active_revision_id);
    }
    double.log.tombstone(`deployment-${id}`);
    const change = { source_revision_config: { image_uri: 'registry.example/agent:2' } };
    const refused = { status: 409, body: { detail: `The history deployment-${id} was deleted in the event store.` } };
    expect(await call(url, 'PATCH', `/v2/deployments/${id}`, change)).toMatchObject(refused);
    expect(await call(url, 'GET', `/v2/deployments/${id}/history`)).toMatchObject(refused);
    expect((await call(url, 'PATCH', `/v2/deployments/${other}`, change)).status).toBe(200);
    expect((await call(url, 'POST', '/v2/deployments', deployment('new'))).status).toBe(201);
    await until(async () => (await call(url, 'GET', '/v2/deployments')).body.resources.length === 3);
    await until(async () => (await call(url, 'GET', '/health/ready')).status === 200);
  });

  it('takes as many secrets as an event can hold and refuses more with 413, leaving nothing behind', async () => {
    const { url } = await start();
    const secrets = (count: number, bytes: number) =>
      Array.from({ length: count }, (_, n) => ({ name: `SECRET_${n}`, value: 'x'.repeat(bytes) }));
    expect((await call(url, 'POST', '/v2/deployments', deployment('large', secrets(30, 10_000)))).status).toBe(201);
    expect((await call(url, 'POST', '/v2/deployments', deployment('small', secrets(1000, 20)))).status).toBe(201);
    const refused = await call(url, 'POST', '/v2/deployments', deployment('huge', secrets(70, 10_000)));
    expect(refused).toMatchObject({
      status: 413,
      body: { detail: expect.stringMatching(/at most 1000000 can be recorded at once/) },
    });
    expect((await call(url, 'POST', '/v2/deployments', deployment('huge'))).status).toBe(201);
  });

  it('answers 503 while the event store is away, and goes on by itself when it is back', async () => {
    const { url } = await start();
    const { log, address } = double;
    await double.stop();
    const refused = await call(url, 'POST', '/v2/deployments', deployment('agent'));
    expect([refused.status, refused.retryAfter]).toEqual([503, '5']);
    expect((await call(url, 'GET', '/health/ready')).status).toBe(503);
    double = await EventStoreDbDouble.start({ port: address.port, log });
    await until(async () => (await call(url, 'POST', '/v2/deployments', deployment('agent'))).status === 201);
    await until(async () => (await call(url, 'GET', '/health/ready')).status === 200);
    expect((await call(url, 'GET', '/v2/deployments')).body.resources).toHaveLength(1);
  });

  it('says in one line that there is no event store, and never where its password is', async () => {
    const EVENTSTORE_URL = 'esdb://admin:secret@127.0.0.1:1?tls=false';
    const { code, errors } = await home.run({ EVENTSTORE_URL });
    expect([code, errors.length]).toEqual([1, 1]);
    expect(errors[0]).toMatch(/^EventStoreDB at 127\.0\.0\.1:1 cannot be used \(.+\): check EVENTSTORE_URL\.$/);
    expect(errors[0]).not.toContain('secret');
  });

  it('does not start beside a log that is still in the database', async () => {
    const before = await home.start();
    before.process.kill('SIGTERM');
    await once(before.process, 'exit');
    const { code, errors } = await home.run({ EVENTSTORE_URL: double.url });
    expect([code, errors]).toEqual([
      1,
      ['The log is in the database: move it with `npm run migrate-store`, or unset EVENTSTORE_URL.'],
    ]);
  });
});
