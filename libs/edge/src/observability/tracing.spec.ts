import { Controller, Get, Module, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Scope, CommandContext, Context } from '@fairlead/api';
import { startTracing, type Tracing } from '..';
import { guardedFetch, OutboundPolicy, parseOutboundAllow } from '@fairlead/outbound';
import { Collector } from '../testing/collector';
import { type SampleServer, startSample } from '../testing/sample-server';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const CLIENT = 3;

@Controller()
class TracedController {
  @Get('v2/things/:id')
  @Scope('read')
  find(@Context() { metadata }: CommandContext) {
    return metadata;
  }

  @Get('v2/calls')
  @Scope('read')
  async call(@Req() request: FastifyRequest) {
    const policy = new OutboundPolicy(parseOutboundAllow('127.0.0.1'));
    const { status } = await guardedFetch(`http://${request.headers.host}/v2/nothing`, {}, policy, 'w');
    return { status };
  }

  @Get('v2/fails')
  @Scope('read')
  fail() {
    throw new Error('It fails.');
  }
}
@Module({ controllers: [TracedController] })
class TracedModule {}

const collector = new Collector();
let tracing: Tracing;
let server: SampleServer;

beforeAll(async () => {
  tracing = await startTracing({ endpoint: await collector.start(), service: 'sample' });
  server = await startSample({ traced: true }, TracedModule);
});
afterAll(async () => {
  await server.app.close();
  await tracing.stop();
  await collector.stop();
});

const named = (name: string) => collector.span((span) => span.name === name);
const attributes = ({ attributes }: { attributes: { key: string; value: Record<string, unknown> }[] }) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

describe('A traced server', () => {
  it('goes on with the trace of a request, and what is recorded goes on with the server’s span', async () => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, 'x-request-id': 'traced' };
    const { body } = await server.ask('/v2/things/7?secret=1', { headers });
    const span = await named('GET /v2/things/:id');
    expect(span).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, kind: 2 });
    expect(attributes(span)).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v2/things/:id',
      'url.path': '/v2/things/7',
      'client.address': '127.0.0.1',
      'fairlead.request_id': 'traced',
      'http.response.status_code': 200,
      'fairlead.tenant': 'tenant-1',
      'fairlead.key': 'key-1',
    });
    expect(body).toMatchObject({ traceparent: `00-${TRACE}-${span.spanId}-01` });
    expect(collector.services).toEqual(new Set(['sample']));
  });

  it('shows no key of the service that somebody put into a path', async () => {
    const headers = { 'x-request-id': 'key-in-path' };
    await server.ask('/v2/things/fl_0123456789abcdefghijkl_0123456789', { headers });
    const span = await collector.span((span) => attributes(span)['fairlead.request_id'] === 'key-in-path');
    expect(attributes(span)['url.path']).toBe('/v2/things/[redacted]');
  });

  it('begins a trace where there is none, and writes it into the log', async () => {
    await server.ask('/v2/fails', { headers: { 'x-request-id': 'begun' } });
    const { traceId, parentSpanId } = await named('GET /v2/fails');
    expect(parentSpanId ?? '').toBe('');
    expect(server.lines.find((line) => line.requestId === 'begun' && line.msg === 'request')).toMatchObject({
      traceId,
    });
  });

  it('shows calls to other servers below the request that makes them', async () => {
    expect((await server.ask('/v2/calls')).body).toEqual({ status: 404 });
    const { spanId, traceId } = await named('GET /v2/calls');
    const call = await collector.span(({ kind }) => kind === CLIENT);
    expect(call).toMatchObject({ traceId, parentSpanId: spanId, name: 'GET' });
    expect(attributes(call)).toMatchObject({ 'server.address': '127.0.0.1', 'http.response.status_code': 404 });
  });

  it('does not trace a request whose caller does not', async () => {
    await server.ask('/v2/things/8', { headers: { traceparent: `00-${'c'.repeat(32)}-${PARENT}-00` } });
    await server.ask('/v2/nowhere');
    await named('GET');
    expect(collector.spans.filter(({ traceId }) => traceId === 'c'.repeat(32))).toEqual([]);
  });
});
