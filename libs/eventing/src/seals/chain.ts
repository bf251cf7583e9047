import { hash } from 'node:crypto';
import type { Recorded } from '../core/event';
import { storedShape } from '../core/upcasters';

/**
 * The hash of a stream up to the last of `events`, which follow on `from` (the hash before them; none for a stream's
 * first events): SHA-256 over the hash before and everything the event holds but its position, base64url. A changed,
 * removed, added or reordered event changes the hashes of all that come after it.
 */
export function chain(events: readonly Recorded[], from = ''): string {
  return events.reduce((before, event) => {
    const { id, stream, version, type, data, metadata, time } = storedShape(event);
    const text = JSON.stringify([before, stream, version, id, type, data, metadata, time]);
    return hash('sha256', withoutSealed(text), 'base64url');
  }, from);
}

const SEALED = /"sealed":"(?!sha256:)([^"\\]*)"/g;

/**
 * JSON text with each sealed secret replaced by its SHA-256. The chain is over this form, so that a history can be
 * handed on and verified without the secrets, encrypted as they are.
 */
export function withoutSealed(json: string): string {
  if (!json.includes('"sealed":"')) return json;
  return json.replace(SEALED, (_, sealed: string) => {
    return `"sealed":"sha256:${hash('sha256', sealed, 'base64url')}"`;
  });
}

/** A part of a stream that is not as it was written: between `after` and `until` (versions). */
interface BrokenChain {
  readonly after: number;
  readonly until: number;
  readonly reason: string;
}

interface ChainReport {
  /** Hash of the whole stream. */
  readonly hash: string;
  /** Events covered by the hash that a later event holds; those after them are covered by nothing in the stream. */
  readonly covered: number;
  readonly broken: readonly BrokenChain[];
}

/** Holds a stream, event by event, against the hashes that its events hold of those before them. */
export class ChainCheck {
  private readonly broken: BrokenChain[] = [];
  private hash = '';
  private count = 0;
  private covered = 0;
  private holding: string | undefined;
  private ended = false;

  /** Takes the next event; after a hole nothing more can be said. */
  add(event: Recorded): void {
    if (this.ended) return;
    const { version, metadata } = event;
    if (version !== this.count + 1) {
      this.broken.push({ after: this.count, until: version, reason: `version ${this.count + 1} is missing` });
      this.ended = true;
      return;
    }
    // The events of one append hold the same hash: that of the stream before the first of them.
    if (metadata.previous !== undefined && metadata.previous !== this.holding) {
      this.holding = metadata.previous;
      if (this.holding !== this.hash) {
        const reason = `version ${version} was written after other events`;
        this.broken.push({ after: this.covered, until: this.count, reason });
      }
      this.covered = this.count;
      // What follows is held against what was really there before it.
      this.hash = this.holding;
    }
    this.hash = chain([event], this.hash);
    this.count = version;
  }

  report(): ChainReport {
    return { hash: this.hash, covered: this.covered, broken: this.broken };
  }
}
