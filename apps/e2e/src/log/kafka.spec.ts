import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { problemsOf } from '@fairlead/contracts/testing';
import { describeKafka, sharedKafka } from '@fairlead/kafka/testing';
import { testDatabase, type TestDatabase, until } from '@fairlead/postgres/testing';
import { Kafka, logLevel } from 'kafkajs';
import { Home, killed, type Service } from '../testing/home';

const ROOT = resolve(__dirname, '../../../..');
const KEY = 'kafka-spec-operator-key';
const CANARY = 'canary-secret-value';

let home: Home;
let database: TestDatabase;
let environment: Record<string, string>;
beforeEach(async () => {
  home = new Home();
  database = await testDatabase([]);
  environment = { DATABASE_URL: database.url, FAIRLEAD_API_KEY: KEY, LOG_LEVEL: 'silent' };
});
afterEach(async () => {
  await home.end();
  await database.drop();
});

async function ask<T>(service: Service, method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

async function createDeployment(service: Service, name: string): Promise<string> {
  const { id } = await ask<{ id: string }>(service, 'POST', '/v2/deployments', {
    name,
    source: 'external_container',
    source_config: {},
    source_revision_config: { image_uri: `registry.example/${name}:1` },
    secrets: [{ name: 'TOKEN', value: CANARY }],
  });
  return id;
}

/**
 * True when its revision has been rolled out and its tracing project is there: the work of consumers, and of consumers
 * of their events.
 */
async function isSettled(service: Service, id: string, name: string): Promise<boolean> {
  const { resources } = await ask<{ resources: { status: string }[] }>(
    service,
    'GET',
    `/v2/deployments/${id}/revisions`,
  );
  const projects = await ask<unknown[]>(service, 'GET', `/api/v1/sessions?name=${name}`);
  return resources.every(({ status }) => status === 'DEPLOYED') && projects.length === 1;
}

it('serves requests while Kafka cannot be reached, and says what is late', async () => {
  const service = await home.start({ ...environment, KAFKA_BROKERS: '127.0.0.1:1' });
  await createDeployment(service, 'early');
  await until(async () => {
    const { status, degraded = [] } = await ask<{ status: string; degraded?: string[] }>(
      service,
      'GET',
      '/health/ready',
    );
    expect(status).toBe('ready');
    return ['Kafka relay', 'Kafka consumer standalone'].every((part) =>
      degraded.some((reason) => reason.includes(part)),
    );
  });
  service.process.kill('SIGTERM');
  expect(await once(service.process, 'exit')).toEqual([0, null]);
});

describeKafka('With Kafka', () => {
  let addresses: string;
  beforeAll(async () => (addresses = await sharedKafka()));
  beforeEach(() => {
    environment = { ...environment, KAFKA_BROKERS: addresses, KAFKA_PREFIX: `test-${randomUUID()}.` };
  });

  it('consumers of every service react, and what is sent is as asyncapi.yaml says', async () => {
    const service = await home.start(environment);
    const id = await createDeployment(service, 'agent');
    await ask(service, 'PATCH', `/v2/deployments/${id}`, { source_config: { resource_spec: { cpu: 2 } } });
    await until(() => isSettled(service, id, 'agent'));
    await ask(service, 'POST', '/api/v1/datasets/upload-experiment', {
      experiment_name: 'first',
      dataset_name: 'questions',
      experiment_start_time: '2026-01-01T00:00:00Z',
      experiment_end_time: '2026-01-01T00:01:00Z',
      results: [
        {
          row_id: randomUUID(),
          inputs: { question: CANARY },
          actual_outputs: { answer: CANARY },
          start_time: '2026-01-01T00:00:01Z',
          end_time: '2026-01-01T00:00:02Z',
        },
      ],
    });
    const wanted = ['DeploymentPatched', 'RevisionActivated', 'RunsPersisted', 'HostStatusReported'];
    const messages = await heard((types) => wanted.every((type) => types.includes(type)));
    for (const { topic, headers, value } of messages) {
      if (topic === 'internal.v1') expect(JSON.parse(value!)).toEqual(expect.any(Object));
      else expect(problemsOf(headers.ce_type!, headers, JSON.parse(value!))).toEqual([]);
      expect(value ?? '').not.toMatch(/sealed|canary/);
    }
  });

  it('has effects once when the service is killed in the middle', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `agent-${n}`);
    let service = await home.start(environment);
    const ids = await Promise.all(names.map((name) => createDeployment(service, name)));
    for (let n = 0; n < 2; n++) {
      await killed(service.process);
      service = await home.start(environment);
    }
    for (const [n, name] of names.entries()) await until(() => isSettled(service, ids[n]!, name));
    const { rows } = await database.pool.query(
      `select type, count(*)::int as count from events where type in ('SessionCreated', 'RevisionActivated') group by type`,
    );
    expect(new Set(rows)).toEqual(
      new Set([
        { type: 'SessionCreated', count: names.length },
        { type: 'RevisionActivated', count: names.length },
      ]),
    );
  });

  it('the consumer in docs/guides/events.md reacts to a revision', async () => {
    const page = readFileSync(join(ROOT, 'docs/guides/events.md'), 'utf8');
    const program = /^```js\n(.*?)^```$/ms.exec(page)![1]!;
    const service = await home.start(environment);
    const id = await createDeployment(service, 'agent');
    await until(() => isSettled(service, id, 'agent'));
    const { KAFKA_BROKERS, KAFKA_PREFIX } = environment;
    const consumer = spawn(process.execPath, ['--input-type=module', '-e', program], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, KAFKA_BROKERS, KAFKA_PREFIX, KAFKAJS_NO_PARTITIONER_WARNING: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    consumer.stdout.on('data', (data: Buffer) => (said += data.toString()));
    await until(() => /^\S+ gets revision .*$/m.test(said));
    consumer.kill('SIGTERM');
    await once(consumer, 'exit');
    expect(said).toMatch(new RegExp(`^${id} gets revision \\S+: registry.example/agent:1$`, 'm'));
  });

  interface Heard {
    readonly topic: string;
    readonly value?: string;
    readonly headers: Record<string, string>;
  }

  /** Every message from the beginning on until their types are enough. */
  async function heard(enough: (types: (string | undefined)[]) => boolean): Promise<Heard[]> {
    const messages: Heard[] = [];
    const prefix = environment.KAFKA_PREFIX!;
    const kafka = new Kafka({ brokers: addresses.split(','), logLevel: logLevel.NOTHING });
    const consumer = kafka.consumer({ groupId: `${prefix}listener` });
    await consumer.connect();
    const topics = ['deployments', 'revisions', 'experiments', 'internal'].map((name) => `${prefix}${name}.v1`);
    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ topic, message: { value, headers } }) => {
        const texts = Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)]);
        messages.push({
          topic: topic.slice(prefix.length),
          value: value?.toString(),
          headers: Object.fromEntries(texts),
        });
      },
    });
    await until(() => enough(messages.map(({ headers }) => headers.ce_type)));
    await consumer.disconnect();
    return messages;
  }
});
