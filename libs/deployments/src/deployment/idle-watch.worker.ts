import { PeriodicWork } from '@fairlead/schema';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { DeploymentCommands } from './deployment.commands';
import { DeploymentsOptions } from '../model/deployments.options';
import { reportUnused, reportUsed } from '../model/idleness';

/** Deployments looked at with one statement. */
const PAGE = 500;
/** Milliseconds between two looks, at most. */
const LONGEST_PAUSE = 600_000;

interface Row {
  readonly id: string;
  readonly tenant_id: string;
  readonly status: string;
}

/** Reports deployments as UNUSED that were neither changed nor used for the configured time, until they are again. */
@Injectable()
export class IdleWatch implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('IdleWatch');
  private readonly looking = new PeriodicWork(
    () => this.look(new Date(Date.now() - this.options.unusedAfter!)),
    (error) => this.logger.error(`Unused deployments could not be looked for: ${String(error)}`),
  );

  constructor(
    private readonly pool: Pool,
    private readonly commands: DeploymentCommands,
    private readonly options: DeploymentsOptions,
  ) {}

  onApplicationBootstrap(): void {
    const { unusedAfter } = this.options;
    if (unusedAfter !== undefined) this.looking.start(Math.min(LONGEST_PAUSE, unusedAfter / 4));
  }

  onApplicationShutdown(): Promise<void> {
    return this.looking.stop();
  }

  /** Reports what has been idle since `time` as UNUSED, and what is used again as READY. */
  async look(time: Date): Promise<void> {
    const since = time.toISOString();
    for (let rows = await this.page(since); rows.length > 0; rows = await this.page(since, rows.at(-1)!.id)) {
      for (const { id, tenant_id: tenant, status } of rows) {
        const decide = status === 'UNUSED' ? reportUsed : reportUnused(since);
        const metadata = { tenant, actor: 'system:deployments' };
        await this.commands.run({ metadata }, id, decide);
      }
    }
  }

  private async page(since: string, after = '00000000-0000-0000-0000-000000000000'): Promise<Row[]> {
    const { rows } = await this.pool.query<Row>(
      `select d.id, d.tenant_id, d.status
       from deployments d join deployment_documents doc using (id) cross join lateral (
         select (doc.document::json ->> 'updated_at')::timestamptz as changed_at,
           (select max(p.used_at) from tracing_projects p where p.tenant_id = d.tenant_id
             and p.name = coalesce(doc.document::json ->> 'tracing_project', d.name)) as used_at
       ) as last
       where d.id > $2 and d.created_at <= $1 and case d.status
         when 'READY' then changed_at <= $1 and coalesce(used_at, '-infinity') <= $1
         when 'UNUSED' then used_at > changed_at end
       order by d.id limit ${PAGE}`,
      [since, after],
    );
    return rows;
  }
}
