import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, Optional, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Pool } from 'pg';
import { EventStore } from '../core/event-store';
import { checkpoint, follow, PAUSE_MS } from './follow';
import { FollowerRetries } from './follower-retries';
import { batches, failures, handledEvents } from './metrics';
import { ParkedSubjects } from './parked-subjects';
import type { BatchHandler, FollowerStatus, Projection } from './projection';
import { PATIENCE, reasonOf } from './retries';
import { SetAside, type Waiting } from './set-aside';
import { endOf } from './stop';
import { traceHandling } from '../core/tracing';
import { Wakeups } from './wakeups';

interface Running extends Projection {
  position: bigint;
  readonly progress: Wakeups;
  /** Woken when a request waits for it: it then makes no pause. */
  readonly hurry: Wakeups;
  failing?: string;
}

const RETRY_MS = { first: 100, most: 1000 };

/**
 * Runs the followers of this process, each by itself. When a follower cannot apply an event, it parks the stream and
 * goes on with all others. The stream is retried automatically a number of times, and then on request. After other
 * failures, the follower tries again with growing pauses, and its status has the reason. Followers are registered
 * before the application starts (`onModuleInit`) and run until it shuts down, which waits for them for 30 seconds at most.
 */
@Injectable()
export class Followers implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Followers');
  private readonly running = new Map<string, Running>();
  private readonly stopping = new AbortController();
  private readonly parked: ParkedSubjects;
  private readonly retries: FollowerRetries;
  private ended: Promise<unknown> = Promise.resolve();
  private readonly following = new Set<string>();
  private started = false;

  constructor(
    private readonly store: EventStore,
    private readonly pool: Pool,
    @Optional() private readonly patience = PATIENCE,
    @Optional() private readonly stopMs?: number,
  ) {
    this.parked = new ParkedSubjects(pool);
    this.retries = new FollowerRetries(store, pool, this.parked, patience, this.running);
    // Every follower waits on this one signal.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Adds a follower. It starts with the application, or at once when that has started. */
  register(projection: Projection): void {
    if (this.running.has(projection.name)) throw new Error(`Two followers are named ${projection.name}.`);
    const follower: Running = { ...projection, position: -1n, progress: new Wakeups(), hurry: new Wakeups() };
    this.running.set(projection.name, follower);
    if (this.started) this.run(follower);
  }

  onApplicationBootstrap(): void {
    this.started = true;
    for (const follower of this.running.values()) this.run(follower);
    this.retries.start();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    const what = () => `The followers (${[...this.following].join(', ') || 'their retries'})`;
    await endOf(Promise.all([this.ended, this.retries.stop()]), this.logger, what, this.stopMs);
  }

  /**
   * Resolves to true once the named followers (without names: all except those that gather) have handled the log up to
   * `position`; to false after `ms` milliseconds.
   */
  async passed(position: bigint, names: readonly string[] = this.prompt(), ms = 1000): Promise<boolean> {
    const deadline = Date.now() + ms;
    for (const name of names) {
      const follower = this.running.get(name);
      while (follower && follower.position < position) {
        const left = deadline - Date.now();
        if (left <= 0 || this.stopping.signal.aborted) return false;
        await follower.progress.next(this.stopping.signal, left);
      }
    }
    return true;
  }

  /**
   * As `passed`, for a request that waits for one follower, which then ends its pause between batches.
   * @throws Error when no follower of this process has the name
   */
  async shown(position: bigint, name: string, ms: number): Promise<boolean> {
    const follower = this.named(name);
    const deadline = performance.now() + ms;
    while (follower.position < position) {
      const left = deadline - performance.now();
      if (left <= 0 || this.stopping.signal.aborted) return false;
      follower.hurry.wake();
      await follower.progress.next(this.stopping.signal, left);
    }
    return true;
  }

  /**
   * Returns the position up to which a follower has handled the log; -1 before it has begun. @throws Error when there
   * is none
   */
  positionOf(name: string): bigint {
    return this.named(name).position;
  }

  /** Returns the categories of streams that a follower wants; undefined for all. @throws Error when there is none */
  categoriesOf(name: string): readonly string[] | undefined {
    return this.named(name).categories;
  }

  async status(): Promise<FollowerStatus[]> {
    const head = await this.store.head();
    return [...this.running.values()].map((follower) => {
      const { name, position, failing, optional = false } = follower;
      const reached = position < 0n ? 0n : position;
      const lag = head > reached ? (head - reached - 1n) / this.store.stride + 1n : 0n;
      return { name, position: reached, lag, gathers: gathers(follower), failing, optional };
    });
  }

  private named(name: string): Running {
    const follower = this.running.get(name);
    if (!follower) throw new Error(`No follower of this process is named ${name}.`);
    return follower;
  }

  private run(follower: Running): void {
    this.following.add(follower.name);
    const following = this.followUntilStopped(follower).finally(() => this.following.delete(follower.name));
    this.ended = Promise.all([this.ended, following]);
  }

  private async followUntilStopped(follower: Running): Promise<void> {
    const { signal } = this.stopping;
    const aside =
      follower.setsAside === false ? undefined : new SetAside(this.parking(follower.name), this.patience.attempts);
    let pause = RETRY_MS.first;
    let stoppedAt = -1n;
    const passed = (position: bigint) => {
      follower.position = position;
      follower.progress.wake();
      // Until then it only reads again what is not for it.
      if (position <= stoppedAt) return;
      if (follower.failing !== undefined) this.logger.log(`${follower.name} goes on at ${position}`);
      follower.failing = undefined;
      pause = RETRY_MS.first;
    };
    while (!signal.aborted) {
      try {
        follower.position = await checkpoint(this.pool, follower.name);
        const moved = (position: bigint) => position > follower.position && passed(position);
        const { name } = follower;
        const options = { ...optionsOf(follower), passed: moved, aside };
        await follow(name, this.store, this.pool, signal, watched(follower), options);
      } catch (error) {
        if (signal.aborted) return;
        failures.inc({ follower: follower.name });
        if (follower.position > stoppedAt) stoppedAt = follower.position;
        const reason = reasonOf(error);
        if (follower.failing !== reason)
          this.logger.error(`${follower.name} stopped at ${follower.position}: ${reason}`);
        follower.failing = reason;
        await delay(RETRY_MS.first, undefined, { signal }).catch(() => undefined);
        // A request that waits for this follower may wait for an event that can be applied.
        if (pause > RETRY_MS.first) await follower.hurry.next(signal, pause - RETRY_MS.first);
        pause = Math.min(pause * 2, RETRY_MS.most);
      }
    }
  }

  private parking(name: string): Waiting {
    return {
      withoutWaiting: (events, tx) => this.parked.withoutWaiting(name, events, tx),
      park: async (event, reason, tx) => {
        failures.inc({ follower: name });
        await this.parked.park(name, event, reason, this.patience.firstMs, tx);
        this.logger.warn(`${name} failed at ${event.stream} version ${event.version}: ${reason}`);
        this.retries.wake();
      },
    };
  }

  private prompt(): string[] {
    return [...this.running.values()].filter((follower) => !gathers(follower)).map(({ name }) => name);
  }
}

/** True when some lag of a follower is usual. A follower that requests wait for pauses only while no request waits. */
function gathers({ gatherMs = 0, pipelined = false }: Projection): boolean {
  return gatherMs > PAUSE_MS && !pipelined;
}

function optionsOf({ categories, types, gatherMs, pipelined, holds, hurry }: Running) {
  return { categories, types, gatherMs, pipelined, holds, hurry };
}

/** Returns the handler of a follower with metrics, and with a span when its events were traced. */
function watched({ name, handle }: Projection): BatchHandler {
  return async (events, tx) => {
    const end = batches.startTimer({ follower: name });
    await traceHandling(`follow ${name}`, events, () => handle(events, tx));
    end();
    handledEvents.inc({ follower: name }, events.length);
  };
}
