import { latencyAt, type RequestCounts, RequestCounter } from '@fairlead/contracts';
import type { Measures } from '@fairlead/executors';
import { ScriptedExecutor } from '../testing/scripted-executor';
import { TENANT, TestRollouts } from '../testing/service';
import { MetricsStore } from './metrics.store';
import { MetricsWorker } from './metrics.worker';
import { rowsOf, type Sample } from './sample';

const MINUTE = Date.parse('2026-01-01T12:34:00Z');
const ID = '01980000-0000-7000-8000-000000000001';
const counts = (requests: number, errors = 0, latency: number[] = []): RequestCounts => ({ requests, errors, latency });
const sample = (more: Partial<Sample>): Sample => ({
  ...{ tenantId: TENANT, deploymentId: ID, at: MINUTE, counts: null, memoryBytes: null, restarts: null },
  ...more,
});

/** Programs whose measurements a test says. */
class Measured extends ScriptedExecutor {
  readonly requests = new RequestCounter();
  uses: Measures['uses'] = [];

  override measure(): Measures {
    return { requests: this.requests.take(), uses: this.uses };
  }
}

let service: TestRollouts;
beforeAll(async () => (service = await TestRollouts.create()));
afterEach(() => service.stop());
afterAll(() => service.drop());

const metrics = async (id: string, period = 'minute', key = 'key') => {
  const { statusCode, payload } = await service.ask('GET', `/v2/deployments/${id}/metrics?period=${period}`, {
    headers: { 'x-api-key': key },
  });
  return { status: statusCode, json: JSON.parse(payload) };
};

it('adds samples up by minute and by hour, and keeps apart what is not measured', () => {
  const rows = rowsOf([
    sample({ counts: counts(0), memoryBytes: 5 }),
    sample({ counts: counts(2, 1, [1, 1]), restarts: 1 }),
    sample({ at: MINUTE + 60_000, counts: counts(1, 0, [0, 1]), memoryBytes: 9, restarts: 2 }),
  ]);
  const [hour, ...minutes] = rows.map(({ period, at, counts, memoryBytes, restarts }) => {
    return [period, at - MINUTE, counts, memoryBytes, restarts];
  });
  expect(hour).toEqual(['hour', -34 * 60_000, counts(3, 1, [1, 2]), 9, 3]);
  expect(minutes).toEqual([
    ['minute', 0, counts(2, 1, [1, 1]), 5, 1],
    ['minute', 60_000, counts(1, 0, [0, 1]), 9, 2],
  ]);
  expect(rowsOf([sample({})])[0]).toMatchObject({ counts: null, memoryBytes: null, restarts: null });
});

it('adds up what several processes count, and forgets what is old', async () => {
  const store = new MetricsStore(service.database.pool);
  const now = Math.floor(Date.now() / 60_000) * 60_000;
  const counter = new RequestCounter();
  for (const ms of [10, 20, 40]) counter.count(ID, now, ms === 40, ms);
  const counted = counter.take().get(ID)!.get(now)!;
  await store.add(rowsOf([sample({ at: now, counts: counts(0) })]));
  await Promise.all([1, 2, 3].map(() => store.add(rowsOf([sample({ at: now, counts: counted, memoryBytes: 7 })]))));
  await store.add(rowsOf([sample({ at: now, restarts: 2 }), sample({ at: now - 25 * 3_600_000, restarts: 1 })]));
  const latency = { latency_p50_ms: latencyAt(counted.latency, 0.5), latency_p99_ms: latencyAt(counted.latency, 0.99) };
  const all = { requests: 9, errors: 3, ...latency, memory_bytes: 7, restarts: 2 };
  expect(await store.points(TENANT, ID, 'minute')).toEqual([{ at: new Date(now).toISOString(), ...all }]);
  await store.sweep();
  const { rows } = await service.database.pool.query('select period from deployment_metrics order by 1');
  expect(rows.map(({ period }) => period)).toEqual(['hour', 'hour', 'minute']);
  await store.remove(TENANT, ID);
  expect(await store.points(TENANT, ID, 'hour')).toEqual([]);
});

it('answers what is measured of a deployment, null for what is not, and nothing to others', async () => {
  const executor = new Measured();
  await service.start(executor);
  const [id, other] = [await service.deployment(), await service.deployment()];
  const worker = service.get(MetricsWorker);
  const use = { deployment_id: id, tenant_id: TENANT, memory_bytes: 1000, restarts: 0 };
  executor.uses = [use];
  await worker.measure();
  executor.requests.count(id, Date.now(), true, 100);
  executor.uses = [{ ...use, memory_bytes: null, restarts: 3 }];
  await worker.measure();
  const { json } = await metrics(id, 'hour');
  expect(json).toMatchObject({ deployment_id: id, period: 'hour', points: [expect.anything()] });
  expect(json.points[0]).toMatchObject({ requests: 1, errors: 1, memory_bytes: 1000, restarts: 3 });
  expect(json.points[0].latency_p50_ms).toBeGreaterThan(85);
  const process = { name: 'pod', state: 'RUNNING', reason: null, revision_id: null, started_at: null } as const;
  const pod = { ...process, restarts: 4, memory_bytes: null, cpu_cores: null, last_error: null };
  worker.saw({ tenantId: TENANT, id: other }, [pod]);
  worker.saw({ tenantId: TENANT, id: other }, [{ ...pod, restarts: 5 }]);
  await worker.measure();
  const unknown = { requests: null, errors: null, latency_p50_ms: null, latency_p99_ms: null, memory_bytes: null };
  expect((await metrics(other, 'hour')).json.points).toMatchObject([{ ...unknown, restarts: 1 }]);
  expect((await metrics(id, 'minute', 'stranger')).status).toBe(404);
  expect((await metrics(id, 'second')).status).toBe(422);
});

it('measures a hundred deployments of a workspace', async () => {
  const executor = new Measured();
  await service.start(executor);
  const tenant_id = '7f0d0f6e-5c3e-4c1a-9a61-333333333333';
  executor.uses = Array.from({ length: 120 }, (_, index) => {
    const deployment_id = `01980000-0000-7000-8000-${String(index).padStart(12, '0')}`;
    return { deployment_id, tenant_id, memory_bytes: 1, restarts: 0 };
  });
  await service.get(MetricsWorker).measure();
  const { rows } = await service.database.pool.query(
    'select count(distinct deployment_id)::int as deployments from deployment_metrics where tenant_id = $1',
    [tenant_id],
  );
  expect(rows[0].deployments).toBe(100);
});
