import { MONITOR_MEASURES } from '@fairlead/contracts';
import { PayloadStore } from '@fairlead/blobs';
import { refreshRunStats, RunBatches, TraceCounts } from '@fairlead/runs';
import { transaction } from '@fairlead/postgres';
import { EventStore, newId } from '@fairlead/eventing';
import { MetricsStore } from '@fairlead/rollouts';
import { DeliveryBounds, WebhooksOptions } from '@fairlead/webhooks';
import { Pool } from 'pg';
import { askUntil, type RouteService } from '../route-service';
import { fillTenant, upload } from '../tenant-things';

const UPLOAD = '/api/v1/datasets/upload-experiment';

/** Reaches the statements that one successful request to each route leaves out. */
export async function askFurther(service: RouteService): Promise<void> {
  const key = await service.newTenant('further');
  const { ids } = await fillTenant(service, key, 'further');
  const { dataset_id: dataset, session_id: session, run_id: run, own_dataset_id: own, own_example_id: example } = ids;
  const ask = <T>(method: string, path: string, body?: object) => service.ask<T>(method, path, key, body);
  const send = (method: string, path: string, body?: object) => service.send(method, path, key, body);
  const feedback = (body: object) => send('POST', '/api/v1/feedback', { key: 'correct', ...body });

  const second = await uploadOf(service, key, {
    ...upload('further second'),
    dataset_name: undefined,
    dataset_id: dataset,
  });
  const judge = { feedback_source: { type: 'model', metadata: { __run: { run_id: run } } } };
  await feedback({ run_id: run, comment: 'why', ...judge });
  await feedback({
    run_id: run,
    key: 'label',
    value: 'good',
    feedback_config: { type: 'categorical', categories: [] },
  });
  await feedback({ session_id: session, key: 'whole', value: { many: 'members' } });
  const gone = newId();
  await feedback({ id: gone, run_id: run });
  await ask('PATCH', `/api/v1/feedback/${gone}`, { score: 0 });
  await ask('DELETE', `/api/v1/feedback/${gone}`);
  await feedback({ id: gone, run_id: run });

  const compared = `/api/v1/datasets/${dataset}/compare`;
  const experiments = `?experiments=${session},${second}`;
  await ask('GET', `${compared}${experiments}&q=further&comments=correct&sort=row`);
  await ask('GET', `${compared}/rows/${ids.example_id}${experiments}`);
  await ask('PUT', `/api/v1/datasets/${dataset}/baseline`, { experiment_id: session });
  await ask('GET', '/v1/experiments');
  for (const measure of MONITOR_MEASURES) {
    const wanted = { name: measure, project_id: session, measure, alerts_when: 'above', threshold: 1 };
    const feedback_key = measure === 'score' ? 'correct' : null;
    for (const window_minutes of [60, 7 * 24 * 60]) {
      const { id } = await ask<{ id: string }>('POST', '/v1/monitors', { ...wanted, feedback_key, window_minutes });
      await askUntil(async () => {
        const { last_look } = await ask<{ last_look: { problem: null } | null }>('GET', `/v1/monitors/${id}`);
        return last_look?.problem === null ? last_look : undefined;
      });
    }
  }
  const sort_params = { sort_by: 'feedback.correct', sort_order: 'ASC' };
  await ask('POST', `/api/v1/datasets/${dataset}/runs`, { session_ids: [session, second], sort_params });
  await ask('POST', '/v1/shares', { kind: 'run', run_id: run });

  const filter = 'or(eq(feedback_key, "correct"), eq(input_key, "question"), search("further"))';
  const inTrace = { trace_filter: 'eq(is_root, true)', tree_filter: 'eq(status, "success")' };
  await ask('POST', '/api/v1/runs/query', { session: [session], filter, ...inTrace });
  await ask('POST', '/api/v1/runs/stats', { session: [session], filter });
  await ask('GET', `/api/v1/feedback?session=${session}`);
  await ask('GET', '/api/v1/sessions?count=true');
  await ask('GET', `/api/v1/datasets/${own}/versions?example=${example}`);
  await ask('PUT', `/api/v1/datasets/${own}/tags`, { tag: 'tagged', as_of: 'latest' });
  await ask('GET', `/api/v1/examples?dataset=${own}&as_of=tagged`);
  await ask('POST', '/api/v1/examples', { dataset_id: own, source_run_id: run, use_source_run_io: true });

  await askForTraces(service, key);
  await askForRefusals(service, key, session!);
  await askForFills(service, key);
  await askForDeliveries(service, key);
  await appendWithoutRequests(service, key);
}

