import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Load } from '@fairlead/api';
import { clientNetwork } from '../http/client-address';
import { bringsBody } from '../http/body-framing';
import { type Claimed, OverloadedKeys } from './overloaded-keys';
import { type HttpProblem, TooManyRequests, Unauthorized, Unavailable } from '@fairlead/schema';
import { type Capacity, InFlight } from './in-flight';
import { type Rate, RateLimit } from './rate-limit';
import { isKnown, ownerOf } from './request-context';
import { WrongKeys } from './wrong-keys';

export interface AdmissionSettings {
  /** Rate limits; absent ones are off. */
  readonly rates: {
    readonly key?: Rate;
    readonly address?: Rate;
    /** Number of different wrong keys of one address. */
    readonly wrongKeys?: Rate;
  };
  readonly requests: Capacity;
  readonly uploads: Capacity;
}

/** Capacity for requests that mostly wait for something else: they cost little but their connection. */
const WAITING: Capacity = { total: 5_000, perKey: 1_000 };
const BUSY = new Unavailable(1, 'The service is busy right now, try again later.');
const TOO_MANY = new TooManyRequests(1, 'Too many requests at a time, try again later.');

/**
 * Decides which requests are admitted: first by the address of the client, before any other work, then by the key. Each
 * method returns the reason for a refusal, or undefined.
 */
export class Admission {
  readonly inFlight: Readonly<Record<Exclude<Load, 'vital'>, InFlight>>;
  /** Number of admitted requests whose bodies are still arriving. */
  arriving = 0;
  private readonly perAddress?: RateLimit;
  private readonly perKey?: RateLimit;
  private readonly wrongKeys?: WrongKeys;
  private readonly overloadedKeys = new OverloadedKeys();

  constructor({ rates, requests, uploads }: AdmissionSettings) {
    this.inFlight = {
      usual: new InFlight(requests),
      upload: new InFlight(uploads),
      wait: new InFlight(WAITING),
    };
    if (rates.address) this.perAddress = new RateLimit('address', rates.address);
    if (rates.key) this.perKey = new RateLimit('key', rates.key);
    if (rates.wrongKeys) this.wrongKeys = new WrongKeys(rates.wrongKeys);
  }

  /** Returns why there is no room for a request of the usual load, as far as its headers show it. */
  full(headers: IncomingHttpHeaders, now: number): HttpProblem | undefined {
    const { usual } = this.inFlight;
    if (usual.isFull(now)) return BUSY;
    const key = this.overloadedKeys.overloaded(headers, usual);
    return key === undefined ? undefined : oneTooMany(usual, key);
  }

  /**
   * Called before any other work. An admitted request counts until `depart`; one with a body counts from `complete` on,
   * and an upload from when its key is known.
   */
  arrive({ requestContext, raw }: FastifyRequest, reply: FastifyReply, load: Load): HttpProblem | undefined {
    if (load === 'vital') return undefined;
    if (this.perAddress) {
      const refused = take(this.perAddress, clientNetwork(requestContext.address), requestContext.startedAt, reply);
      if (refused) {
        requestContext.shed = 'rate';
        return refused;
      }
    }
    const inFlight = this.inFlight[load];
    if (load === 'upload' || bringsBody(raw)) {
      if (!inFlight.isFull(requestContext.startedAt)) {
        requestContext.expected = inFlight;
        this.arriving++;
        return undefined;
      }
    } else if (inFlight.enter(requestContext.startedAt)) {
      requestContext.counted = inFlight;
      return undefined;
    }
    requestContext.shed = 'capacity';
    return BUSY;
  }

  /**
   * Called when the body of a request has arrived. The request counts as running from then on, however slowly its body
   * came.
   */
  complete(request: FastifyRequest): HttpProblem | undefined {
    const { requestContext } = request;
    const { expected } = requestContext;
    if (!expected) return undefined;
    requestContext.expected = undefined;
    this.arriving--;
    if (!expected.enter(performance.now())) {
      requestContext.shed = 'capacity';
      return BUSY;
    }
    requestContext.counted = expected;
    return this.count(request);
  }

  /**
   * Called after a key was refused. Returns the answer to send instead when the address has tried too many wrong keys.
   * Right keys of the same address still work, so that one client cannot lock out its neighbours.
   */
  refused(request: FastifyRequest, error: unknown): HttpProblem | undefined {
    const { requestContext } = request;
    if (!(error instanceof Unauthorized)) return undefined;
    const wait = this.wrongKeys?.note(request, clientNetwork(requestContext.address), requestContext.startedAt) ?? 0;
    if (wait === 0) return undefined;
    requestContext.shed = 'rate';
    return new TooManyRequests(wait, 'Too many wrong keys from this address, try again later.');
  }

  /** Called after a key was accepted. */
  recognised(request: FastifyRequest, reply: FastifyReply): HttpProblem | undefined {
    const { requestContext, actor } = request;
    const { keyId } = actor;
    if (!requestContext.counted && !requestContext.expected) return undefined;
    if (this.perKey) {
      const refused = take(this.perKey, keyId, requestContext.startedAt, reply);
      if (refused) {
        requestContext.shed = 'rate';
        return refused;
      }
    }
    return this.anonymous(request);
  }

  /** Called instead of `recognised` when the route needs no key. */
  anonymous(request: FastifyRequest): HttpProblem | undefined {
    return request.requestContext.expected === this.inFlight.upload ? this.complete(request) : this.count(request);
  }

  /** Called at the end of every request, whatever its result. */
  depart({ requestContext }: FastifyRequest): void {
    if (requestContext.expected) this.arriving--;
    requestContext.expected = undefined;
    requestContext.counted?.leave(
      requestContext.claimed?.key,
      requestContext.shed !== undefined,
      requestContext.claimed?.workspace,
    );
    requestContext.counted = requestContext.claimed = undefined;
  }

  /** Counts a request for its key and workspace, or its address, so that none of them takes all the capacity. */
  private count(request: FastifyRequest): HttpProblem | undefined {
    const { requestContext, headers } = request;
    const inFlight = requestContext.counted ?? requestContext.expected;
    if (!inFlight) return undefined;
    const claimed = claimOf(request);
    const { key, workspace } = claimed;
    if (requestContext.counted ? inFlight.enterKey(key, workspace) : !inFlight.isOverloadedBy(key, workspace)) {
      if (requestContext.counted) requestContext.claimed = claimed;
      return undefined;
    }
    requestContext.shed = 'capacity';
    if (isKnown(request)) this.overloadedKeys.note(headers, claimed);
    return oneTooMany(inFlight, key);
  }
}

/** Returns for whom a request counts: its key and workspace, or its address where no key is needed. */
function claimOf(request: FastifyRequest): Claimed {
  const owner = ownerOf(request);
  return { key: isKnown(request) ? request.actor.keyId : owner, workspace: owner };
}

/** Returns 429 when the key is at its own limit, and 503 when the service has less room at the moment. */
function oneTooMany(inFlight: InFlight, key: string): HttpProblem {
  return inFlight.isSpentBy(key) ? TOO_MANY : BUSY;
}

/** Takes one request from a rate limit and adds its headers to the response. */
function take(limit: RateLimit, name: string, now: number, reply: FastifyReply): HttpProblem | undefined {
  const spent = limit.take(name, now);
  void reply.header('ratelimit-policy', limit.policy).header('ratelimit', limit.state(spent));
  return limit.exceeds(spent) ? new TooManyRequests(limit.retryAfter(spent)) : undefined;
}
