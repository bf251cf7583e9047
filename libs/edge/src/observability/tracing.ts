import { type Context, context, propagation, trace } from '@opentelemetry/api';
import { VERSION } from '@fairlead/api';

interface TracingOptions {
  /** Address of an OTLP collector over HTTP, without `/v1/traces`. */
  readonly endpoint: string;
  /** How this process is called in traces, unless OTEL_SERVICE_NAME says otherwise. */
  readonly service: string;
}

/** The spans of this process on their way to a collector. */
export interface Tracing {
  /** Sends what is left, for some seconds at most; nothing is traced from then on. */
  stop(): Promise<void>;
}

/**
 * Begins to trace this process: spans that any part makes with `@opentelemetry/api` are sent in batches. A collector
 * that is away costs the spans, never a request. OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER and
 * OTEL_RESOURCE_ATTRIBUTES count as everywhere.
 */
export async function startTracing({ endpoint, service }: TracingOptions): Promise<Tracing> {
  // Loaded only by those who trace.
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { detectResources, envDetector, resourceFromAttributes } = await import('@opentelemetry/resources');
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const own = resourceFromAttributes({ 'service.name': service, 'service.version': VERSION });
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces`, timeoutMillis: 5_000 });
  const provider = new NodeTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1_000 })],
  });
  provider.register();
  return {
    async stop() {
      await provider.shutdown().catch(() => undefined);
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

/** `traceparent` of a span. */
export function traceparentOf(traced: Context): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(traced, carrier);
  return carrier.traceparent;
}