async function uploadOf(service: RouteService, key: string, body: object): Promise<string> {
  type Uploaded = { experiment: { id: string } };
  const { experiment } = await service.ask<Uploaded>('POST', UPLOAD, key, body);
  await askUntil(async () => {
    type Session = { run_count: number | null };
    const { run_count } = await service.ask<Session>('GET', `/api/v1/sessions/${experiment.id}`, key);
    return run_count ?? undefined;
  });
  return experiment.id;
}

/** A trace whose root says what it used after a step has, and that ends later than it begins to be known. */
async function askForTraces(service: RouteService, key: string): Promise<void> {
  const post = (body: object) => service.ask('POST', '/api/v1/runs', key, { session_name: 'further traces', ...body });
  const usage = { outputs: { usage_metadata: { total_tokens: 1 } } };
  const root = newId();
  await post({ id: root, name: 'root', trace_id: root });
  await post({ id: newId(), name: 'step', trace_id: root, parent_run_id: root, ...usage });
  await service.ask('PATCH', `/api/v1/runs/${root}`, key, { end_time: new Date().toISOString(), ...usage });
  const { projects } = await service.ask<{ projects: { id: string; name: string }[] }>('GET', '/v1/projects?q=e', key);
  const { id } = projects.find(({ name }) => name === 'further traces')!;
  const filter = new URLSearchParams({
    ...{
      status: 'error',
      name: 'root',
      run_type: 'chain',
      from: '2026-01-01',
      to: '2100-01-01',
      tag: 'a',
      text: 'root',
    },
    ...{ metadata: '{"a":1}', score: 'correct>0', thread_id: 't', filter: 'gt(latency, 0)' },
  });
  type Listed = { first_cursor: string };
  const { first_cursor: place } = await service.ask<Listed>('GET', `/v1/projects/${id}/traces`, key);
  await service.ask('GET', `/v1/projects/${id}/traces?${filter.toString()}&cursor=${place}&newer_than=${place}`, key);
  await service.ask('GET', `/v1/projects/${id}/traces?status=success&status=pending&cursor=${place}`, key);
  await service.ask('GET', `/v1/projects/${id}/traces/${root}`, key);
  await service.ask('GET', `/v1/projects/${id}/counts`, key);
  await service.ask('GET', `/v1/projects?cursor=${place}`, key);
}

/** Items that are refused, and feedback that comes before its run. */
async function askForRefusals(service: RouteService, key: string, session: string): Promise<void> {
  await service.send('POST', '/api/v1/runs/batch', key, { post: [{ id: newId(), name: 'bad', inputs: 3 }], patch: [] });
  const late = newId();
  const form = new FormData();
  form.append(`feedback.${newId()}`, JSON.stringify({ key: 'early', score: 1, run_id: late, trace_id: late }));
  // Its run never comes.
  form.append(`feedback.${newId()}`, JSON.stringify({ key: 'lost', score: 1, run_id: newId() }));
  form.append(`feedback.${newId()}`, JSON.stringify({ key: 'bad', run_id: late, session_id: newId() }));
  form.append(`feedback.${newId()}`, JSON.stringify({ key: 'named', score: 1, run_id: late, session_id: session }));
  await service.send('POST', '/api/v1/runs/multipart', key, form);
  await service.ask('POST', '/api/v1/runs', key, { id: late, name: 'late' });
}

/** Fills with texts written otherwise, and uploads that change examples. */
async function askForFills(service: RouteService, key: string): Promise<void> {
  const body = upload('further filled');
  const [row] = body.results;
  const failed = { ...body, results: [{ ...row!, error: 'It broke.' }] };
  const id = await uploadOf(service, key, failed);
  const fill = { ...body, summary_experiment_scores: undefined, results: [{ ...row!, inputs: 'INPUTS' }] };
  const text = JSON.stringify(fill).replace('"INPUTS"', `{ "question" : ${JSON.stringify(body.experiment_name)} }`);
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  await fetch(`${service.url}${UPLOAD}?into=${id}`, { method: 'POST', headers, body: text });
  const again = { ...body, experiment_name: 'further again', results: [{ ...row!, inputs: { question: 'changed' } }] };
  await uploadOf(service, key, again);
}

