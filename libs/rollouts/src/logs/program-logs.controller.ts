import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Answers, Area, CommandContext, Context, Describe, Path, Query, Scope } from '@fairlead/api';
import { type Infer, TooManyRequests } from '@fairlead/schema';
import { Controller, Get, type OnModuleDestroy, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Executor } from '@fairlead/executors';
import { RolloutReports } from '../rollout/rollout-reports.service';
import { logs } from './log.answers.schema';
import { logPath, programLogQuery } from './log.schema';
import { pageOf, type ProgramLogQuery } from './program-lines';

/** Interval at which a waiting request looks for lines (ms). */
const LOOK_MS = 250;
/** Requests of a workspace that wait at a time. */
const MOST_WAITING = 50;
const RETRY_S = 5;

/** Output of the programs of deployments. A client that follows asks again with its last `next_offset`. */
@Area('Logs')
@Controller('v2/deployments/:deployment_id/app_logs')
export class ProgramLogsController implements OnModuleDestroy {
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

  @Get()
  @Scope('read', { load: 'wait', strict: true })
  @Describe({
    summary: 'Read what the program of a deployment writes',
    description:
      'The last lines since the server was started, with the executor `local`; there are none with others. With `wait` the answer comes as soon as there is a line.',
  })
  @Answers({ 200: logs })
  async find(
    @Context() { tenantId }: CommandContext,
    @Path(logPath) { deployment_id }: Infer<typeof logPath>,
    @Query(programLogQuery) query: ProgramLogQuery,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ) {
    await this.reports.owned(tenantId, deployment_id);
    const page = pageOf(this.linesOf(deployment_id), query);
    if (page.logs.length > 0 || query.wait === 0 || query.order === 'desc') return page;
    const leave = this.enter(tenantId);
    try {
      return await this.next(deployment_id, query, () => this.stopping.signal.aborted || raw.destroyed);
    } finally {
      leave();
    }
  }

  /** The first page that is not empty; an empty one when the time is over. */
  private async next(deploymentId: string, query: ProgramLogQuery, isOver: () => boolean) {
    const end = performance.now() + query.wait * 1000;
    let { offset } = query;
    for (;;) {
      const lines = this.linesOf(deploymentId);
      const page = pageOf(lines, { ...query, offset });
      const left = end - performance.now();
      if (page.logs.length > 0 || left <= 0 || isOver()) return page;
      // Lines that did not pass the filters once are not looked at again.
      offset = String(lines.at(-1)?.id ?? offset);
      await delay(Math.min(left, LOOK_MS), undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
  }

  private linesOf(deploymentId: string) {
    return this.executor.lines?.(deploymentId) ?? [];
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
