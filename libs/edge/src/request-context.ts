import type { Span } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '@fairlead/api';
import { clientNetwork } from './client-address';
import type { Claimed } from './admission/overloaded-keys';
import type { HttpProblem } from '@fairlead/schema';
import type { HeldBytes } from './admission/held-bytes';
import type { InFlight } from './admission/in-flight';

/** What the server keeps of a request in progress, from its head to the end of the response. */
export interface RequestContext {
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Of the client, as far as the proxies in front are believed. */
  readonly address: string;
  /** Bytes that its connection had sent before. */
  readonly sentBefore: number;
  /** Where it is counted while it is under way. */
  counted?: InFlight;
  /** For whom it is counted there. */
  claimed?: Claimed;
  /** Where it will be counted when its body is there. */
  expected?: InFlight;
  /** The bytes of its body that are in memory, when it has one. */
  held?: HeldBytes;
  /** Counts it as under way now that its body is there, on a route that reads the body itself. */
  complete?: () => HttpProblem | undefined;
  /** Bytes of its answer that are counted until its client has read them, and for whom. */
  unreadBytes: number;
  unreadOwner?: string;
  /** Why it was refused for the sake of others. */
  shed?: 'rate' | 'capacity';
  /** Of a request that only reads: aborted when its client does not wait for the answer any more. */
  reading?: AbortSignal;
  /** While it is traced. */
  span?: Span;
}

/** Whose share a request takes: its workspace's, or that of its address while nobody is known. */
export function ownerOf({ actor, requestContext }: FastifyRequest): string {
  return (actor as Actor | undefined)?.tenantId ?? clientNetwork(requestContext.address);
}

/** Whether it is known who sends a request. */
export function isKnown({ actor }: FastifyRequest): boolean {
  return (actor as Actor | undefined) !== undefined;
}

/** Nginx's number for a client that went away before its answer was sent. */
const GONE = 499;

/** The status of an answer, 499 when the client did not wait for it. */
export function answeredStatus(reply: FastifyReply): number {
  return reply.raw.writableFinished ? reply.statusCode : GONE;
}

/** A hook that runs when a response has been sent or abandoned. */
export type OnFinish = (request: FastifyRequest, reply: FastifyReply, requestContext: RequestContext) => void;

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before anything else happens. */
    requestContext: RequestContext;
  }
}
