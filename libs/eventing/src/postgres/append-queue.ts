import { outsideRequest } from '@fairlead/postgres';
import type { Pool } from 'pg';
import type { AppendTexts } from './append-limit';
import type { Metadata, Recorded } from '../core/event';
import { type Appended, type NewEvent, VersionConflict } from '../core/event-store';
import { appendedEvents, appends as counted, commits } from '../followers/metrics';
import { newId } from '../core/new-id';
import { unreachable } from '../core/unreachable';

interface Waiting {
  readonly stream: string;
  readonly expected: number;
  readonly events: readonly (NewEvent & { id: string })[];
  readonly metadata: Metadata;
  readonly texts: AppendTexts;
  resolve(appended: Appended): void;
  reject(error: unknown): void;
}

interface Sent {
  /** Number of the append in the call, and of the event in the append, from 1. */
  readonly append: number;
  readonly nth: number;
  readonly event: NewEvent & { id: string };
  readonly data: string;
}

interface Outcome {
  append: number;
  outcome: 'appended' | 'repeated' | 'conflict';
  version: number;
  position: string;
  time: string;
}

/** Largest number of events, and of characters of their data, in one commit. A larger append is committed alone. */
const COMMIT_EVENTS = 1000;
const COMMIT_CHARACTERS = 4_000_000;
/** Expected version of an append that fits any. */
const ANY = -1;
/** Time for which an append is repeated, with the same ids, after its connection broke (ms). */
const RETRY_MS = 5000;
/** Longest pause between repetitions (ms). It is short, because all appends of the process wait. */
const LONGEST_PAUSE_MS = 200;

/** SQL that renders the column `time` as ISO 8601 in UTC with milliseconds. */
export const TIME = `to_char("time" at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "time"`;

const APPEND = {
  name: 'append events',
  text: `select append, outcome, version, "position", ${TIME} from append_events($1, $2, $3, $4, $5, $6, $7, $8)`,
};

/** Sends the appends of this process to the database. Those that arrive during a commit share the next one. */
export class AppendQueue {
  /** Resolves when the running commit, if any, was answered. */
  underWay: Promise<void> = Promise.resolve();
  private queue: Waiting[] = [];
  private sending = false;

  constructor(
    private readonly pool: Pool,
    /** Called with what each commit wrote, in the order of the log. */
    private readonly committed: (events: Recorded[]) => void,
  ) {}

  /** Resolves when the events are durable. @throws VersionConflict */
  append(
    stream: string,
    expectedVersion: number | 'any',
    events: readonly NewEvent[],
    metadata: Metadata,
    texts: AppendTexts,
  ): Promise<Appended> {
    return new Promise((resolve, reject) => {
      const expected = expectedVersion === 'any' ? ANY : expectedVersion;
      const identified = events.map((event) => ({ ...event, id: event.id ?? newId() }));
      this.queue.push({ stream, expected, events: identified, metadata, texts, resolve, reject });
      if (!this.sending) void outsideRequest(() => this.send());
    });
  }

  private async send(): Promise<void> {
    this.sending = true;
    // Requests that arrived together get here within one turn of the event loop.
    await new Promise(setImmediate);
    while (this.queue.length > 0) {
      this.underWay = this.commit(this.next());
      await this.underWay;
    }
    this.sending = false;
  }

  /**
   * Returns the appends for one commit: the oldest ones. The others stay in order for the next. An append to a stream of
   * which there is one already is among them when it is at any version, and repeats no event of them.
   */
  private next(): Waiting[] {
    const streams = new Set<string>();
    const passedOver = new Set<string>();
    const ids = new Set<string>();
    const chosen: Waiting[] = [];
    const left: Waiting[] = [];
    let events = 0;
    let characters = 0;
    for (const waiting of this.queue) {
      const more = waiting.texts.data.reduce((sum, text) => sum + text.length, 0);
      const isSmall = events + waiting.events.length <= COMMIT_EVENTS && characters + more <= COMMIT_CHARACTERS;
      const mayFollow = !streams.has(waiting.stream) || waiting.expected === ANY;
      const isNext = mayFollow && !passedOver.has(waiting.stream);
      if ((events === 0 || isSmall) && isNext && !waiting.events.some(({ id }) => ids.has(id))) {
        chosen.push(waiting);
        streams.add(waiting.stream);
        for (const { id } of waiting.events) ids.add(id);
        events += waiting.events.length;
        characters += more;
      } else {
        left.push(waiting);
        passedOver.add(waiting.stream);
      }
    }
    this.queue = left;
    return chosen;
  }

  private async commit(appends: Waiting[]): Promise<void> {
    const sent = toRows(appends);
    let outcomes: Outcome[];
    try {
      outcomes = await this.write(appends, sent);
    } catch (error) {
      if (appends.length === 1 || unreachable(error)) {
        counted.inc({ outcome: 'failed' }, appends.length);
        for (const append of appends) append.reject(error);
      } else {
        // One of them cannot be stored: it must not fail the others.
        for (const append of appends) await this.commit([append]);
      }
      return;
    }
    for (const { append: place, outcome, version, position, time } of outcomes) {
      const append = appends[place - 1]!;
      counted.inc({ outcome });
      if (outcome === 'conflict') append.reject(new VersionConflict(append.stream, append.expected, version));
      else append.resolve({ version, position: BigInt(position), time });
    }
    const recorded = written(appends, sent, outcomes);
    appendedEvents.inc(recorded.length);
    this.committed(recorded);
  }

  private async write(appends: Waiting[], events: readonly Sent[]): Promise<Outcome[]> {
    const values = [
      appends.map(({ stream }) => stream),
      appends.map(({ expected }) => expected),
      appends.map(({ texts }) => texts.metadata),
      events.map(({ append }) => append),
      events.map(({ nth }) => nth),
      events.map(({ event }) => event.id),
      events.map(({ event }) => event.type),
      events.map(({ data }) => data),
    ];
    const deadline = Date.now() + RETRY_MS;
    for (let pause = 20; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        const end = commits.startTimer();
        const { rows } = await this.pool.query<Outcome>({ ...APPEND, values });
        end();
        return rows;
      } catch (error) {
        if (!unreachable(error) || Date.now() + pause > deadline) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }
}

function toRows(appends: readonly Waiting[]): Sent[] {
  return appends.flatMap(({ events, texts }, index) =>
    events.map((event, nth) => ({ append: index + 1, nth: nth + 1, event, data: texts.data[nth]! })),
  );
}

/** Returns the events that a commit added to the log, as a read would return them. */
function written(appends: readonly Waiting[], sent: readonly Sent[], outcomes: readonly Outcome[]): Recorded[] {
  const appended = new Map(outcomes.filter(({ outcome }) => outcome === 'appended').map((row) => [row.append, row]));
  const events = sent.flatMap(({ append, nth, event: { id, type }, data }) => {
    const outcome = appended.get(append);
    if (!outcome) return [];
    const { stream, metadata, events } = appends[append - 1]!;
    const behind = events.length - nth;
    const version = outcome.version - behind;
    const position = BigInt(outcome.position) - BigInt(behind);
    return [{ id, stream, version, position, time: outcome.time, type, data: JSON.parse(data) as unknown, metadata }];
  });
  return events.sort((a, b) => (a.position < b.position ? -1 : 1));
}
