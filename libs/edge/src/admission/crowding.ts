import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { InFlight } from './in-flight';

/** A key and the workspace that it belongs to. */
export interface Claimed {
  readonly key: string;
  readonly workspace: string;
}

/** Beyond it all are forgotten, and found out again. */
const MOST = 10_000;

/**
 * Remembers with which credentials keys came that had too many requests under way, so that further ones are refused
 * before their key is looked up. Only prints of credentials are kept, and only until the key has nothing under way.
 */
export class Crowding {
  private readonly keys = new Map<string, Claimed>();

  /** A request with these headers, recognised as this key, was one too many. */
  note(headers: IncomingHttpHeaders, claimed: Claimed): void {
    const print = printOf(headers);
    if (print === undefined) return;
    if (this.keys.size >= MOST) this.keys.clear();
    this.keys.set(print, claimed);
  }

  /** The key of these headers when it is known to have as many under way as it may now. */
  crowder(headers: IncomingHttpHeaders, inFlight: InFlight): string | undefined {
    if (this.keys.size === 0) return undefined;
    const print = printOf(headers);
    const claimed = print === undefined ? undefined : this.keys.get(print);
    if (claimed === undefined) return undefined;
    const { key, workspace } = claimed;
    if (inFlight.countOf(key) === 0) this.keys.delete(print!);
    return inFlight.isCrowdedBy(key, workspace) ? key : undefined;
  }
}

function printOf({ 'x-api-key': key, authorization }: IncomingHttpHeaders): string | undefined {
  if (key === undefined && authorization === undefined) return undefined;
  return hash('sha256', JSON.stringify([key, authorization]), 'base64url');
}
