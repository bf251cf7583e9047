import type { SessionCreatedMessage } from '@fairlead/contracts';
import { type EventContext, idOf } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { Pool } from 'pg';
import { LONGEST_NAME } from './deployment.schema';

/** Notes when deployments were last used: when runs were sent to the session of their name. */
@Controller()
export class UsageConsumer {
  constructor(private readonly pool: Pool) {}

  @EventPattern<string>('SessionCreated')
  async created(@Payload() { name }: SessionCreatedMessage, @Ctx() { event }: EventContext): Promise<void> {
    if (name.length > LONGEST_NAME) return;
    await this.pool.query(
      `insert into tracing_projects (id, tenant_id, name, used_at) values ($1, $2, $3, $4) on conflict (id) do nothing`,
      [idOf(event.stream), event.metadata.tenant, name, event.time],
    );
  }

  @EventPattern<string>('RunsReceived')
  async used(@Ctx() { event }: EventContext): Promise<void> {
    await this.pool.query('update tracing_projects set used_at = greatest(used_at, $2) where id = $1', [
      idOf(event.stream),
      event.time,
    ]);
  }
}
