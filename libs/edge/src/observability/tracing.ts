import { type Context, context, propagation, trace } from '@opentelemetry/api';
import { VERSION } from '@fairlead/api';

interface TracingOptions {
  /** Address of an OTLP collector over HTTP, without `/v1/traces`. */
  readonly endpoint: string;
  /** Name of this process in traces, unless OTEL_SERVICE_NAME is set. */
  readonly service: string;
}

/** The tracing of this process. */
export interface Tracing {
  /** Sends remaining spans, for some seconds at most, and ends tracing. */
  stop(): Promise<void>;
}

/**
 * Starts tracing: spans that any part makes with `@opentelemetry/api` are sent in batches. When the collector is away,
 * spans are lost and no request fails. OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER and OTEL_RESOURCE_ATTRIBUTES
 * have their usual meaning.
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

/** Returns the `traceparent` of a span. */
export function traceparentOf(traced: Context): string | undefined {
  const carrier: { traceparent?: string } = {};
  propagation.inject(traced, carrier);
  return carrier.traceparent;
}
