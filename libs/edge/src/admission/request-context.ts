import type { Span } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '@fairlead/api';
import { clientNetwork } from '../http/client-address';
import type { Claimed } from './overloaded-keys';
import type { HttpProblem } from '@fairlead/schema';
import type { HeldBytes } from './held-bytes';
import type { InFlight } from './in-flight';

/** State of a request in progress, from its head to the end of the response. */
export interface RequestContext {
  /** Start time, by `performance.now()`. */
  readonly startedAt: number;
  /** Network address of the client, as far as trusted proxies report it. */
  readonly address: string;
  /** Bytes that its connection had sent before this request. */
  readonly sentBefore: number;
  /** The counter that counts it while it is running. */
  counted?: InFlight;
  /** The key and workspace for which it is counted there. */
  claimed?: Claimed;
  /** The counter that will count it once its body has arrived. */
  expected?: InFlight;
  /** The bytes of its body that are in memory, when it has one. */
  held?: HeldBytes;
  /** Counts it as running now that its body has arrived, on a route that reads the body itself. */
  complete?: () => HttpProblem | undefined;
  /** Bytes of its answer that its client has not read yet. */
  unreadBytes: number;
  unreadOwner?: string;
  /** Why it was refused because of overload. */
  shed?: 'rate' | 'capacity';
  /** For a request that only reads: aborted when its client no longer waits. */
  reading?: AbortSignal;
  /** Its span, while it is traced. */
  span?: Span;
}

/** Returns the owner whose share a request uses: its workspace, or its address while the sender is not known. */
export function ownerOf({ actor, requestContext }: FastifyRequest): string {
  return (actor as Actor | undefined)?.tenantId ?? clientNetwork(requestContext.address);
}

/** Returns whether the sender of a request is known. */
export function isKnown({ actor }: FastifyRequest): boolean {
  return (actor as Actor | undefined) !== undefined;
}

/** The status that Nginx uses for a client that left before the answer was sent. */
const GONE = 499;

/** Returns the status of an answer; 499 when the client did not wait for it. */
export function answeredStatus(reply: FastifyReply): number {
  const { statusCode, writableFinished } = reply.raw;
  // A WebSocket has its answer at its begin.
  return writableFinished || statusCode === 101 ? statusCode : GONE;
}

/** A hook that runs when a response has been sent or abandoned. */
export type OnFinish = (request: FastifyRequest, reply: FastifyReply, requestContext: RequestContext) => void;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before anything else happens. */
    requestContext: RequestContext;
  }
}