/** Deliveries that are given up, and more than are kept; what was measured of a deployment. */
async function askForDeliveries(service: RouteService, key: string): Promise<void> {
  const pool = service.app.get(Pool);
  const { tenant_id } = await service.ask<{ tenant_id: string }>('GET', '/api/v1/api-key/current', key);
  const hook = { url: `${service.outside.url}/hook`, event_types: ['dataset.deleted'] };
  const { id: webhook_id } = await service.ask<{ id: string }>('POST', '/v1/webhooks', key, hook);
  await service.ask('PATCH', `/v1/webhooks/${webhook_id}`, key, { enabled: false });
  const bounds = new DeliveryBounds(new WebhooksOptions({ mostPending: 1 }));
  await transaction(pool, (tx) => bounds.keep([{ webhook_id, tenant_id }], tx));
  const measured = { requests: 1, errors: 0, latency: [1] };
  const row = {
    tenantId: tenant_id,
    deploymentId: newId(),
    period: 'minute' as const,
    at: Date.now(),
    counts: measured,
  };
  const metrics = new MetricsStore(pool);
  await metrics.add([{ ...row, memoryBytes: 1, restarts: 0 }]);
  await metrics.sweep();
}

/** Events of early versions, sweeps, and what only a fault between two steps reaches. */
async function appendWithoutRequests(service: RouteService, key: string): Promise<void> {
  const [store, pool] = [service.app.get(EventStore), service.app.get(Pool)];
  const { id } = await service.ask<{ id: string }>('POST', '/api/v1/datasets', key, { name: 'of an early version' });
  await store.append(`dataset-${id}`, 'any', [{ type: 'DatasetDeleted', data: {} }], {});
  const { tenant_id: tenant } = await service.ask<{ tenant_id: string }>('GET', '/api/v1/api-key/current', key);
  const run = { id: newId(), name: 'of no session' };
  await store.append(`experiment-${newId()}`, 'any', [{ type: 'RunsReceived', data: { runs: [run] } }], { tenant });
  await store.append(`tenant-${newId()}`, 'any', [{ type: 'TenantRemoved', data: {} }], {});
  const payloads = new PayloadStore(pool);
  await payloads.needNoMore(tenant, 'of a fill that failed', newId());
  await payloads.unreferenced(new Date(0));
  await payloads.removeDrafts(new Date(0));
  const batches = new RunBatches(pool);
  for (let attempt = 1; attempt <= 2; attempt++)
    await batches.keep(tenant, '01900000-0000-7000-8000-000000000001', Buffer.from('{}\n'));
  await batches.sweep('live-runs', 0);
  await countAnew(service, key, tenant);
  const slow = payloads.begin(tenant);
  await slow.write(Buffer.from('what comes slowly is stored before its end'));
  await askUntil(async () => (await pool.query('select id from payload_drafts')).rows[0] as object | undefined);
  await slow.discard();
}

/** Counts a session anew that takes two transactions. */
async function countAnew(service: RouteService, key: string, tenant: string): Promise<void> {
  const pool = service.app.get(Pool);
  const { id } = await service.ask<{ id: string }>('POST', '/api/v1/sessions', key, { name: 'counted anew' });
  await askUntil(
    async () =>
      (await pool.query('select id from sessions where id = $1 and tenant_id = $2', [id, tenant])).rows[0] as
        | object
        | undefined,
  );
  await pool.query(
    `insert into runs (id, tenant_id, session_id, name, run_type, start_time, status, row_number)
     select gen_random_uuid(), $1, $2, 'r', 'chain', now(), 'success', 0 from generate_series(1, 20001)`,
    [tenant, id],
  );
  for (let time = 1; time <= 2; time++)
    await transaction(pool, (tx) => refreshRunStats(tx, tenant, id, new TraceCounts(), 0));
}
