import { until } from '@fairlead/postgres/testing';
import { Gauge, Registry } from 'prom-client';
import type { ServerOptions } from '../server';
import { EdgeModule, held } from '../testing/edge.controller';
import { type SampleServer, startSample } from '../testing/sample-server';

let server: SampleServer;
afterEach(() => server.app.close());

async function start(options: Partial<ServerOptions> = {}, token?: string): Promise<Registry> {
  const registry = new Registry();
  server = await startSample({ metrics: { registry, token }, ...options }, EdgeModule);
  return registry;
}

async function metrics(headers: Record<string, string> = {}): Promise<{ status: number; type: string; text: string }> {
  const answer = await fetch(`${server.url}/metrics`, { headers });
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() };
}

describe('The metrics', () => {
  it('tell of requests by route, method and class of status', async () => {
    await start();
    await server.ask('/v2/open');
    await server.ask('/v2/address', {}, 'nobody');
    await server.ask('/nowhere/at/all');
    const { status, type, text } = await metrics();
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const count = (route: string, of: string) =>
      expect(text).toContain(
        `fairlead_http_request_duration_seconds_count{method="GET",route="${route}",status="${of}"} 1`,
      );
    count('/v2/open', '2xx');
    count('/v2/address', '4xx');
    count('none', '4xx');
    expect(text).toMatch(/^process_cpu_seconds_total [\d.]+$/m);
    // A busy event loop may not have been sampled yet.
    const lag = /^nodejs_eventloop_lag_p99_seconds [\d.]+$/m;
    expect(await until(async () => lag.exec((await metrics()).text))).toHaveLength(1);
    expect(text).toMatch(/^fairlead_build_info\{version="[\d.]+",node="v[\d.]+"\} 1$/m);
  });

  it('tell what is under way, what was turned away, and what the application adds', async () => {
    const registry = await start({ edge: { requests: { total: 1, perKey: 1 } } });
    new Gauge({ name: 'fairlead_rows', help: 'Rows', registers: [registry] }).set(7);
    const waiting = server.ask('/v2/held');
    await held.reached(1);
    await server.ask('/v2/address');
    const { text } = await metrics();
    expect(text).toContain('fairlead_http_requests_in_flight{load="usual"} 1');
    expect(text).toMatch(/^fairlead_http_connections [1-9]\d*$/m);
    expect(text).toContain('fairlead_http_requests_turned_away_total{reason="capacity"} 1');
    expect(text).toContain('fairlead_rows 7');
    held.letGo();
    await waiting;
  });

  it('are for this machine only, and not for whom a proxy on it speaks for', async () => {
    await start();
    expect((await metrics()).status).toBe(200);
    expect(await metrics({ 'x-forwarded-for': '203.0.113.5' })).toMatchObject({
      status: 403,
      text: '{"detail":"Metrics are for this machine only, unless METRICS_TOKEN is set."}',
    });
  });

  it('are for whoever has the token, when there is one', async () => {
    await start({}, 'the-token-of-prometheus');
    expect((await metrics()).status).toBe(401);
    expect((await metrics({ authorization: 'Bearer another' })).status).toBe(401);
    const headers = { authorization: 'Bearer the-token-of-prometheus', 'x-forwarded-for': '203.0.113.5' };
    expect((await metrics(headers)).status).toBe(200);
  });
});
