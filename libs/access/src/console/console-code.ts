import { randomBytes } from 'node:crypto';
import type { DomainEvent, Model } from '@fairlead/eventing';
import { CodeUnusable } from './console.errors';

/** Milliseconds for which a code can be used. */
export const CODE_MS = 10 * 60_000;

/** A text that signs in once, for whom a key made it. */
interface ConsoleCodeFacts {
  readonly key_id: string;
  readonly key_hash: string;
  readonly tenant_id: string;
  /** SHA-256 of the code, base64url. */
  readonly hash: string;
  /** ISO 8601 with offset. */
  readonly expires_at: string;
}

export interface ConsoleCode extends ConsoleCodeFacts {
  readonly used: boolean;
}

type ConsoleCodeEvent =
  | DomainEvent<'ConsoleCodeIssued', ConsoleCodeFacts>
  | DomainEvent<'ConsoleCodeUsed', Record<string, never>>;

export const consoleCodeModel: Model<ConsoleCode | undefined, ConsoleCodeEvent> = {
  initial: undefined,
  evolve(state, { type, data }) {
    return type === 'ConsoleCodeIssued' ? { ...data, used: false } : state && { ...state, used: true };
  },
};

/** 192 random bits, base64url. */
export function newCode(): string {
  return randomBytes(24).toString('base64url');
}

export function issueCode(facts: ConsoleCodeFacts): () => ConsoleCodeEvent[] {
  return () => [{ type: 'ConsoleCodeIssued', data: facts }];
}

/** Uses a code up. `now` in milliseconds since 1970. @throws CodeUnusable */
export function useCode(hash: string, now: number): (state: ConsoleCode | undefined) => ConsoleCodeEvent[] {
  return (state) => {
    if (!state || state.hash !== hash || state.used || Date.parse(state.expires_at) <= now) throw new CodeUnusable();
    return [{ type: 'ConsoleCodeUsed', data: {} }];
  };
}
