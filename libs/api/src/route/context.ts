import type { IncomingHttpHeaders } from 'node:http';
import { BadRequest } from '@fairlead/schema';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor, Dialect } from './access';
import type { ClaimedCommand } from './command';
import { ifMatch } from './etag';

/** The context of a command: the parts of its request that it needs. */
export class CommandContext {
  constructor(private readonly request: FastifyRequest) {}

  /** The sender of the request. Public routes have none and must not use it. */
  get actor(): Actor {
    return this.request.actor;
  }

  /** Id of the workspace of the request. */
  get tenantId(): string {
    return this.request.actor.tenantId;
  }

  /** Protocol and host of the request. Do not trust them: a client can send any host. */
  get origin(): string {
    return `${this.request.protocol}://${this.request.host}`;
  }

  /** The address of this machine at which the request arrived. */
  get localAddress(): string | undefined {
    return this.request.socket.localAddress;
  }

  /** The names that the answer uses. */
  get dialect(): Dialect {
    return this.request.dialect;
  }

  /** The command of a request with an Idempotency-Key, on routes that take one. */
  get command(): ClaimedCommand | undefined {
    return this.request.command;
  }

  /** The metadata of events that the request causes. */
  get metadata(): RequestMetadata {
    return metadataOf(this.request);
  }

  /**
   * Returns the version that the change may start from, from the header `If-Match`; undefined for any version.
   * `current`: the current version, where it is known.
   * @throws PreconditionFailed when no version can match the header.
   */
  expectedVersion(current?: number): number | undefined {
    return ifMatch(this.request, current);
  }
}

/** The parameter decorator for a `CommandContext`. */
export const Context = createParamDecorator((_: unknown, execution: ExecutionContext) => contextOf(execution));

/** Returns the context of the current request. */
export function contextOf(execution: ExecutionContext): CommandContext {
  return new CommandContext(execution.switchToHttp().getRequest<FastifyRequest>());
}

/** Metadata of an event from the request that caused it. */
interface RequestMetadata {
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
function metadataOf(request: FastifyRequest): RequestMetadata {
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
