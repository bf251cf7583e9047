import { hash as hashOf } from 'node:crypto';
import { withoutSealed } from '../core/chain';
import type { Recorded } from '../core/event';
import { storedShape } from '../core/upcasters';

/** The hash of the first `count` events of the log; the last of them is at `position`. */
export interface LogHash {
  readonly position: string;
  readonly count: number;
  readonly hash: string;
}

export const NOTHING: LogHash = { position: '0', count: 0, hash: '' };

/**
 * Returns the hash of the log after further events: SHA-256 over the hash before, the number of the event (a position
 * would change when the log moves to another store) and everything the event contains, base64url.
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

/**
 * Returns the text that is signed between two seals. It contains no position, because positions change when a log
 * moves.
 */
export function headText({ count, hash }: LogHash): string {
  return JSON.stringify(['fairlead log head', count, hash]);
}
