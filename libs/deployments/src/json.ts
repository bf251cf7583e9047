/** Whether two JSON values are equal; the order of an object's members does not count, absent and undefined are one. */
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

function defined(object: object): [string, unknown][] {
  return Object.entries(object).filter(([, value]) => value !== undefined);
}
