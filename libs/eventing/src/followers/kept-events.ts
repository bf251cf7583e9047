import { weightOf } from '@fairlead/schema';
import type { Recorded } from '../core/event';

/** Limits on the events in memory. Their bytes are estimated, and clients decide how large an event is. */
const MOST = { events: 5000, bytes: 64 * 1024 * 1024 };

/** The newest events of the log in memory, in order. When there are too many, the older half is dropped. */
export class KeptEvents {
  private kept: Recorded[] = [];
  private weights: number[] = [];
  private bytes = 0;

  constructor(private readonly most = MOST) {}

  get all(): readonly Recorded[] {
    return this.kept;
  }

  /** Adds the next events. Returns those that are dropped for them, which may be all. */
  add(events: readonly Recorded[]): readonly Recorded[] {
    for (const event of events) {
      const weight = weightOf(event.data as object | null);
      this.kept.push(event);
      this.weights.push(weight);
      this.bytes += weight;
    }
    if (this.kept.length <= this.most.events && this.bytes <= this.most.bytes) return [];
    let dropped = 0;
    while (this.kept.length - dropped > this.most.events / 2 || this.bytes > this.most.bytes / 2) {
      this.bytes -= this.weights[dropped]!;
      dropped += 1;
    }
    this.weights = this.weights.slice(dropped);
    const old = this.kept.slice(0, dropped);
    this.kept = this.kept.slice(dropped);
    return old;
  }
}
