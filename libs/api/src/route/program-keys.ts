import { hash, randomBytes } from 'node:crypto';
import type { Actor } from './access';

/**
 * The actor behind the key of a deployment's program: it may send runs to the tracing project of this name, and see it.
 */
export interface ProgramActor extends Pick<Actor, 'tenantId'> {
  /** The id of the deployment stands for the key in logs and in the audit log. */
  readonly keyId: string;
  readonly project: string;
}

/** Prefix of the keys of programs. */
export const PROGRAM_KEY = 'fp_';

/** The keys of the programs that this process runs. A key is in memory only, and known until it is revoked. */
export class ProgramKeys {
  private readonly actors = new Map<string, ProgramActor>();

  /** Makes a key. */
  issue(actor: ProgramActor): string {
    const key = `${PROGRAM_KEY}${randomBytes(32).toString('base64url')}`;
    this.actors.set(printOf(key), actor);
    return key;
  }

  revoke(key: string): void {
    this.actors.delete(printOf(key));
  }

  /** Returns who sends a request with this key; undefined for any other text. */
  find(text: string): ProgramActor | undefined {
    return this.actors.get(printOf(text));
  }
}

/** Digest under which a key is looked up: the time of the lookup does not depend on the key. */
function printOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/** The forms of keys: those of `key-text.ts` in the access library, and those of programs. */
const KEY = new RegExp(`fl_[0-9A-Za-z]{22}_[0-9A-Za-z]{27}_[0-9A-Za-z]{6}|${PROGRAM_KEY}[\\w-]{43}`);

/** Returns whether the value of a header holds the text of a key, whatever its scheme; that of `Basic` is decoded. */
export function holdsKey(value: string): boolean {
  return [value, ...credentialsIn(value)].some((text) => KEY.test(text));
}

/** Returns the texts in a header that could be a key: its words, and the user and password that a word encodes. */
export function credentialsIn(value: string): string[] {
  const words = value.split(/[\s,]+/, 8);
  const decoded = words.map((word) => Buffer.from(word, 'base64').toString('latin1'));
  return [...words, ...decoded, ...decoded.flatMap((text) => text.split(':', 2))];
}
