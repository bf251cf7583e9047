import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

/** Runs a call to another service in a span, when the current work is traced. */
export async function traceCall<T>(
  name: string,
  attributes: Readonly<Record<string, string>>,
  call: (span?: Span) => Promise<T>,
): Promise<T> {
  if (!trace.getActiveSpan()?.isRecording()) return call();
  const span = trace.getTracer('fairlead').startSpan(name, { kind: SpanKind.CLIENT, attributes });
  return within(span, () => call(span));
}

async function within<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : undefined });
    throw error;
  } finally {
    span.end();
  }
}
