import { setImmediate } from 'node:timers/promises';
import type { Pool } from 'pg';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { FollowerStatus } from './projection';
import { ParkedSubjects } from './parked-subjects';

export const appends = new Counter({
  name: 'fairlead_appends_total',
  help: 'Appends by outcome: appended, repeated (its events were there already), conflict, failed',
  labelNames: ['outcome'],
});
export const appendedEvents = new Counter({ name: 'fairlead_appended_events_total', help: 'Events appended' });
export const commits = new Histogram({
  name: 'fairlead_append_commit_duration_seconds',
  help: 'Commits of the log; appends that wait share one',
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
});
export const batches = new Histogram({
  name: 'fairlead_follower_batch_duration_seconds',
  help: 'Batches of events that followers have handled',
  labelNames: ['follower'],
  buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
});
export const handledEvents = new Counter({
  name: 'fairlead_follower_events_total',
  help: 'Events that followers have handled',
  labelNames: ['follower'],
});
export const wakeups = new Counter({
  name: 'fairlead_follower_wakeups_total',
  help: 'Batches that the log has handed to followers, those without an event for the follower included',
});
export const failures = new Counter({
  name: 'fairlead_follower_failures_total',
  help: 'Batches that followers could not handle',
  labelNames: ['follower'],
});
export const readsBehind = new Counter({
  name: 'fairlead_reads_behind_total',
  help: 'Requests answered 503 because a view had not shown in time what their workspace had written',
  labelNames: ['view'],
});

const PATIENCE_MS = 2000;

interface Measured {
  status(): Promise<readonly FollowerStatus[]>;
}

/** Adds the positions of followers and consumers, and the connections of the pool, to the metrics of a process. */
export function measureEventing(registry: Registry, followers: Measured, pool: Pool): void {
  measureFollowers(registry, followers);
  measureParked(registry, new ParkedSubjects(pool));
  const registers = [registry];
  new Gauge({
    name: 'fairlead_database_connections',
    help: 'Connections of the pool',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
    },
  });
  new Gauge({
    name: 'fairlead_database_connections_most',
    help: 'Connections that the pool may have',
    registers,
  }).set(pool.options.max);
  new Gauge({
    name: 'fairlead_database_waiting',
    help: 'Statements that wait for a connection',
    registers,
    async collect() {
      // What the followers' gauges ask is not what waits.
      await setImmediate();
      this.set(pool.waitingCount);
    },
  });
}

/** Adds the positions of followers. The gauges are absent when the database does not answer. */
function measureFollowers(registry: Registry, followers: Measured): void {
  const statuses = shared(() => inTime(followers.status()));
  const gauge = (name: string, help: string, value: (status: FollowerStatus) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['follower'],
      registers: [registry],
      async collect() {
        this.reset();
        for (const status of await statuses()) this.set({ follower: status.name }, value(status));
      },
    });
  gauge('fairlead_follower_failing', '1 while a follower does not get on', ({ failing }) => (failing ? 1 : 0));
  gauge('fairlead_follower_position', 'Position up to which a follower has handled the log', ({ position }) =>
    Number(position),
  );
  gauge('fairlead_follower_lag_events', 'Positions between the newest event and a follower', ({ lag }) => Number(lag));
}

function measureParked(registry: Registry, parked: ParkedSubjects): void {
  new Gauge({
    name: 'fairlead_parked_subjects',
    help: 'Subjects at which a consumer has failed: retrying by itself, or parked until somebody asks for a retry',
    labelNames: ['consumer', 'status'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { consumer, parked: given, retrying } of await inTime(parked.counts())) {
        this.set({ consumer, status: 'parked' }, given);
        this.set({ consumer, status: 'retrying' }, retrying);
      }
    },
  });
}

/** Returns an empty list when the database fails or takes too long, because a scrape must not wait for it. */
function inTime<T>(answer: Promise<readonly T[]>): Promise<readonly T[]> {
  const late = new Promise<readonly T[]>((resolve) => setTimeout(resolve, PATIENCE_MS, []).unref());
  return Promise.race([answer, late]).catch(() => []);
}

function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= ask().finally(() => (asked = undefined)));
}
