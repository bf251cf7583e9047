import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

/** A row of the audit log: an event, or a refused request. */
export interface Entry {
  readonly id: string;
  readonly time: Date;
  /** Null for a refused attempt. */
  readonly operation: string | null;
  readonly actor: string | null;
  readonly resource: string | null;
  readonly resource_id: string | null;
  readonly request_id: string | null;
  readonly request: string | null;
  readonly address: string | null;
  readonly reason: string | null;
  /** 401 or 403, null when the request was carried out. */
  readonly status: number | null;
  /** Number of equal refused requests that this entry sums up. */
  readonly count: number;
}

interface EntryFilter {
  readonly start_time?: string;
  readonly end_time?: string;
  readonly operations?: readonly string[];
  readonly actor?: string;
  readonly resource_id?: string;
  readonly request_id?: string;
  readonly outcome?: 'success' | 'refused';
  /** True: refused requests that belong to no tenant are included. */
  readonly ofNobody?: boolean;
}

export interface Place {
  readonly time: string;
  readonly id: string;
}

const DONE = `select id, "time", operation, actor, resource, resource_id, request_id, request, address, reason,
  null::int as status, 1 as count from audit_log`;
const REFUSED = `select id, "time", null as operation, actor, null as resource, null as resource_id, request_id, request,
  address, null as reason, status, count from refused_requests`;

/** Newest entries in which choices for filters are looked for, and the most choices of each kind. */
const [LOOKED_AT, MOST_CHOICES] = [10_000, 100];

/** A value that entries have, and the number of these entries. */
interface Choice {
  readonly kind: 'operation' | 'actor' | 'resource';
  readonly value: string;
  /** Kind of the resource; null for others. */
  readonly type: string | null;
  readonly count: number;
}

@Injectable()
export class AuditQueries {
  constructor(private readonly pool: Pool) {}

  /** Operations, actors and resources of a tenant's newest entries, those with the most entries first. */
  async choices(tenantId: string) {
    const { rows } = await this.pool.query<Choice>({
      name: 'choices of the audit log',
      text: `with newest as (
          select operation, actor, resource, resource_id from audit_log where tenant_id = $1
          order by "time" desc, id desc limit $2
        ), counted as (
          select 'operation' as kind, operation as value, null as type, count(*)::int from newest group by operation
          union all select 'actor', actor, null, count(*)::int from newest group by actor
          union all select 'resource', resource_id, resource, count(*)::int from newest group by resource_id, resource
        ), ranked as (
          select *, row_number() over (partition by kind order by count desc, value) as place from counted
        )
        select kind, value, type, count from ranked where place <= $3 order by kind, place`,
      values: [tenantId, LOOKED_AT, MOST_CHOICES],
    });
    const of = (wanted: Choice['kind']) => rows.filter(({ kind }) => kind === wanted);
    return {
      operations: of('operation').map(({ value: operation, count }) => ({ operation, count })),
      actors: of('actor').map(({ value: id, count }) => ({ id, count })),
      resources: of('resource').map(({ value: id, type, count }) => ({ id, type, count })),
    };
  }

  /** A tenant's entries, newest first, after `place`; one more than `limit` when there are more. */
  async list(tenantId: string, filter: EntryFilter, limit: number, place?: Place): Promise<Entry[]> {
    const values: unknown[] = [tenantId];
    const bind = (value: unknown) => `$${values.push(value)}`;
    const common: string[] = [];
    const { start_time, end_time, actor, request_id, operations, resource_id, outcome, ofNobody = false } = filter;
    if (start_time !== undefined) common.push(`"time" >= ${bind(start_time)}::timestamptz`);
    if (end_time !== undefined) common.push(`"time" <= ${bind(end_time)}::timestamptz`);
    if (actor !== undefined) common.push(`actor = ${bind(actor)}`);
    if (request_id !== undefined) common.push(`request_id = ${bind(request_id)}`);
    if (place) common.push(`("time", id) < (${bind(place.time)}::timestamptz, ${bind(place.id)}::uuid)`);
    const done = ['tenant_id = $1', ...common];
    const refused = [ofNobody ? '(tenant_id = $1 or tenant_id is null)' : 'tenant_id = $1', ...common];
    if (operations) done.push(`operation = any(${bind(operations)}::text[])`);
    if (resource_id !== undefined) done.push(`resource_id = ${bind(resource_id)}`);
    const page = (select: string, conditions: readonly string[]) =>
      `(${select} where ${conditions.join(' and ')} order by "time" desc, id desc limit ${limit + 1})`;
    const parts = [
      ...(outcome === 'refused' ? [] : [page(DONE, done)]),
      // A refused attempt did nothing to anything.
      ...(outcome === 'success' || operations || resource_id !== undefined ? [] : [page(REFUSED, refused)]),
    ];
    if (parts.length === 0) return [];
    const { rows } = await this.pool.query<Entry>(
      `select * from (${parts.join(' union all ')}) as entry order by "time" desc, id desc limit ${limit + 1}`,
      values,
    );
    return rows;
  }
}
