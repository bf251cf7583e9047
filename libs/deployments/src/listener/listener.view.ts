import { EventStore, idOf, load, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool, type PoolClient } from 'pg';
import type { Listed, Page } from '../deployment/deployment.queries';
import { type Listener, type ListenerEvent, listenerModel } from './listener';

/** Name of the follower that keeps this view. */
export const LISTENERS_VIEW = 'listeners.view';

/** Keeps the table `listeners`, and reads it. */
@Injectable()
export class ListenersView implements Projection {
  readonly name = LISTENERS_VIEW;
  readonly categories = ['listener'];
  readonly holds = 1;

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
  ) {}

  /** Rows are written as their streams are after this batch or later: the next batch changes nothing then. */
  readonly handle = async (events: Recorded[], tx: PoolClient): Promise<void> => {
    for (const stream of new Set(events.map((event) => event.stream))) {
      const seen = events.filter((event) => event.stream === stream);
      for (const event of seen as Recorded<ListenerEvent>[]) {
        const { type, data } = event;
        if (type === 'ListenerCreated') requireOwn(event, { id: data.listener_id, tenant_id: data.tenant_id });
      }
      const { state } = await load(this.store, listenerModel, stream, seen);
      if (!state || state.removed) {
        await tx.query('delete from listeners where id = $1', [idOf(stream)]);
        continue;
      }
      await tx.query(
        `insert into listeners (id, tenant_id, created_at, record) values ($1, $2, $3, $4)
         on conflict (id) do update set record = excluded.record`,
        [state.id, state.tenant_id, state.created_at, JSON.stringify(state)],
      );
    }
  };

  /** A tenant's listeners, newest first. */
  async list(tenantId: string, { limit, offset }: Page): Promise<Listed<Listener>> {
    const { rows } = await this.pool.query<{ record: string }>(
      'select record from listeners where tenant_id = $1 order by created_at desc, id limit $2 offset $3',
      [tenantId, limit + 1, offset],
    );
    const items = rows.slice(0, limit).map(({ record }) => JSON.parse(record) as Listener);
    return { items, more: rows.length > limit };
  }
}
