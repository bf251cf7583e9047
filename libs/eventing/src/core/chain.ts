import { hash } from 'node:crypto';
import type { Recorded } from './event';
import { storedShape } from './upcasters';

/**
 * Returns the hash of a stream up to the last of `events`: for each event, SHA-256 over the hash before it and
 * everything it contains except its position, base64url. `from`: the hash before the first of them; empty at the
 * beginning of a stream. A changed, removed, added or moved event changes the hashes of all events after it.
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
 * Returns a JSON text in which the SHA-256 of each encrypted secret stands for it. The chain is computed from this
 * form, so that a history can be exported and verified without its encrypted secrets.
 */
export function withoutSealed(json: string): string {
  if (!json.includes('"sealed":"')) return json;
  return json.replace(SEALED, (_, sealed: string) => {
    return `"sealed":"sha256:${hash('sha256', sealed, 'base64url')}"`;
  });
}

/** A part of a stream that was changed, between the versions `after` and `until`. */
interface BrokenChain {
  readonly after: number;
  readonly until: number;
  readonly reason: string;
}

interface ChainReport {
  readonly hash: string;
  /** Number of events that the hash in a later event covers; no hash in the stream covers those after them. */
  readonly covered: number;
  readonly broken: readonly BrokenChain[];
}

/** Compares a stream, event by event, with the hashes that its events contain of the events before them. */
export class ChainCheck {
  private readonly broken: BrokenChain[] = [];
  private hash = '';
  private count = 0;
  private covered = 0;
  private holding: string | undefined;
  private ended = false;

  /** Adds the next event. After a missing event, further events are ignored, because they cannot be checked. */
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
