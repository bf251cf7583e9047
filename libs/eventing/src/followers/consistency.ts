import { setTimeout as delay } from 'node:timers/promises';
import { outsideRequest, SharedReads } from '@fairlead/postgres';
import { Unavailable } from '@fairlead/schema';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { EventStore } from '../core/event-store';
import { Followers } from './followers';
import { readsBehind } from './metrics';
import { NewestEvents } from './newest-events';
import { endOf } from './stop';
import { Wakeups } from './wakeups';

/** A view did not contain the newest event of the workspace within the time limit (503). */
export class ViewBehind extends Unavailable {
  constructor(readonly view: string) {
    super(1, 'What was written last cannot be read yet, try again.');
  }
}

/**
 * Longest wait of a read for a view (ms). Views are usually a few milliseconds behind, on an overloaded machine more
 * than a second. A client that repeats its request costs such a machine more than a read that waits.
 */
const READ_WAIT_MS = 5000;
const PAUSE_MS = 200;

/**
 * Delays reads until they contain earlier writes. Commands answer when their events are committed; a read waits until
 * the view has passed the newest event of its workspace. Later events of other workspaces are not waited for.
 */
@Injectable()
export class Consistency implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly progress = new Wakeups();
  private readonly reads = new SharedReads();
  private newest: NewestEvents | undefined;
  private following: Promise<void> | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
  ) {}

  onApplicationBootstrap(): void {
    this.following ??= this.follow();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await endOf(this.following ?? Promise.resolve(), new Logger('Consistency'), () => 'The tail of the log');
  }

  /**
   * Resolves when the named views contain every event of the workspace (of all workspaces when it is undefined) that
   * was in the log at the time of the call. @throws ViewBehind after `ms` milliseconds
   */
  async upToDate(workspace: string | undefined, views: readonly string[], ms = READ_WAIT_MS): Promise<void> {
    this.following ??= outsideRequest(() => this.follow());
    const deadline = performance.now() + ms;
    // Requests of many workspaces share the answer: it does not end with the client of one, nor take a place of one.
    const asked = this.reads.run('head', () => outsideRequest(() => this.store.head()));
    const head = await inTime(asked, ms, views[0]!);
    if (views.every((view) => this.followers.positionOf(view) >= head)) return;
    const newest = await this.newestUpTo(head, deadline, views[0]!);
    for (const view of views) {
      const needed = newest.of(workspace, this.followers.categoriesOf(view));
      const left = deadline - performance.now();
      if (!(await this.followers.shown(needed, view, left))) throw behind(view);
    }
  }

  private async newestUpTo(head: bigint, deadline: number, view: string): Promise<NewestEvents> {
    for (;;) {
      const { count } = this.progress;
      if (this.newest && this.newest.reached >= head) return this.newest;
      const left = deadline - performance.now();
      if (left <= 0 || this.stopping.signal.aborted) throw behind(view);
      await this.progress.next(this.stopping.signal, left, count);
    }
  }

  private async follow(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        this.newest ??= new NewestEvents(await this.store.head());
        this.progress.wake();
        for await (const batch of this.store.subscribe(this.newest.reached, signal)) {
          this.newest.take(batch);
          this.progress.wake();
        }
      } catch {
        // The store cannot be read: followers say so in their status, and reads that wait for it end after their time.
        await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

function behind(view: string): ViewBehind {
  readsBehind.inc({ view });
  return new ViewBehind(view);
}

async function inTime<T>(answer: Promise<T>, ms: number, view: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(behind(view)), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
