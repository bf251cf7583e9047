import { type EventStore, idOf, type Recorded, type Witness } from '@fairlead/eventing';

/** Events at the end of the log that consumers are given again: more than one that keeps up can be behind. */
const AGAIN = 1000;

/** Versions of a stream: the newest one, and the newest one that consumers have surely handled. */
interface StreamVersions {
  readonly version: number;
  readonly handled: number;
}

/** Content of a log, as far as the database has to agree with it. */
export interface LogContents {
  readonly streams: ReadonlyMap<string, StreamVersions>;
  /** The ends of the streams' names. */
  readonly ids: ReadonlySet<string>;
  /** The newest event, undefined of an empty log. */
  readonly newest?: Witness;
  /** The event behind which consumers go on; undefined when that is the beginning of the log. */
  readonly handled?: Witness;
}

/** Reads the log up to a position. @throws the signal's reason */
export async function readContents(store: EventStore, until: bigint, signal?: AbortSignal): Promise<LogContents> {
  const streams = new Map<string, StreamVersions>();
  let last: Recorded[] = [];
  let handled: Recorded | undefined;
  const settle = (event: Recorded) => {
    handled = event;
    streams.set(event.stream, { ...streams.get(event.stream)!, handled: event.version });
  };
  const ending = new AbortController();
  if (until > 0n) {
    for await (const { events, position } of store.subscribe(
      0n,
      signal ? AbortSignal.any([ending.signal, signal]) : ending.signal,
    )) {
      for (const event of events.filter((one) => one.position <= until)) {
        streams.set(event.stream, { handled: streams.get(event.stream)?.handled ?? 0, version: event.version });
        last.push(event);
      }
      if (last.length > AGAIN) {
        last.slice(0, -AGAIN).forEach(settle);
        last = last.slice(-AGAIN);
      }
      if (position >= until) break;
    }
    ending.abort();
  }
  signal?.throwIfAborted();
  return { streams, ids: new Set([...streams.keys()].map(idOf)), newest: last.at(-1), handled };
}
