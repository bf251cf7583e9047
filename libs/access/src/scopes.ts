import type { Scope } from '@fairlead/api';

/** Every scope a key can have. */
export const SCOPES = ['read', 'write', 'admin', 'secrets:read', 'tokens:read'] as const satisfies readonly Scope[];

const INCLUDED: Record<Scope, readonly Scope[]> = {
  read: ['read'],
  write: ['write', 'read'],
  admin: ['admin', 'write', 'read'],
  'secrets:read': ['secrets:read'],
  'tokens:read': ['tokens:read'],
};

const known = new WeakMap<readonly Scope[], ReadonlySet<Scope>>();

/**
 * The given scopes with those they include: admin includes write, write includes read; `secrets:read` and `tokens:read`
 * are included in none.
 */
export function effectiveScopes(scopes: readonly Scope[]): ReadonlySet<Scope> {
  let effective = known.get(scopes);
  if (!effective) known.set(scopes, (effective = new Set(scopes.flatMap((scope) => INCLUDED[scope]))));
  return effective;
}
