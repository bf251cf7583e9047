import type { Pool } from 'pg';

interface Standing {
  /** Last handled version, by stream. */
  readonly done: Map<string, number>;
  readonly waiting: Set<string>;
}

/** Records which events the consumers have handled: one row per consumer and stream. */
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

  /**
   * Records the last handled version of each stream. The commit does not wait for the disk: after a crash that loses
   * it, the events are delivered again.
   */
  async note(consumer: string, handled: ReadonlyMap<string, number>): Promise<void> {
    await this.pool.query({
      name: 'note handled events',
      text: `insert into inbox (consumer, subject, sequence)
        select $1, subject, sequence
        from set_config('synchronous_commit', 'off', true), unnest($2::text[], $3::int[]) as handled (subject, sequence)
        order by subject
        on conflict (consumer, subject) do update set sequence = excluded.sequence
        where inbox.sequence < excluded.sequence`,
      values: [consumer, [...handled.keys()], [...handled.values()]],
    });
  }
}
