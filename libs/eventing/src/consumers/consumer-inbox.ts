import type { Pool } from 'pg';
import type { Recorded } from '../core/event';

/** How far a consumer has come with streams. */
interface Standing {
  /** The last version that it has handled, by stream. */
  readonly done: Map<string, number>;
  /** Streams that are parked. */
  readonly waiting: Set<string>;
}

/** Which events the consumers have handled: an inbox row per consumer and stream. */
export class ConsumerInbox {
  constructor(private readonly pool: Pool) {}

  async standing(consumer: string, streams: readonly string[]): Promise<Standing> {
    const { rows } = await this.pool.query<{ subject: string; sequence: number | null }>({
      name: 'standing of a consumer',
      text: `select subject, sequence from inbox where consumer = $1 and subject = any($2)
        union all select subject, null from parked_subjects where consumer = $1 and subject = any($2)`,
      values: [consumer, streams],
    });
    const standing: Standing = { done: new Map(), waiting: new Set() };
    for (const { subject, sequence } of rows) {
      if (sequence === null) standing.waiting.add(subject);
      else standing.done.set(subject, sequence);
    }
    return standing;
  }

  /** Not waited for on the disk: a crash of the server that loses it has the event delivered again. */
  async note(consumer: string, { stream, version }: Recorded): Promise<void> {
    await this.pool.query({
      name: 'note a handled event',
      text: `insert into inbox (consumer, subject, sequence)
        select $1, $2, $3::int from set_config('synchronous_commit', 'off', true)
        on conflict (consumer, subject) do update set sequence = excluded.sequence
        where inbox.sequence < excluded.sequence`,
      values: [consumer, stream, version],
    });
  }
}
