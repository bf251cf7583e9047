import type { Scope } from '@fairlead/http';

/** Every scope a key can have. */
export const SCOPES = ['read', 'write', 'admin', 'secrets:read'] as const satisfies readonly Scope[];

const INCLUDED: Record<Scope, readonly Scope[]> = {
  read: ['read'],
  write: ['write', 'read'],
  admin: ['admin', 'write', 'read'],
  'secrets:read': ['secrets:read'],
};

/** The given scopes with those they include: admin includes write, write includes read, `secrets:read` is included in none. */
export function effectiveScopes(scopes: readonly Scope[]): ReadonlySet<Scope> {
  return new Set(scopes.flatMap((scope) => INCLUDED[scope]));
}
