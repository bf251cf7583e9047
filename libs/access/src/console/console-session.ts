import { hash, randomBytes } from 'node:crypto';
import type { DomainEvent, Model } from '@fairlead/eventing';
import { effectiveScopes, type Scope } from '@fairlead/api';

const HOUR_MS = 3_600_000;
/** Milliseconds without a request after which a session ends. */
const SESSION_IDLE_MS = 12 * HOUR_MS;
/** Milliseconds after which a session ends however much it is used. */
export const SESSION_MS = 7 * 24 * HOUR_MS;
/** Milliseconds after which a further use of a session is recorded. */
const USE_RECORDED_MS = HOUR_MS / 4;
const TOKEN = /^[\w-]{43}$/;

interface ConsoleSessionFacts {
  readonly id: string;
  /** The key that signed in. */
  readonly key_id: string;
  /** The stored hash of that key: the operator's key can get another text under the same id. */
  readonly key_hash: string;
  /** Workspace of requests that name none. */
  readonly tenant_id: string;
  readonly organization_id: string;
  /** SHA-256 of the token, base64url. */
  readonly hash: string;
  /** ISO 8601 with offset. */
  readonly expires_at: string;
  /** Network address of the client that opened it. */
  readonly address: string;
}

/** A browser that is signed in to the console. */
export interface ConsoleSession extends ConsoleSessionFacts {
  readonly created_at: string;
  /** Time of the last recorded use: at most 15 minutes before the last use. */
  readonly used_at: string;
  readonly ended_at: string | null;
}

type Nothing = Record<string, never>;
type ConsoleSessionCreated = DomainEvent<'ConsoleSessionCreated', ConsoleSessionFacts>;
export type ConsoleSessionEvent =
  | ConsoleSessionCreated
  | DomainEvent<'ConsoleSessionUsed', Nothing>
  | DomainEvent<'ConsoleSessionRevoked', Nothing>;
type Decide = (state: ConsoleSession | undefined) => ConsoleSessionEvent[];

export const consoleSessionModel: Model<ConsoleSession | undefined, ConsoleSessionEvent> = {
  initial: undefined,
  evolve(state, { type, data, time }) {
    if (type === 'ConsoleSessionCreated') return { ...data, created_at: time, used_at: time, ended_at: null };
    if (type === 'ConsoleSessionUsed') return state && { ...state, used_at: time };
    return state && { ...state, ended_at: time };
  },
};

/** The secret that a browser keeps: 256 random bits, base64url. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The id and the hash of a token; undefined for a text that no session has as its token. */
export function identify(token: string): { id: string; hash: string } | undefined {
  return TOKEN.test(token) ? digest(token) : undefined;
}

/** SHA-256 of a secret, and an id made of its first 128 bits. */
export function digest(secret: string): { id: string; hash: string } {
  const bytes = hash('sha256', secret, 'buffer');
  const hex = bytes.toString('hex', 0, 16);
  const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return { id, hash: bytes.toString('base64url') };
}

export function createSession(facts: ConsoleSessionFacts): Decide {
  return () => [{ type: 'ConsoleSessionCreated', data: facts }];
}

/** Records that a session is used, unless that was recorded a short time ago. `now` in milliseconds since 1970. */
export function useSession(now: number): Decide {
  return (state) =>
    state && isLive(state, now) && isStale(state, now) ? [{ type: 'ConsoleSessionUsed', data: {} }] : [];
}

/** Ends a session. Nothing changes when it has ended already. */
export function endSession(state: ConsoleSession | undefined): ConsoleSessionEvent[] {
  return state?.ended_at === null ? [{ type: 'ConsoleSessionRevoked', data: {} }] : [];
}

/** True until the session was ended, has expired or was idle for too long. `now` in milliseconds since 1970. */
export function isLive({ ended_at, expires_at, used_at }: ConsoleSession, now: number): boolean {
  return ended_at === null && Date.parse(expires_at) > now && Date.parse(used_at) + SESSION_IDLE_MS > now;
}

/** Returns whether the next use is recorded. */
export function isStale({ used_at }: ConsoleSession, now: number): boolean {
  return Date.parse(used_at) + USE_RECORDED_MS <= now;
}

/** When a session that is opened now ends: with its key, or after seven days. ISO 8601 with offset. */
export function sessionEnd(keyEnd: string | null, now: number): string {
  const end = now + SESSION_MS;
  return new Date(keyEnd === null ? end : Math.min(end, Date.parse(keyEnd))).toISOString();
}

const scopesOf = new WeakMap<readonly Scope[], ReadonlySet<Scope>>();

/** Scopes of a session: those of its key, except `secrets:read` and `tokens:read`. */
export function sessionScopes(scopes: readonly Scope[]): ReadonlySet<Scope> {
  let found = scopesOf.get(scopes);
  if (!found) {
    found = new Set(
      [...effectiveScopes(scopes)].filter((scope) => scope !== 'secrets:read' && scope !== 'tokens:read'),
    );
    scopesOf.set(scopes, found);
  }
  return found;
}
