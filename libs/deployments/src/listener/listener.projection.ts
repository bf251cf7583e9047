import type { Listed, Page } from '@fairlead/api';
import { type EventStore, idOf, load, type Projection, type Recorded, requireOwn } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DataSource, type Repository } from 'typeorm';
import { type Listener, type ListenerEvent, listenerModel } from './listener';
import { ListenerEntity } from './listener.entity';

/** Name of the follower that keeps this view. */
export const LISTENERS_VIEW = 'listeners.view';

/** Keeps the table `listeners`. */
export function listenersProjection(store: EventStore): Projection {
  return {
    name: LISTENERS_VIEW,
    categories: ['listener'],
    holds: 1,
    /** Rows are written as their streams are after this batch or later: the next batch changes nothing then. */
    async handle(events: Recorded[], tx: PoolClient) {
      for (const stream of new Set(events.map((event) => event.stream))) {
        const seen = events.filter((event) => event.stream === stream);
        for (const event of seen as Recorded<ListenerEvent>[]) {
          const { type, data } = event;
          if (type === 'ListenerCreated') requireOwn(event, { id: data.listener_id, tenant_id: data.tenant_id });
        }
        const { state } = await load(store, listenerModel, stream, seen);
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
    },
  };
}

/** Queries of the table `listeners`. */
@Injectable()
export class ListenersView {
  private readonly listeners: Repository<ListenerEntity>;

  constructor(db: DataSource) {
    this.listeners = db.getRepository(ListenerEntity);
  }

  /** A tenant's listeners, newest first. */
  async list(tenantId: string, { limit, offset }: Page): Promise<Listed<Listener>> {
    const rows = await this.listeners.find({
      where: { tenant_id: tenantId },
      order: { created_at: 'desc', id: 'asc' },
      take: limit + 1,
      skip: offset,
    });
    return { items: rows.slice(0, limit).map(({ record }) => record), more: rows.length > limit };
  }
}
