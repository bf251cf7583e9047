import { createHash } from 'node:crypto';
import type { Recorded } from './event';
import { storedShape } from './upcasters';

/**
 * The hash of a stream up to the last of `events`, which follow on `from` (the hash before them; none for a stream's
 * first events): SHA-256 over the hash before and everything the event holds but its position, base64url. A changed,
 * removed, added or reordered event changes the hashes of all that come after it.
 */
export function chain(events: readonly Recorded[], from = ''): string {
  return events.reduce((before, event) => {
    const { id, stream, version, type, data, metadata, time } = storedShape(event);
    const text = JSON.stringify([before, stream, version, id, type, data, metadata, time]);
    return createHash('sha256').update(withoutSealed(text)).digest('base64url');
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
    return `"sealed":"sha256:${createHash('sha256').update(sealed).digest('base64url')}"`;
  });
}

/** A part of a stream that is not as it was written: between `after` and `until` (versions). */
export interface BrokenChain {
  readonly after: number;
  readonly until: number;
  readonly reason: string;
}

export interface ChainReport {
  /** Hash of the whole stream. */
  readonly hash: string;
  /** Events covered by the hash that a later event holds; those after them are covered by nothing in the stream. */
  readonly covered: number;
  readonly broken: readonly BrokenChain[];
}

/** Holds a whole stream against the hashes that its events hold of those before them. */
export function verifyChain(events: readonly Recorded[]): ChainReport {
  const broken: BrokenChain[] = [];
  let hash = '';
  let covered = 0;
  let holding: string | undefined;
  for (const [index, event] of events.entries()) {
    const { version, metadata } = event;
    if (version !== index + 1) {
      broken.push({ after: index, until: version, reason: `version ${index + 1} is missing` });
      return { hash, covered, broken };
    }
    // The events of one append hold the same hash: that of the stream before the first of them.
    if (metadata.previous !== undefined && metadata.previous !== holding) {
      holding = metadata.previous;
      if (holding !== hash)
        broken.push({ after: covered, until: index, reason: `version ${version} was written after other events` });
      covered = index;
      // What follows is held against what was really there before it.
      hash = holding;
    }
    hash = chain([event], hash);
  }
  return { hash, covered, broken };
}
