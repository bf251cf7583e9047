import { memberAliases, sourceAliases } from '@fairlead/api';
import { literal, member, type Member, type Schema } from '@fairlead/schema';
import type { Source } from './deployment-events';

/** The members, each also accepted under its second name where it has one. */
export function both<const M extends Readonly<Record<string, Member>>>(members: M): M {
  const aliases: Readonly<Record<string, string>> = memberAliases;
  const entries = Object.entries(members).map(([name, entry]) => {
    const alias = aliases[name];
    return [name, alias === undefined ? entry : member(entry as Schema<unknown>, { alias })];
  });
  return Object.fromEntries(entries) as M;
}

/** One of the given sources in either spelling. */
export function source<const S extends Source>(sources: readonly S[]): Schema<S> {
  const aliases = Object.entries(sourceAliases).filter(([, name]) => sources.includes(name as S));
  return literal(sources, { aliases: Object.fromEntries(aliases) as Record<string, S> });
}
