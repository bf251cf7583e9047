import { Followers } from '@fairlead/eventing';
import { Injectable } from '@nestjs/common';
import { Pool } from 'pg';

/** Positions a follower may be behind the newest event and still count as near it. */
const NEAR = 1000n;
/** The same for one that lets events gather before it takes them. */
const NEAR_GATHERING = 50_000n;
/** How long an answer serves all who ask. */
const FRESH_MS = 250;
const PATIENCE_MS = 3000;

/** Empty when the service can do its work; else one sentence per reason why not. */
export type Reasons = readonly string[];

/** Tells whether events can be appended and whether every follower keeps up. */
@Injectable()
export class Readiness {
  private answer: Promise<Reasons> | undefined;

  constructor(
    private readonly pool: Pool,
    private readonly followers: Followers,
  ) {}

  /** The reasons not to send requests here, at most a quarter of a second old. Answers within about three seconds. */
  reasons(): Promise<Reasons> {
    this.answer ??= this.check().finally(() => setTimeout(() => (this.answer = undefined), FRESH_MS).unref());
    return this.answer;
  }

  private async check(): Promise<Reasons> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
    });
    const appends = Promise.race([this.tryAppend(), late]);
    const lagging = Promise.race([this.lagging(), late]);
    const [append, lag] = await Promise.allSettled([appends, lagging]);
    clearTimeout(timer);
    return [
      ...(append.status === 'rejected' ? [`Events cannot be appended: ${messageOf(append.reason)}.`] : []),
      ...(lag.status === 'fulfilled' ? lag.value : [`The followers are not known: ${messageOf(lag.reason)}.`]),
    ];
  }

  /** Appends an event through the very function every append uses, waits at most 2 s for its lock, and rolls back. */
  private async tryAppend(): Promise<void> {
    const client = await this.pool.connect();
    let broken: Error | undefined;
    try {
      await client.query(`begin; set local lock_timeout = '2s'`);
      await client.query(
        `select append_events(array['readiness-check'], array[-1], array['{}'], array[1], array[1],
                              array[gen_random_uuid()], array['Checked'], array['{}'])`,
      );
    } finally {
      await client.query('rollback').catch((error: Error) => (broken = error));
      client.release(broken);
    }
  }

  private async lagging(): Promise<Reasons> {
    const statuses = await this.followers.status();
    return statuses
      .filter(({ lag, gathers, failing }) => {
        return lag > (gathers ? NEAR_GATHERING : NEAR) || (failing !== undefined && lag > 0n);
      })
      .map(
        ({ name, lag, failing }) =>
          `${name} is ${lag} behind the newest event${failing === undefined ? '' : `: ${failing}`}.`,
      );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error);
}
