import { Degradation, EventStore, Followers, ParkedSubjects } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';

/** Number of events that a follower may be behind the newest one and still count as near it. */
const NEAR = 1000n;
/** The same for a follower that collects events before it takes them. */
const NEAR_GATHERING = 50_000n;
/** Age up to which a result is used again (ms). */
const FRESH_MS = 250;
const PATIENCE_MS = 3000;

/**
 * A reason that something does not work: `what` is for everybody, `why` (a message of another program) for operators.
 * Both have no full stop.
 */
export interface Reason {
  readonly what: string;
  readonly why?: string;
}
type Reasons = readonly Reason[];

export interface Health {
  /** Reasons that the service cannot do its work; empty when it can. */
  readonly reasons: Reasons;
  /** Parts that are late or need an operator, although requests are served. */
  readonly degraded: Reasons;
}

/** Checks whether events can be appended and every follower keeps up, and lists what consumers gave up on. */
@Injectable()
export class Readiness {
  private answer: Promise<Health> | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly followers: Followers,
    private readonly parked: ParkedSubjects,
    private readonly degradation: Degradation,
  ) {}

  /** Returns the reasons to send no requests to this process. */
  async reasons(): Promise<Reasons> {
    return (await this.health()).reasons;
  }

  /** Returns a result that is at most a quarter of a second old, within about three seconds. */
  health(): Promise<Health> {
    this.answer ??= this.check().finally(() => setTimeout(() => (this.answer = undefined), FRESH_MS).unref());
    return this.answer;
  }

  private async check(): Promise<Health> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
    });
    const appends = Promise.race([this.store.ready(), late]);
    const following = Promise.race([this.following(), late]);
    const waiting = Promise.race([this.waiting(), late]);
    const [append, lag, subjects] = await Promise.allSettled([appends, following, waiting]);
    clearTimeout(timer);
    return {
      reasons: [
        ...(append.status === 'rejected' ? [{ what: 'Events cannot be appended', why: messageOf(append.reason) }] : []),
        ...(lag.status === 'fulfilled'
          ? lag.value.needed
          : [{ what: 'The followers are not known', why: messageOf(lag.reason) }]),
      ],
      degraded: [
        ...this.degradation.reasons(),
        ...(lag.status === 'fulfilled' ? lag.value.optional : []),
        ...(subjects.status === 'fulfilled' ? subjects.value : []),
      ],
    };
  }

  private async following(): Promise<{ needed: Reasons; optional: Reasons }> {
    const behind = (await this.followers.status())
      .filter(({ lag, gathers, failing }) => {
        return lag > (gathers ? NEAR_GATHERING : NEAR) || (failing !== undefined && lag > 0n);
      })
      .map(({ name, lag, failing, optional }) => {
        return { optional, reason: { what: `${name} is ${lag} behind the newest event`, why: failing } };
      });
    const reasons = (wanted: boolean) => behind.flatMap(({ optional, reason }) => (optional === wanted ? reason : []));
    return { needed: reasons(false), optional: reasons(true) };
  }

  private async waiting(): Promise<Reasons> {
    return (await this.parked.counts()).flatMap(({ consumer, parked, retrying }) => [
      ...(parked > 0
        ? [{ what: `${consumer} gave up on ${parked} subject${parked > 1 ? 's' : ''}: see /v1/parked-subjects` }]
        : []),
      ...(retrying > 0 ? [{ what: `${consumer} tries ${retrying} subject${retrying > 1 ? 's' : ''} again` }] : []),
    ]);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
