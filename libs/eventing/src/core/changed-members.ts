/**
 * Returns whether two JSON values are equal. The order of an object's members is ignored, and an undefined member is an
 * absent one.
 */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item, b[index]))
    );
  }
  const left = defined(a);
  const right = new Map(defined(b));
  return (
    left.length === right.size && left.every(([member, value]) => right.has(member) && same(value, right.get(member)))
  );
}

/**
 * Returns the members of `wanted` that are defined and differ from those of `current`; undefined when there are none.
 */
export function changedMembers<Wanted extends object>(
  current: { readonly [Member in keyof Wanted]?: unknown },
  wanted: Wanted,
  equal: (a: unknown, b: unknown) => boolean = same,
): Partial<Wanted> | undefined {
  const changed = defined(wanted).filter(([member, value]) => !equal(value, current[member as keyof Wanted]));
  return changed.length === 0 ? undefined : (Object.fromEntries(changed) as Partial<Wanted>);
}

function defined(object: object): [string, unknown][] {
  return Object.entries(object).filter(([, value]) => value !== undefined);
}
