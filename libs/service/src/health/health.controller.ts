import { Answers, Area, Describe, Scope } from '@fairlead/api';
import { isOperator } from '@fairlead/edge';
import { HttpProblem, list, note, object, str } from '@fairlead/schema';
import { Controller, Get, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { HealthOptions } from './health.options';
import { type Reason, Readiness } from './readiness';

const status = object('Status', { status: note(str(), '`live`.') });
const readiness = object('Readiness', {
  status: note(str(), '`ready`; a service that is not ready is answered 503.'),
  'degraded?': note(
    list(str()),
    'What does not work although the service does, a sentence each; absent when everything works.',
  ),
});

/** Health checks for load balancers and process supervisors; they need no key. */
@Area('Service')
@Controller('health')
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly options: HealthOptions,
  ) {}

  /** Answers 200 as long as the process runs. */
  @Get('live')
  @Scope('public', { load: 'vital', direct: true })
  @Describe({ summary: 'Ask whether the process answers' })
  @Answers({ 200: status })
  live(): { status: string } {
    return { status: 'live' };
  }

  /**
   * Answers 200 when events can be appended and every follower is near the end of the log, with what is degraded;
   * otherwise 503 with the reasons. Only readers of the metrics see messages of the database and of other servers.
   */
  @Get('ready')
  @Scope('public', { load: 'vital', direct: true })
  @Describe({
    summary: 'Ask whether the service is ready',
    description:
      '503 with the reasons when it is not. The messages of servers behind the service are shown to those who may read `/metrics`.',
  })
  @Answers({ 200: readiness })
  async ready(@Req() request: FastifyRequest): Promise<{ status: string; degraded?: readonly string[] }> {
    const inside = isOperator(request, this.options.metricsToken);
    const sentences = (list: readonly Reason[]) => sentencesOf(inside ? list : list.map(({ what }) => ({ what })));
    const health = await this.readiness.health();
    const reasons = sentences(health.reasons);
    const degraded = sentences(health.degraded);
    if (reasons.length === 0) return { status: 'ready', ...(degraded.length > 0 && { degraded }) };
    throw new HttpProblem(503, reasons.join(' '), { headers: { 'retry-after': '1' }, members: { reasons } });
  }
}

/** Returns a sentence for each reason; what has the same cause is one sentence. */
function sentencesOf(reasons: readonly Reason[]): string[] {
  const causes = [...new Set(reasons.map(({ why }) => why))];
  return causes.flatMap((cause) => {
    const whats = reasons.filter(({ why }) => why === cause).map(({ what }) => what);
    return cause === undefined ? whats.map((what) => `${what}.`) : `${whats.join(', ')}: ${cause.replace(/\.$/, '')}.`;
  });
}
