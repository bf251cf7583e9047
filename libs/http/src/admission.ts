import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Load } from './access';
import { clientNetwork } from './client-address';
import { Crowding } from './crowding';
import type { EdgeSettings } from './edge-settings';
import { type HttpProblem, TooManyRequests, Unauthorized, Unavailable } from './errors';
import { type Capacity, InFlight } from './in-flight';
import { RateLimit } from './rate-limit';
import type { Visit } from './visit';
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
  private readonly perAddress?: RateLimit;
  private readonly perKey?: RateLimit;
  private readonly wrongKeys?: WrongKeys;
  private readonly crowding = new Crowding();

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
    const key = this.crowding.crowder(headers, usual);
    return key === undefined ? undefined : oneTooMany(usual, key);
  }

  /** Before anything else; what is let in is counted until `depart`. */
  arrive({ visit }: FastifyRequest, reply: FastifyReply, load: Load): HttpProblem | undefined {
    if (load === 'vital') return undefined;
    if (this.perAddress) {
      const refused = take(this.perAddress, clientNetwork(visit.address), visit.startedAt, reply);
      if (refused) {
        visit.shed = 'rate';
        return refused;
      }
    }
    const inFlight = this.inFlight[load];
    if (inFlight.enter(visit.startedAt)) {
      visit.counted = inFlight;
      return undefined;
    }
    visit.shed = 'capacity';
    return BUSY;
  }

  /**
   * After a key was refused: the answer in place of the refusal when the address has tried too many wrong keys. Right
   * keys of the same address are answered as ever, so that one client cannot lock out its neighbours.
   */
  refused(request: FastifyRequest, error: unknown): HttpProblem | undefined {
    const { visit } = request;
    if (!(error instanceof Unauthorized)) return undefined;
    const wait = this.wrongKeys?.note(request, clientNetwork(visit.address), visit.startedAt) ?? 0;
    if (wait === 0) return undefined;
    visit.shed = 'rate';
    return new TooManyRequests(wait, 'Too many wrong keys from this address, try again later.');
  }

  /** After a key was found to be right. */
  recognised(request: FastifyRequest, reply: FastifyReply): HttpProblem | undefined {
    const { visit, actor, headers } = request;
    const { keyId } = actor;
    if (!visit.counted) return undefined;
    if (this.perKey) {
      const refused = take(this.perKey, keyId, visit.startedAt, reply);
      if (refused) {
        visit.shed = 'rate';
        return refused;
      }
    }
    const crowded = countFor(visit, keyId);
    if (crowded) this.crowding.note(headers, keyId);
    return crowded;
  }

  /** Instead of `recognised` where no key is needed. */
  anonymous({ visit }: FastifyRequest): HttpProblem | undefined {
    return countFor(visit, clientNetwork(visit.address));
  }

  /** The end of a request, whatever became of it. */
  depart({ visit }: FastifyRequest): void {
    visit.counted?.leave(visit.countedKey, visit.shed !== undefined);
    visit.counted = undefined;
  }
}

/** So that no single key, or address without one, takes all the room there is. */
function countFor(visit: Visit, name: string): HttpProblem | undefined {
  if (!visit.counted) return undefined;
  if (visit.counted.enterKey(name)) {
    visit.countedKey = name;
    return undefined;
  }
  visit.shed = 'capacity';
  return oneTooMany(visit.counted, name);
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
