import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';
import type { Monitor } from './monitor';

/** Results of the last look; null before the first. Times are ISO 8601. */
export type LastLook = {
  readonly at: string;
  readonly value: number | null;
  readonly runs: number | null;
  readonly problem: string | null;
} | null;

interface Row {
  readonly state: string;
  readonly last: string | null;
}

/** Queries of the tables `monitors` and `monitor_looks`. */
@Injectable()
export class MonitorQueries {
  constructor(private readonly pool: Pool) {}

  /** A page of a tenant's monitors, of one project alone when it is named, the oldest first. */
  async list(tenantId: string, projectId: string | undefined, page: { limit: number; offset: number }) {
    const { rows } = await this.pool.query<Row>(
      `select m.state, l.last from monitors m left join monitor_looks l on l.tenant_id = $1 and l.monitor_id = m.id
       where m.tenant_id = $1 and ($2::uuid is null or m.project_id = $2) order by m.id limit $3 offset $4`,
      [tenantId, projectId ?? null, page.limit + 1, page.offset],
    );
    const items = rows.slice(0, page.limit).map(({ state, last }) => {
      return { monitor: JSON.parse(state) as Monitor, last: last === null ? null : (JSON.parse(last) as LastLook) };
    });
    return { items, more: rows.length > page.limit };
  }

  async lastLook(tenantId: string, id: string): Promise<LastLook> {
    const text = 'select last from monitor_looks where tenant_id = $1 and monitor_id = $2';
    const { rows } = await this.pool.query<{ last: string | null }>(text, [tenantId, id]);
    return rows[0]?.last == null ? null : (JSON.parse(rows[0].last) as LastLook);
  }
}
