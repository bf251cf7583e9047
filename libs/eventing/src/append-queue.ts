import type { Pool } from 'pg';
import { v7 as uuid } from 'uuid';
import type { Metadata } from './event';
import { type Appended, type NewEvent, VersionConflict } from './event-store';
import { unreachable } from './unreachable';

interface Waiting {
  readonly stream: string;
  readonly expected: number;
  readonly events: readonly (NewEvent & { id: string })[];
  readonly metadata: Metadata;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

interface Outcome {
  append: number;
  outcome: 'appended' | 'repeated' | 'conflict';
  version: number;
  position: string;
  time: string;
}

/** Most events one commit carries; a larger append goes alone. */
const COMMIT_EVENTS = 1000;
/** An append whose connection broke is sent again, with the same ids, for this long. */
const RETRY_MS = 5000;

/** SQL that renders the column `time` as ISO 8601 in UTC with milliseconds. */
export const TIME = `to_char("time" at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "time"`;

const APPEND = {
  name: 'append events',
  text: `select append, outcome, version, "position", ${TIME} from append_events($1, $2, $3, $4, $5, $6, $7, $8)`,
};

/** Appends of this process on their way to the database: those that wait while a commit is under way share the next. */
export class AppendQueue {
  private queue: Waiting[] = [];
  private sending = false;

  constructor(
    private readonly pool: Pool,
    /** Called after each commit. */
    private readonly committed: () => void,
  ) {}

  /** Resolves when the events are durable. @throws VersionConflict */
  append(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    metadata: Metadata,
  ): Promise<Appended> {
    if (events.length === 0) return Promise.reject(new Error('An append needs at least one event.'));
    return new Promise((resolve, reject) => {
      const expected = expectedVersion === 'any' ? -1 : expectedVersion;
      const identified = events.map((event) => ({ ...event, id: event.id ?? uuid() }));
      this.queue.push({ stream, expected, events: identified, metadata, resolve, reject });
      if (!this.sending) void this.send();
    });
  }

  private async send(): Promise<void> {
    this.sending = true;
    while (this.queue.length > 0) await this.commit(this.next());
    this.sending = false;
  }

  /** Appends for one commit: the oldest, each stream once; the others stay in order for the next. */
  private next(): Waiting[] {
    const streams = new Set<string>();
    const chosen: Waiting[] = [];
    const left: Waiting[] = [];
    let events = 0;
    for (const waiting of this.queue) {
      const fits = events === 0 || events + waiting.events.length <= COMMIT_EVENTS;
      if (fits && !streams.has(waiting.stream)) {
        chosen.push(waiting);
        events += waiting.events.length;
      } else {
        left.push(waiting);
      }
      streams.add(waiting.stream);
    }
    this.queue = left;
    return chosen;
  }

  private async commit(appends: Waiting[]): Promise<void> {
    let outcomes: Outcome[];
    try {
      outcomes = await this.write(appends);
    } catch (error) {
      if (appends.length === 1 || unreachable(error)) {
        for (const append of appends) append.reject(error);
      } else {
        // One of them cannot be stored: it must not fail the others.
        for (const append of appends) await this.commit([append]);
      }
      return;
    }
    for (const { append: place, outcome, version, position, time } of outcomes) {
      const append = appends[place - 1]!;
      if (outcome === 'conflict') append.reject(new VersionConflict(append.stream, append.expected, version));
      else append.resolve({ version, position: BigInt(position), time });
    }
    this.committed();
  }

  private async write(appends: Waiting[]): Promise<Outcome[]> {
    const events = appends.flatMap((append, index) =>
      append.events.map((event, nth) => ({ event, append: index + 1, nth: nth + 1 })),
    );
    const values = [
      appends.map(({ stream }) => stream),
      appends.map(({ expected }) => expected),
      appends.map(({ metadata }) => JSON.stringify(metadata)),
      events.map(({ append }) => append),
      events.map(({ nth }) => nth),
      events.map(({ event }) => event.id),
      events.map(({ event }) => event.type),
      events.map(({ event }) => JSON.stringify(event.data)),
    ];
    const deadline = Date.now() + RETRY_MS;
    for (let pause = 20; ; pause *= 2) {
      try {
        return (await this.pool.query<Outcome>({ ...APPEND, values })).rows;
      } catch (error) {
        if (!unreachable(error) || Date.now() + pause > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }
}
