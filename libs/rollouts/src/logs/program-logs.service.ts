import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { TooManyRequests } from '@fairlead/schema';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Executor } from '@fairlead/executors';
import { RolloutReports } from '../rollout/rollout-reports.service';
import { pageOf, type ProgramLogQuery } from './program-lines';

/** Interval at which a waiting request looks for lines (ms). */
const LOOK_MS = 250;
/** Requests of a workspace that wait at a time. */
const MOST_WAITING = 50;
const RETRY_S = 5;

/** Reads the output of programs, and lets requests wait for lines. */
@Injectable()
export class ProgramLogs implements OnModuleDestroy {
  private readonly stopping = new AbortController();
  private readonly waiting = new Map<string, number>();

  constructor(
    private readonly reports: RolloutReports,
    private readonly executor: Executor,
  ) {
    // Every request that waits listens to this one signal.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Requests that wait answer at once when the service stops. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /**
   * Returns a page of lines. A request that waits gets the first page that is not empty, or an empty one when its time
   * is over or its client has gone.
   * @throws DeploymentMissing, TooManyRequests
   */
  async page(tenantId: string, deploymentId: string, query: ProgramLogQuery, isGone: () => boolean) {
    await this.reports.owned(tenantId, deploymentId);
    const page = pageOf(this.linesOf(deploymentId, query), query);
    if (page.logs.length > 0 || query.wait === 0 || query.order === 'desc') return page;
    const leave = this.enter(tenantId);
    try {
      return await this.next(deploymentId, query, isGone);
    } finally {
      leave();
    }
  }

  private async next(deploymentId: string, query: ProgramLogQuery, isGone: () => boolean) {
    const end = performance.now() + query.wait * 1000;
    let { offset } = query;
    for (;;) {
      const lines = this.linesOf(deploymentId, query);
      const page = pageOf(lines, { ...query, offset });
      const left = end - performance.now();
      if (page.logs.length > 0 || left <= 0 || this.stopping.signal.aborted || isGone()) return page;
      // Lines that did not pass the filters once are not looked at again.
      offset = String(lines.at(-1)?.id ?? offset);
      await delay(Math.min(left, LOOK_MS), undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
  }

  private linesOf(deploymentId: string, { revision_id }: ProgramLogQuery) {
    return this.executor.lines?.(deploymentId, revision_id) ?? [];
  }

  /** Counts a request that waits. @throws TooManyRequests */
  private enter(tenantId: string): () => void {
    const others = this.waiting.get(tenantId) ?? 0;
    if (others >= MOST_WAITING) {
      throw new TooManyRequests(RETRY_S, 'Too many requests wait for lines of programs, try again later.');
    }
    this.waiting.set(tenantId, others + 1);
    return () => {
      const left = this.waiting.get(tenantId)! - 1;
      if (left > 0) this.waiting.set(tenantId, left);
      else this.waiting.delete(tenantId);
    };
  }
}
