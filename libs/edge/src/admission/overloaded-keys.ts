import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { InFlight } from './in-flight';

/** A key and the workspace that it belongs to. */
export interface Claimed {
  readonly key: string;
  readonly workspace: string;
}

/** Entries of the table. When it is full, it is cleared and learned anew. */
const MOST = 10_000;

/**
 * Remembers the credentials of keys that had too many concurrent requests, so that further requests are rejected before
 * the key is looked up. It keeps hashes of credentials only, and only until the key has no request in progress.
 */
export class OverloadedKeys {
  private readonly keys = new Map<string, Claimed>();

  /** Notes that a request with these headers was rejected because its key had too many concurrent requests. */
  note(headers: IncomingHttpHeaders, claimed: Claimed): void {
    const print = printOf(headers);
    if (print === undefined) return;
    if (this.keys.size >= MOST) this.keys.clear();
    this.keys.set(print, claimed);
  }

  /** Returns the key of these headers when it is known to have as many concurrent requests as it may have now. */
  overloaded(headers: IncomingHttpHeaders, inFlight: InFlight): string | undefined {
    if (this.keys.size === 0) return undefined;
    const print = printOf(headers);
    const claimed = print === undefined ? undefined : this.keys.get(print);
    if (claimed === undefined) return undefined;
    const { key, workspace } = claimed;
    if (inFlight.countOf(key) === 0) this.keys.delete(print!);
    return inFlight.isOverloadedBy(key, workspace) ? key : undefined;
  }
}

function printOf({ 'x-api-key': key, authorization }: IncomingHttpHeaders): string | undefined {
  if (key === undefined && authorization === undefined) return undefined;
  return hash('sha256', JSON.stringify([key, authorization]), 'base64url');
}
