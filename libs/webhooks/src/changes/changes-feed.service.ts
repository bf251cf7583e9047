import { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { EventStore, type Recorded } from '@fairlead/eventing';
import { outsideRequest } from '@fairlead/postgres';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { PUBLISHED, publicEvent } from '../webhook/public-event';
import { type Change, RecentChanges } from './recent-changes';

const PAUSE_MS = 200;

/** Follows the log for whoever waits for changes in this process: once, however many wait. */
@Injectable()
export class ChangesFeed implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController();
  private readonly news = new EventEmitter().setMaxListeners(0);
  private recent: RecentChanges | undefined;
  private begun: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  constructor(private readonly store: EventStore) {}

  onApplicationBootstrap(): void {
    void this.begin();
  }

  /** Ends all waits at once when the service stops. */
  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    for (const workspace of this.news.eventNames()) this.news.emit(workspace);
    await this.following;
  }

  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  /** The changes that are known, once the log is followed. */
  async known(): Promise<RecentChanges> {
    await this.begin();
    return this.recent!;
  }

  /** True when the log has come to a position; a position of another log is beyond the end of this one. */
  async has(position: bigint): Promise<boolean> {
    const { reached } = await this.known();
    return position <= reached || position <= (await this.store.end());
  }

  /** Resolves when something happens in a workspace, after `ms` milliseconds, or when the signal aborts. */
  next(workspace: string, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.news.off(workspace, done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.news.on(workspace, done);
      signal.addEventListener('abort', done);
      if (signal.aborted || this.stopped.aborted) done();
    });
  }

  private begin(): Promise<void> {
    this.begun ??= outsideRequest(() => this.start());
    return this.begun;
  }

  private async start(): Promise<void> {
    while (!this.stopped.aborted && !this.recent) {
      try {
        this.recent = new RecentChanges(await this.store.head());
      } catch {
        await this.rest();
      }
    }
    this.recent ??= new RecentChanges(0n);
    this.following = this.follow(this.recent);
  }

  private async follow(recent: RecentChanges): Promise<void> {
    while (!this.stopped.aborted) {
      try {
        for await (const batch of this.store.subscribe(recent.reached, this.stopped, { types: PUBLISHED })) {
          const changes = batch.events.flatMap((event) => changeOf(event) ?? []);
          recent.take(changes, batch.position);
          for (const workspace of new Set(changes.map((change) => change.workspace))) this.news.emit(workspace);
        }
      } catch {
        // The store cannot be read: readiness says so, and those who wait learn of changes later.
        await this.rest();
      }
    }
  }

  private async rest(): Promise<void> {
    await pause(PAUSE_MS, undefined, { signal: this.stopped }).catch(() => undefined);
  }
}

function changeOf(event: Recorded): Change | undefined {
  const { tenant } = event.metadata;
  const told = publicEvent(event);
  if (tenant === undefined || !told) return undefined;
  const ids = Object.entries(told.data).flatMap(([name, value]) =>
    name.endsWith('_id') && typeof value === 'string' ? [value] : [],
  );
  return {
    position: event.position,
    workspace: tenant,
    type: told.type,
    ids: new Set(ids),
    text: JSON.stringify(told),
  };
}
