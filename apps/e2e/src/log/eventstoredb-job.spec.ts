import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import { newId } from '@fairlead/eventing';
import { EventStoreDbDouble } from '@fairlead/eventstoredb/testing';
import { until } from '@fairlead/postgres/testing';
import { Home, killed } from '../testing/home';
import { newDeployment, upload } from '../testing/tenant-things';

const ROOT = join(__dirname, '../../../..');
/** A real server, which must be new: a service on a new database reads everything that is in its log. */
const address = process.env.EVENTSTORE_TEST_URL;

describe(`The main job with the log in EventStoreDB${address ? '' : ' (double)'}`, () => {
  let home: Home;
  let double: EventStoreDbDouble | undefined;
  let env: Record<string, string>;
  let url: string;
  beforeAll(async () => {
    home = new Home();
    double = address ? undefined : await EventStoreDbDouble.start();
    env = { EVENTSTORE_URL: address ?? double!.url };
  });
  afterAll(async () => {
    await home.end();
    await double?.stop();
  });

  async function call(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const answer = await fetch(url + path, {
      method,
      headers: { 'x-api-key': home.key(), 'content-type': 'application/json', ...headers },
      body: body && JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, etag: answer.headers.get('etag'), body: text && JSON.parse(text) };
  }
  async function done(method: string, path: string, body?: object, headers?: Record<string, string>) {
    const answer = await call(method, path, body, headers);
    expect([method, path, answer.status < 300, answer.body]).toEqual([method, path, true, answer.body]);
    return answer.body;
  }
  const ready = () => until(async () => (await call('GET', '/health/ready')).status === 200);
  const rolledOut = (id: string) =>
    until(async () => (await call('GET', `/v2/deployments/${id}`)).body.active_revision_id);
  async function audit(): Promise<{ code: number | null; output: string }> {
    const script = ['-r', join(ROOT, 'tools/test/typescript.cjs'), join(ROOT, 'tools/admin/src/main.ts'), 'audit'];
    const { PATH } = process.env;
    const child = spawn(process.execPath, script, { env: { PATH, FAIRLEAD_DATA_DIR: home.data(), ...env } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
    await once(child, 'close');
    return { code: child.exitCode, output };
  }

  it('creates, changes, uploads, deletes and reads back, knows it all after a restart, and is as it was written', async () => {
    const first = await home.start(env);
    ({ url } = first);
    const { id } = await done('POST', '/v2/deployments', newDeployment('agent'), { 'idempotency-key': 'agent' });
    expect((await done('POST', '/v2/deployments', newDeployment('agent'), { 'idempotency-key': 'agent' })).id).toBe(id);
    await rolledOut(id);
    const image_uri = 'registry.example/agent:2';
    const { etag } = await call('GET', `/v2/deployments/${id}`);
    const change = { source_revision_config: { image_uri } };
    await done('PATCH', `/v2/deployments/${id}`, change, { 'if-match': etag! });
    const outdated = await call('PATCH', `/v2/deployments/${id}`, change, { 'if-match': etag! });
    expect(outdated.status).toBe(412);
    expect((await call('GET', '/v2/deployments?name_contains=agent')).body.resources).toMatchObject([
      { id, ...change },
    ]);
    const gone = (await done('POST', '/v2/deployments', newDeployment('gone'))).id as string;
    await rolledOut(gone);
    await done('DELETE', `/v2/deployments/${gone}`);
    await until(async () => (await call('GET', `/v2/deployments/${gone}`)).status === 404);

    const cluster = { compute_type: 'k8s', compute_id: 'main', compute_config: { cluster_namespaces: ['agents'] } };
    const listener = (await done('POST', '/v2/listeners', cluster)).id as string;
    await done('POST', '/api/v1/api-key', { description: 'of the main job' });
    await done('POST', '/api/v1/datasets/upload-experiment', upload('capitals'));
    const session = async () => (await call('GET', '/api/v1/sessions?name=capitals')).body[0];
    await until(async () => (await session())?.run_count === 1);
    const run = { id: newId(), name: 'live', run_type: 'chain', start_time: '2026-01-01T00:00:00Z', inputs: { n: 1 } };
    await done('POST', '/api/v1/runs', { ...run, session_name: 'agent' });
    await done('PATCH', `/api/v1/runs/${run.id}`, { end_time: '2026-01-01T00:00:01Z', outputs: { n: 2 } });
    await until(async () => (await call('GET', `/api/v1/runs/${run.id}`)).body.outputs?.n === 2);
    await done('POST', '/api/v1/feedback', { run_id: run.id, key: 'good', score: 1 });
    await until(async () => (await call('GET', `/api/v1/feedback?run=${run.id}`)).body.length === 1);
    await rolledOut(id);
    await ready();
    const read = () =>
      Promise.all(
        [
          `/v2/deployments/${id}`,
          `/v2/deployments/${id}/history?limit=100`,
          `/v2/deployments/${id}/revisions`,
          `/v2/deployments/${id}?version=1`,
          '/v2/deployments',
          `/v2/listeners/${listener}`,
          '/api/v1/sessions?name=capitals',
          `/api/v1/runs/${run.id}`,
        ].map(async (path) => ({ path, ...(await call('GET', path)) })),
      );
    // Each reading of the deployment adds itself to its history.
    const withoutReads = (answers: Awaited<ReturnType<typeof read>>) =>
      JSON.parse(JSON.stringify(answers), (name, value: unknown) =>
        name === 'offset'
          ? undefined
          : Array.isArray(value)
            ? value.filter((entry) => entry?.type !== 'SecretsRead')
            : value,
      ) as unknown;
    const before = await read();
    expect(before.map(({ status }) => status)).toEqual(before.map(() => 200));

    first.process.kill('SIGTERM');
    expect(await once(first.process, 'exit')).toEqual([0, null]);
    const second = await home.start(env);
    ({ url } = second);
    expect(withoutReads(await read())).toEqual(withoutReads(before));
    expect((await call('POST', '/v2/deployments', newDeployment('agent'))).status).toBe(400);
    expect((await call('POST', '/v2/deployments', newDeployment('other'))).status).toBe(201);
    await killed(second.process);
    const third = await home.start(env);
    ({ url } = third);
    expect((await call('GET', '/v2/deployments')).body.resources).toHaveLength(2);
    await ready();
    const { code, output } = await audit();
    // Keys and heads from outside of the database are not given.
    expect([code, output]).toEqual([3, expect.not.stringContaining('WRONG')]);
    third.process.kill('SIGTERM');
    expect(await once(third.process, 'exit')).toEqual([0, null]);
  });

  it('answers 409 for a deployment whose stream was deleted or cut off, before and after a restart', async () => {
    const fourth = await home.start(env);
    ({ url } = fourth);
    const client = EventStoreDBClient.connectionString(address ?? double!.url);
    const ways: Record<string, (stream: string) => Promise<unknown>> = {
      deleted: (stream) => client.deleteStream(stream),
      tombstone: (stream) => client.tombstoneStream(stream),
      beginning: (stream) => client.setStreamMetadata(stream, { truncateBefore: 2 }),
      count: (stream) => client.setStreamMetadata(stream, { maxCount: 1 }),
    };
    const ids = new Map<string, string>();
    const patch = (id: string, cpu: number) =>
      call('PATCH', `/v2/deployments/${id}`, { source_config: { resource_spec: { cpu } } });
    for (const way of Object.keys(ways)) {
      const { id } = await done('POST', '/v2/deployments', newDeployment(`given-up-${way}`));
      await rolledOut(id);
      for (const cpu of [1, 2, 3]) expect((await patch(id, cpu)).status).toBe(200);
      ids.set(way, id);
    }
    for (const [way, id] of ids) await ways[way]!(`deployment-${id}`);
    await client.dispose();
    const answers = async () => {
      const found: [string, number, unknown][] = [];
      for (const [way, id] of ids) {
        for (const asked of [
          () => call('GET', `/v2/deployments/${id}`),
          () => call('GET', `/v2/deployments/${id}/history`),
          () => call('GET', `/v2/deployments/${id}/revisions`),
          // With a change and without one.
          () => patch(id, 4),
          () => patch(id, 3),
        ]) {
          const { status, body } = await asked();
          found.push([way, status, body.detail]);
        }
      }
      return found;
    };
    const refused = [...ids].flatMap(([way, id]) =>
      Array<unknown>(5).fill([way, 409, `The history deployment-${id} was deleted in the event store.`]),
    );
    const unchanged = (id: string) => call('GET', `/v2/deployments/${id}`).then(({ status }) => status === 409);
    for (const id of ids.values()) await until(() => unchanged(id));
    expect(await answers()).toEqual(refused);
    // Others work on.
    const { id } = await done('POST', '/v2/deployments', newDeployment('beside'));
    fourth.process.kill('SIGTERM');
    await once(fourth.process, 'exit');
    const fifth = await home.start(env);
    ({ url } = fifth);
    expect(await answers()).toEqual(refused);
    expect((await patch(id, 1)).status).toBe(200);
    const { code, output } = await audit();
    expect(code).toBe(1);
    for (const one of ids.values()) expect(output).toContain(`deployment-${one}: it was deleted, or its oldest events`);
    fifth.process.kill('SIGTERM');
    await once(fifth.process, 'exit');
  });
});
