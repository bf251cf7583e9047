import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { FastifyRequest } from 'fastify';
import { loggedAddress } from './logged-address';
import { traceparentOf } from './tracing';
import { answeredStatus, type OnFinish } from '../admission/request-context';

/**
 * Handles a request in a span that continues the trace of its `traceparent`. The `traceparent` of the request is then
 * that of the span, so that recorded events and forwarded requests belong to it.
 */
export function traceRequest(request: FastifyRequest, way: () => void): void {
  const { method, headers, requestContext } = request;
  const route = request.routeOptions.url;
  const span = trace.getTracer('fairlead').startSpan(
    route === undefined ? method : `${method} ${route}`,
    {
      kind: SpanKind.SERVER,
      attributes: {
        'http.request.method': method,
        ...(route !== undefined && { 'http.route': route }),
        'url.path': loggedAddress(request.url.split('?', 1)[0]!),
        'client.address': requestContext.address,
        'fairlead.request_id': request.id,
      },
    },
    propagation.extract(ROOT_CONTEXT, headers),
  );
  const traced = trace.setSpan(ROOT_CONTEXT, span);
  requestContext.span = span;
  headers.traceparent = traceparentOf(traced) ?? headers.traceparent;
  context.with(traced, way);
}

/** Ends the span of a request. */
export const endTrace: OnFinish = ({ actor }, reply, { span }) => {
  if (!span) return;
  const status = answeredStatus(reply);
  span.setAttribute('http.response.status_code', status);
  if (actor as typeof actor | undefined) {
    span.setAttribute('fairlead.tenant', actor.tenantId).setAttribute('fairlead.key', actor.keyId);
  }
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
};
