import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parse } from 'ipaddr.js';
import { collectDefaultMetrics, Counter, Gauge, Histogram, register, Registry } from 'prom-client';
import type { Admission } from '../admission/admission';
import { Area, type Described } from '@fairlead/api';
import { Forbidden, Unauthorized } from '@fairlead/schema';
import { SharedReads } from '@fairlead/postgres';
import type { TurnedAway } from '../admission/load-shedding';
import { VERSION } from '@fairlead/api';
import { answeredStatus, type OnFinish } from '../admission/request-context';

/** Further metrics for `GET /metrics`, and who may read them. */
export interface MetricsOptions {
  /** Metrics of the application. */
  readonly registry: Registry;
  /** Required bearer token. Without one, only this machine may read the metrics. */
  readonly token?: string;
}

const durations = new Histogram({
  name: 'fairlead_http_request_duration_seconds',
  help: 'From the head of a request to the end of its answer',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
});
const turnedAway = new Counter({
  name: 'fairlead_http_requests_turned_away_total',
  help: 'Requests refused for the sake of others: by a rate limit, or for want of capacity',
  labelNames: ['reason'],
});

/** Describes the route for the reference. */
@Area('Operation')
class Metrics {}

const DESCRIPTION: Described = {
  summary: 'Get metrics for Prometheus',
  description: 'For this machine, or with `METRICS_TOKEN` as a bearer token.',
  answers: { 200: { content: { 'text/plain': {} } }, 401: 'The token is wrong.', 403: 'Not from this machine.' },
  controller: Metrics,
  handler: 'metrics',
};

interface Connections {
  readonly connections: number;
}

/** Serves `GET /metrics` in the text format of Prometheus. Returns a hook to call for every request. */
export function serveMetrics(
  instance: FastifyInstance,
  admission: Admission,
  doors: Connections,
  options: MetricsOptions,
): OnFinish {
  const { registry, token } = options;
  if (!register.getSingleMetric('process_cpu_seconds_total')) collectDefaultMetrics();
  measureServer(registry, doors, admission);
  new Gauge({
    name: 'fairlead_build_info',
    help: 'Always 1',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version: VERSION, node: process.version }, 1);
  const reads = new SharedReads();
  instance.get(
    '/metrics',
    { config: { scope: 'public', load: 'vital', direct: true, description: DESCRIPTION } },
    async (request, reply) => {
      allow(request, token);
      void reply.header('content-type', registry.contentType);
      // Those who ask at a time share one text.
      return reads.run('all', async () => Buffer.from(await Registry.merge([register, registry]).metrics()));
    },
  );
  return observe;
}

const observe: OnFinish = (request, reply, requestContext) => {
  if (requestContext.shed) turnedAway.inc({ reason: requestContext.shed });
  const route = request.routeOptions.url ?? 'none';
  const status = `${String(answeredStatus(reply))[0]}xx`;
  durations.observe({ method: request.method, route, status }, (performance.now() - requestContext.startedAt) / 1000);
};

/** Counts a request that was refused before its route was known. */
export function countTurnedAway({ request, status, startedAt }: TurnedAway): void {
  turnedAway.inc({ reason: 'capacity' });
  const labels = { method: request.method, route: 'none', status: `${String(status)[0]}xx` };
  durations.observe(labels, (performance.now() - startedAt) / 1000);
}

function measureServer(registry: Registry, doors: Connections, admission: Admission): void {
  const { inFlight } = admission;
  new Gauge({
    name: 'fairlead_http_requests_in_flight',
    help: 'Requests under way',
    labelNames: ['load'],
    registers: [registry],
    collect() {
      for (const [load, { count }] of Object.entries(inFlight)) this.set({ load }, count);
    },
  });
  new Gauge({
    name: 'fairlead_http_bodies_arriving',
    help: 'Requests whose body is on its way; they count as under way when it is there',
    registers: [registry],
    collect() {
      this.set(admission.arriving);
    },
  });
  new Gauge({
    name: 'fairlead_http_connections',
    help: 'Open connections',
    registers: [registry],
    collect() {
      this.set(doors.connections);
    },
  });
}

/** Checks that a request may read the metrics. @throws Unauthorized, Forbidden */
function allow(request: FastifyRequest, token: string | undefined): void {
  if (isOperator(request, token)) return;
  if (token !== undefined) throw new Unauthorized();
  throw new Forbidden('Metrics are for this machine only, unless METRICS_TOKEN is set.');
}

/**
 * Returns whether a request may see internal details: it has METRICS_TOKEN as a bearer token or, when none is set,
 * comes from this machine and through no proxy.
 */
export function isOperator({ headers, raw }: FastifyRequest, token: string | undefined): boolean {
  if (token === undefined) {
    const isForwarded = headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
    return !isForwarded && isLoopback(raw.socket.remoteAddress ?? '');
  }
  const given = Buffer.from(/^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '');
  const expected = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function isLoopback(address: string): boolean {
  const bare = address.replace(/^::ffff:/, '');
  return bare !== '' && parse(bare).range() === 'loopback';
}
