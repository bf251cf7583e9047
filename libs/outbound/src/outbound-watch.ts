import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { Histogram } from 'prom-client';
import { OutboundFailure } from './outbound-errors';

const durations = new Histogram({
  name: 'fairlead_outbound_request_duration_seconds',
  help: 'Calls to other servers up to the head of their answer, by the class of its status or what went wrong',
  labelNames: ['outcome'],
  buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
});

/** Makes a call to another server, with its metrics and, when the current work is traced, in a span. */
export async function watchedCall(method: string, url: URL, call: () => Promise<Response>): Promise<Response> {
  const attributes = { 'http.request.method': method, 'server.address': url.hostname };
  const isTraced = trace.getActiveSpan()?.isRecording();
  const span = isTraced
    ? trace.getTracer('fairlead').startSpan(method, { kind: SpanKind.CLIENT, attributes })
    : undefined;
  const start = performance.now();
  let outcome = 'aborted';
  try {
    const answer = await (span ? context.with(trace.setSpan(context.active(), span), call) : call());
    outcome = `${String(answer.status)[0]}xx`;
    span?.setAttribute('http.response.status_code', answer.status);
    return answer;
  } catch (error) {
    if (error instanceof OutboundFailure) outcome = error.fault;
    span?.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : undefined });
    throw error;
  } finally {
    durations.observe({ outcome }, (performance.now() - start) / 1000);
    span?.end();
  }
}
