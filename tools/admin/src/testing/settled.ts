import type { EventStore } from '@fairlead/eventing';
import { until } from '@fairlead/postgres/testing';
import type { Pool } from 'pg';

/** Value of a metric by follower. */
export async function metric(url: string, name: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.matchAll(new RegExp(`^${name}\\{follower="([^"]+)"\\} (\\S+)$`, 'gm'));
  return new Map([...lines].map(([, follower, value]) => [follower!, Number(value)]));
}

/** Returns whether every follower has handled all that is recorded. */
export async function isFollowed(url: string): Promise<boolean> {
  const lags = await metric(url, 'fairlead_follower_lag_events');
  return lags.size > 5 && [...lags.values()].every((lag) => lag === 0);
}

/** Waits until a service appends nothing by itself any more, because all that it was asked for is rolled out. */
export async function settled(url: string, { store, pool }: { store: EventStore; pool: Pool }): Promise<void> {
  await until(async () => {
    const head = await store.head();
    const isDone = (await isFollowed(url)) && (await pool.query('select from rollout_duties')).rowCount === 0;
    return isDone && (await store.head()) === head;
  });
}
