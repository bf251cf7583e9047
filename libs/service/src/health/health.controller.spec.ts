import type { HttpProblem } from '@fairlead/schema';
import type { FastifyRequest } from 'fastify';
import { HealthController } from './health.controller';
import { HealthOptions } from './health.options';
import type { Health, Readiness } from './readiness';

const WHY = 'relation "checkpoints" does not exist';

function controller(health: Partial<Health>, metricsToken?: string): HealthController {
  const readiness = { health: () => Promise.resolve({ reasons: [], degraded: [], ...health }) };
  return new HealthController(readiness as unknown as Readiness, new HealthOptions(metricsToken));
}

function request(remoteAddress: string, headers: Record<string, string> = {}): FastifyRequest {
  return { headers, raw: { socket: { remoteAddress } } } as unknown as FastifyRequest;
}

describe('What /health/ready says', () => {
  const broken = { reasons: [{ what: 'The followers are not known', why: WHY }] };
  const said = async (asked: FastifyRequest, metricsToken?: string) => {
    const problem = (await controller(broken, metricsToken)
      .ready(asked)
      .catch((error: unknown) => error)) as HttpProblem;
    expect(problem.status).toBe(503);
    return problem.detail;
  };

  it.each<[string, FastifyRequest, string | undefined]>([
    ['another machine', request('203.0.113.9'), undefined],
    ['a proxy on this machine', request('127.0.0.1', { 'x-forwarded-for': '203.0.113.9' }), undefined],
    ['this machine without the token that is set', request('127.0.0.1'), 'a-token-for-metrics'],
    ['one with a wrong token', request('127.0.0.1', { authorization: 'Bearer other' }), 'a-token-for-metrics'],
  ])('holds no message of a server for %s', async (_, asked, token) => {
    expect(await said(asked, token)).toBe('The followers are not known.');
  });

  it.each<[string, FastifyRequest, string | undefined]>([
    ['this machine', request('::1'), undefined],
    ['the token', request('203.0.113.9', { authorization: 'Bearer a-token-for-metrics' }), 'a-token-for-metrics'],
  ])('holds it for %s', async (_, asked, token) => {
    expect(await said(asked, token)).toBe(`The followers are not known: ${WHY}.`);
  });

  it('is the same of what is degraded', async () => {
    const health = { degraded: [{ what: 'Kafka relay does not work', why: 'connect ECONNREFUSED 10.0.0.7:9092' }] };
    expect(await controller(health).ready(request('203.0.113.9'))).toEqual({
      status: 'ready',
      degraded: ['Kafka relay does not work.'],
    });
    expect(await controller(health).ready(request('127.0.0.1'))).toEqual({
      status: 'ready',
      degraded: ['Kafka relay does not work: connect ECONNREFUSED 10.0.0.7:9092.'],
    });
  });
});
