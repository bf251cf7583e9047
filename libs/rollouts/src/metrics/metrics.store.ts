import { latencyAt } from '@fairlead/contracts';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import { KEPT_MS, type MetricsRow, PERIODS, type Period } from './sample';

interface StoredRow {
  readonly at: Date;
  readonly requests: number | null;
  readonly errors: number | null;
  readonly latency: readonly number[] | null;
  readonly memory_bytes: string | null;
  readonly restarts: number | null;
}

// Several processes may count requests of one deployment: what each of them adds is added up.
const ADD = `
  insert into deployment_metrics as m
    (tenant_id, deployment_id, period, at, requests, errors, latency, memory_bytes, restarts)
  select tenant_id, deployment_id, period, at, requests, errors, latency::int[], memory_bytes, restarts
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::int[], $6::int[], $7::text[], $8::bigint[], $9::int[])
    as fresh (tenant_id, deployment_id, period, at, requests, errors, latency, memory_bytes, restarts)
  on conflict (tenant_id, deployment_id, period, at) do update set
    requests = coalesce(m.requests + excluded.requests, m.requests, excluded.requests),
    errors = coalesce(m.errors + excluded.errors, m.errors, excluded.errors),
    latency = (
      select array_agg(coalesce(one, 0) + coalesce(other, 0) order by bucket)
      from unnest(m.latency, excluded.latency) with ordinality as both_of (one, other, bucket)
    ),
    memory_bytes = greatest(m.memory_bytes, excluded.memory_bytes),
    restarts = coalesce(m.restarts + excluded.restarts, m.restarts, excluded.restarts)`;

/** Measurements of deployments by minute and by hour. */
@Injectable()
export class MetricsStore {
  constructor(private readonly pool: Pool) {}

  async add(rows: readonly MetricsRow[]): Promise<void> {
    if (rows.length === 0) return;
    const columns = [
      rows.map(({ tenantId }) => tenantId),
      rows.map(({ deploymentId }) => deploymentId),
      rows.map(({ period }) => period),
      rows.map(({ at }) => new Date(at)),
      rows.map(({ counts }) => counts && counts.requests),
      rows.map(({ counts }) => counts && counts.errors),
      rows.map(({ counts }) => counts && `{${counts.latency.join()}}`),
      rows.map(({ memoryBytes }) => memoryBytes),
      rows.map(({ restarts }) => restarts),
    ];
    await this.pool.query({ name: 'add deployment metrics', text: ADD, values: columns });
  }

  /** The measurements of a deployment as the API answers them, the oldest first. */
  async points(tenantId: string, deploymentId: string, period: Period) {
    const { rows } = await this.pool.query<StoredRow>({
      name: 'deployment metrics',
      text: `select at, requests, errors, latency, memory_bytes, restarts from deployment_metrics
        where tenant_id = $1 and deployment_id = $2 and period = $3 and at > $4 order by at`,
      values: [tenantId, deploymentId, period, new Date(Date.now() - KEPT_MS[period])],
    });
    return rows.map(({ at, latency, memory_bytes, ...counts }) => ({
      at: at.toISOString(),
      ...counts,
      latency_p50_ms: latency && latencyAt(latency, 0.5),
      latency_p99_ms: latency && latencyAt(latency, 0.99),
      memory_bytes: memory_bytes === null ? null : Number(memory_bytes),
    }));
  }

  /** Forgets the measurements of a deployment. */
  async remove(tenantId: string, deploymentId: string): Promise<void> {
    await this.pool.query('delete from deployment_metrics where tenant_id = $1 and deployment_id = $2', [
      ...[tenantId, deploymentId],
    ]);
  }

  /** Deletes what is older than it is kept. */
  async sweep(): Promise<void> {
    for (const period of PERIODS) {
      const before = new Date(Date.now() - KEPT_MS[period]);
      await this.pool.query('delete from deployment_metrics where period = $1 and at < $2', [period, before]);
    }
  }
}
