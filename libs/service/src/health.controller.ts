import { Access, Area, Describe, HttpProblem, shape } from '@fairlead/http';
import { Controller, Get } from '@nestjs/common';
import { Readiness } from './readiness';

const status = shape.object('Status', { status: shape.text });
const readiness = shape.object('Readiness', {
  status: shape.text,
  'degraded?': shape.noted(shape.list(shape.text), 'What does not work although the service does.'),
});

/** What load balancers and process supervisors ask; needs no key. */
@Area('Service')
@Controller('health')
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** 200 as long as the process answers at all. */
  @Get('live')
  @Access('public', { load: 'vital', direct: true })
  @Describe({ summary: 'Ask whether the process answers', answers: { 200: status } })
  live(): { status: string } {
    return { status: 'live' };
  }

  /**
   * 200 when events can be appended and every follower is near the end of the log, with what is degraded nevertheless;
   * else 503 with the reasons.
   */
  @Get('ready')
  @Access('public', { load: 'vital', direct: true })
  @Describe({
    summary: 'Ask whether the service is ready',
    description: '503 with the reasons when it is not.',
    answers: { 200: readiness },
  })
  async ready(): Promise<{ status: string; degraded?: readonly string[] }> {
    const { reasons, degraded } = await this.readiness.health();
    if (reasons.length === 0) return { status: 'ready', ...(degraded.length > 0 && { degraded }) };
    throw new HttpProblem(503, reasons.join(' '), { headers: { 'retry-after': '1' }, members: { reasons } });
  }
}
