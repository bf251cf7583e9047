import { context, type Link, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Recorded } from './event';

type Attributes = Readonly<Record<string, string | number>>;

const MOST_LINKS = 32;

/** Runs `work` in a child span of the current one; without a current span, just runs it. */
export async function traceStep<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  if (!trace.getActiveSpan()?.isRecording()) return work();
  return inSpan(name, SpanKind.INTERNAL, attributes, [], work);
}

/**
 * Runs the handling of events in a span that belongs to the trace of the first event, with links to the traces of the
 * others.
 */
export async function traceHandling<T>(name: string, events: readonly Recorded[], work: () => Promise<T>): Promise<T> {
  const origins = events.slice(0, MOST_LINKS).flatMap(({ metadata: { traceparent } }) => {
    const origin = traceparent === undefined ? undefined : propagation.extract(ROOT_CONTEXT, { traceparent });
    return origin && trace.getSpanContext(origin) ? [origin] : [];
  });
  // Without a tracer nothing is extracted; what was not traced begins no trace here.
  if (origins.length === 0) return work();
  const links = origins.slice(1).map((origin): Link => ({ context: trace.getSpanContext(origin)! }));
  const attributes = { 'messaging.batch.message_count': events.length };
  return context.with(origins[0]!, () => inSpan(name, SpanKind.CONSUMER, attributes, links, work));
}

async function inSpan<T>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  links: Link[],
  work: () => Promise<T>,
): Promise<T> {
  const span = trace.getTracer('fairlead').startSpan(name, { kind, attributes, links });
  try {
    return await context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : undefined });
    throw error;
  } finally {
    span.end();
  }
}
