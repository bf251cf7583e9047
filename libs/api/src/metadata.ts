import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { BadRequest } from '@fairlead/schema';

/** Metadata of an event from the request that caused it. */
export interface RequestMetadata {
  readonly tenant?: string;
  readonly actor?: string;
  readonly requestId?: string;
  readonly traceparent?: string;
  readonly reason?: string;
  readonly causationId?: string;
  /** Method and canonical path, without the query. */
  readonly request?: string;
  /** Network address of the client. */
  readonly address?: string;
}

const MOST_REASON = 1000;
const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns the metadata for the events of a request: key id, tenant, request id, a well-formed `traceparent`, the text
 * of `x-reason` (up to 1000 characters; UTF-8, or percent-encoded), method and path, client address and, as
 * `causationId`, the `Idempotency-Key`.
 */
export function metadataOf(request: FastifyRequest): RequestMetadata {
  const { actor } = request;
  const reason = reasonOf(request.headers);
  const traceparent = single(request.headers.traceparent);
  const causationId = single(request.headers['idempotency-key']);
  const metadata: { -readonly [Member in keyof RequestMetadata]: RequestMetadata[Member] } = {};
  if (actor) {
    metadata.tenant = actor.tenantId;
    metadata.actor = actor.keyId;
  }
  metadata.requestId = request.id;
  metadata.request = `${request.method} ${request.url.split('?', 1)[0]}`;
  metadata.address = request.ip;
  if (traceparent !== undefined && TRACEPARENT.test(traceparent)) metadata.traceparent = traceparent;
  if (reason !== undefined) metadata.reason = reason;
  if (causationId !== undefined) metadata.causationId = causationId;
  return metadata;
}

/** Checks the length of `x-reason`, on every route. @throws BadRequest */
export function checkReason({ headers }: FastifyRequest): void {
  if (headers['x-reason'] !== undefined) reasonOf(headers);
}

function reasonOf(headers: IncomingHttpHeaders): string | undefined {
  const header = single(headers['x-reason']);
  if (header === undefined) return undefined;
  // Node reads header bytes as Latin-1; most clients send UTF-8.
  const bytes = Buffer.from(header, 'latin1');
  const text = decodePercent(new TextDecoder().decode(bytes));
  if (text.length > MOST_REASON) throw new BadRequest(`The header x-reason is longer than ${MOST_REASON} characters.`);
  return text.replaceAll('\0', '');
}

function decodePercent(text: string): string {
  if (!/%[0-9a-f]{2}/i.test(text)) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function single(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text === '' ? undefined : text;
}
