import { isDeepStrictEqual } from 'node:util';
import { datetime, type Instant } from './datetime';
import { BadRequest } from './errors';
import { optional } from './object';
import { Problems } from './problem';
import { check, note, type Schema } from './schema';

/** A member of a request for a change that is read only to refuse another value than the present one. */
export function fixed<T>(schema: Schema<T>) {
  return note(optional(schema), 'Cannot change: a value other than the present one is answered 400.');
}

/**
 * Refuses to change what is fixed. `sent` holds such members, undefined where they are absent; `present` holds them as
 * answers show them. @throws BadRequest naming the member
 */
export function requireSame(sent: object, present: object): void {
  const known = new Map<string, unknown>(Object.entries(present));
  for (const [name, value] of Object.entries(sent)) {
    if (value === undefined || isSame(value, known.get(name))) continue;
    throw new BadRequest(`${name} cannot be changed after creation.`);
  }
}

function isSame(sent: unknown, present: unknown): boolean {
  if (isInstant(sent)) return check(datetime(), present, [], new Problems())?.micros === sent.micros;
  return isDeepStrictEqual(sent, present);
}

function isInstant(value: unknown): value is Instant {
  return typeof value === 'object' && value !== null && 'micros' in value && 'iso' in value;
}
