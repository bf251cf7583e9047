import { useSyncExternalStore } from 'react';
import { ago } from './format';

const NAME = 'fairlead.times';
export const TIMES = ['relative', 'local', 'utc'] as const;
export type Times = (typeof TIMES)[number];

const listeners = new Set<() => void>();

/** The form of times that was chosen in this browser. */
export function useTimes(): Times {
  return useSyncExternalStore(listen, () => {
    const kept = localStorage.getItem(NAME);
    return TIMES.find((one) => one === kept) ?? 'relative';
  });
}

export function chooseTimes(times: Times): void {
  localStorage.setItem(NAME, times);
  for (const listener of listeners) listener();
}

/** A time in words; `now` in milliseconds since 1970. */
export function timeText(at: string, times: Times, now: number): string {
  if (times === 'relative') {
    const passed = ago(at, now);
    return passed === 'now' ? 'just now' : `${passed} ago`;
  }
  const zone = times === 'utc' ? { timeZone: 'UTC' } : {};
  const text = new Date(at).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium', ...zone });
  return times === 'utc' ? `${text} UTC` : text;
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
