import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Load } from '@fairlead/api';
import { clientNetwork } from '../client-address';
import { bringsBody } from '../body-framing';
import { type Claimed, OverloadedKeys } from './overloaded-keys';
import type { EdgeSettings } from '../edge-settings';
import { type HttpProblem, TooManyRequests, Unauthorized, Unavailable } from '@fairlead/schema';
import { type Capacity, InFlight } from './in-flight';
import { RateLimit } from './rate-limit';
import { isKnown, ownerOf } from '../request-context';
import { WrongKeys } from './wrong-keys';

/** Requests that mostly wait for something else cost little but their connection. */
const WAITING: Capacity = { total: 5_000, perKey: 1_000 };
const BUSY = new Unavailable(1, 'The service is busy right now, try again later.');
const TOO_MANY = new TooManyRequests(1, 'Too many requests at a time, try again later.');

/**
 * Decides which requests are let in: first by the client's address, before anything is done for it, then by its key.
 * Each decision answers why not, or nothing.
 */
export class Admission {
  readonly inFlight: Readonly<Record<Exclude<Load, 'vital'>, InFlight>>;
  /** Requests that were let in and whose bodies are on their way. */
  arriving = 0;
  private readonly perAddress?: RateLimit;
  private readonly perKey?: RateLimit;
  private readonly wrongKeys?: WrongKeys;
  private readonly overloadedKeys = new OverloadedKeys();

  constructor({ rates, requests, uploads }: EdgeSettings) {
    this.inFlight = {
      usual: new InFlight(requests),
      upload: new InFlight(uploads),
      wait: new InFlight(WAITING),
    };
    if (rates.address) this.perAddress = new RateLimit('address', rates.address);
    if (rates.key) this.perKey = new RateLimit('key', rates.key);
    if (rates.wrongKeys) this.wrongKeys = new WrongKeys(rates.wrongKeys);
  }

  /** Why a request of the usual load has no place, as far as can be told from its head. */
  full(headers: IncomingHttpHeaders, now: number): HttpProblem | undefined {
    const { usual } = this.inFlight;
    if (usual.isFull(now)) return BUSY;
    const key = this.overloadedKeys.overloaded(headers, usual);
    return key === undefined ? undefined : oneTooMany(usual, key);
  }

  /**
   * Before anything else; what is let in is counted until `depart`, or if it brings a body, from `complete` on. An upload
   * is counted when it is known who sends it.
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

  /** When the body of a request is there: only from then on it counts as under way, however slowly it came. */
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
   * After a key was refused: the answer in place of the refusal when the address has tried too many wrong keys. Right
   * keys of the same address are answered as ever, so that one client cannot lock out its neighbours.
   */
  refused(request: FastifyRequest, error: unknown): HttpProblem | undefined {
    const { requestContext } = request;
    if (!(error instanceof Unauthorized)) return undefined;
    const wait = this.wrongKeys?.note(request, clientNetwork(requestContext.address), requestContext.startedAt) ?? 0;
    if (wait === 0) return undefined;
    requestContext.shed = 'rate';
    return new TooManyRequests(wait, 'Too many wrong keys from this address, try again later.');
  }

  /** After a key was found to be right. */
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

  /** Instead of `recognised` where no key is needed. */
  anonymous(request: FastifyRequest): HttpProblem | undefined {
    return request.requestContext.expected === this.inFlight.upload ? this.complete(request) : this.count(request);
  }

  /** The end of a request, whatever became of it. */
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

  /** So that no single key or workspace, or address without a key, takes all the room there is. */
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

/** For whom a request counts: its key and workspace, or where no key is needed, its address. */
function claimOf(request: FastifyRequest): Claimed {
  const owner = ownerOf(request);
  return { key: isKnown(request) ? request.actor.keyId : owner, workspace: owner };
}

/** A key is told of its own limit; that there is less room for it for now is the service's state. */
function oneTooMany(inFlight: InFlight, key: string): HttpProblem {
  return inFlight.isSpentBy(key) ? TOO_MANY : BUSY;
}

/** Takes one from a quota and tells the client about it. */
function take(limit: RateLimit, name: string, now: number, reply: FastifyReply): HttpProblem | undefined {
  const spent = limit.take(name, now);
  void reply.header('ratelimit-policy', limit.policy).header('ratelimit', limit.state(spent));
  return limit.exceeds(spent) ? new TooManyRequests(limit.retryAfter(spent)) : undefined;
}
