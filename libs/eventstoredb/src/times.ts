import type { Recorded } from '@fairlead/eventing';
import { Recent } from '@fairlead/schema';

/** Number of streams whose newest time is kept; the least recently used one is dropped. */
const KEPT_STREAMS = 10_000;

export class StreamTimes {
  private readonly kept = new Recent<{ readonly version: number; readonly time: string }>(KEPT_STREAMS);

  note(newest: Pick<Recorded, 'stream' | 'version' | 'time'> | undefined): void {
    if (!newest) return;
    const { stream, version, time } = newest;
    this.kept.set(stream, { version, time });
  }

  newest(stream: string): number {
    return this.kept.get(stream)?.version ?? 0;
  }

  /** Returns the time of the event at a version of a stream; undefined when it is not known. */
  of(stream: string, version: number): string | undefined {
    const known = this.kept.get(stream);
    return known?.version === version ? known.time : undefined;
  }
}
