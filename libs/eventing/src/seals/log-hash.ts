import { hash as hashOf } from 'node:crypto';
import { withoutSealed } from './chain';
import type { Recorded } from '../core/event';
import { storedShape } from '../core/upcasters';

/** How far the log has been hashed: over its first `count` events, the last one at `position`. */
export interface LogHash {
  readonly position: string;
  readonly count: number;
  readonly hash: string;
}

/** The hash of an empty log. */
export const NOTHING: LogHash = { position: '0', count: 0, hash: '' };

/**
 * The hash of the log after further events: SHA-256 over the hash before, the event's place (counted, so that it stays
 * when the log moves to another store) and everything it holds, base64url.
 */
export function hashLog(events: readonly Recorded[], from: LogHash): LogHash {
  return events.reduce((before, event) => {
    const { id, stream, version, position, type, data, metadata, time } = storedShape(event);
    const text = JSON.stringify([
      before.hash,
      String(before.count + 1),
      stream,
      version,
      id,
      type,
      data,
      metadata,
      time,
    ]);
    const hash = hashOf('sha256', withoutSealed(text), 'base64url');
    return { position: String(position), count: before.count + 1, hash };
  }, from);
}

/** The text that is signed of how far the log has been hashed, between two seals. Positions change when a log moves. */
export function headText({ count, hash }: LogHash): string {
  return JSON.stringify(['fairlead log head', count, hash]);
}
