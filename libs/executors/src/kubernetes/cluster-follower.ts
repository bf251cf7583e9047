import type { KubernetesObject } from '@kubernetes/client-node';
import { setTimeout as pause } from 'node:timers/promises';
import { type Call, ClusterClient, type Query } from './cluster.client';

/** Seconds after which a watch is renewed. */
const WATCH_SECONDS = 60;

interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: KubernetesObject;
}

/** Follows what queries find in a cluster, by watches. */
export class ClusterFollower {
  /** `tick`: milliseconds after which the present state is yielded again although nothing has changed. */
  constructor(
    private readonly cluster: ClusterClient,
    private readonly tick: number,
  ) {}

  /**
   * Yields what each query finds, in the order of the queries: at once, after changes, and after each `tick`.
   * @throws ExecutorUnreachable, StepFailed
   */
  async *follow(queries: readonly Query[], { signal, waits }: Call): AsyncGenerator<KubernetesObject[][]> {
    const end = new AbortController();
    const call = { signal: AbortSignal.any([signal, end.signal]), waits };
    const found: (KubernetesObject[] | undefined)[] = queries.map(() => undefined);
    let failure: { error: unknown } | undefined;
    let wake: () => void = () => undefined;
    const following = queries.map(async (query, index) => {
      try {
        for await (const objects of this.states(query, call)) {
          found[index] = objects;
          wake();
        }
      } catch (error) {
        failure ??= { error };
        wake();
      }
    });
    try {
      for (;;) {
        signal.throwIfAborted();
        if (failure) throw failure.error;
        const woken = new Promise<void>((resolve) => (wake = resolve));
        const all = found.filter((objects) => objects !== undefined);
        if (all.length === queries.length) yield all;
        await this.wait(woken, signal);
      }
    } finally {
      end.abort();
      await Promise.allSettled(following);
    }
  }

  private async wait(woken: Promise<void>, signal: AbortSignal): Promise<void> {
    const timer = new AbortController();
    const tick = pause(this.tick, undefined, { signal: AbortSignal.any([signal, timer.signal]) });
    await Promise.race([woken, tick.catch(() => undefined)]);
    timer.abort();
  }

  /** The objects of a query, again after each change: listed, then watched, and listed again where a watch ended. */
  private async *states(query: Query, call: Call): AsyncGenerator<KubernetesObject[]> {
    for (;;) {
      const { items, version } = await this.cluster.list(query, call);
      const known = new Map(items.map((object) => [object.metadata?.name, object]));
      yield items;
      try {
        for await (const line of this.cluster.changes(query, version, call, WATCH_SECONDS)) {
          const { type, object } = JSON.parse(line) as Change;
          // The version is too old: everything is listed again.
          if (type === 'ERROR') break;
          if (type === 'BOOKMARK') continue;
          if (type === 'DELETED') known.delete(object.metadata?.name);
          else known.set(object.metadata?.name, object);
          yield [...known.values()];
        }
      } catch {
        // A watch that breaks, or that this account may not have, is no reason to give up: listing finds out more.
        call.signal.throwIfAborted();
      } finally {
        await pause(this.tick, undefined, call).catch(() => undefined);
      }
    }
  }
}
