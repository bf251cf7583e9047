import type { KubernetesObject } from '@kubernetes/client-node';
import { isObject } from '@fairlead/schema';

type Members = Readonly<Record<string, unknown>>;

/** Additions of the operator to every object of a kind; `*` stands for all kinds. */
export interface Overlay extends Members {
  readonly kind: string;
}

/** Values for `{name}` in texts of the operator. */
type Values = Readonly<Record<string, string>>;

/**
 * Returns an object with what overlays of its kind add. Members of objects are merged, null removes one. Elements of
 * lists are merged by their `name` where they have one; other lists are replaced.
 */
export function overlaid<T extends KubernetesObject>(object: T, overlays: readonly Overlay[], values: Values): T {
  const own = overlays.filter(({ kind }) => kind === '*' || kind === object.kind);
  return own.reduce<T>((merged, overlay) => merge(merged, members(filled(overlay, values))) as T, object);
}

/** Returns a value whose texts have values for `{name}`; a name without a value stays as it is. */
export function filled<T>(value: T, values: Values): T {
  if (typeof value === 'string') {
    return value.replaceAll(/\{([a-z_]+)\}/g, (whole, name: string) => values[name] ?? whole) as T;
  }
  if (Array.isArray(value)) return value.map((element: unknown) => filled(element, values)) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, filled(inner, values)])) as T;
}

/** Members that an overlay adds, without those that select the objects. */
function members(overlay: Overlay): Members {
  return Object.fromEntries(Object.entries(overlay).filter(([member]) => !['apiVersion', 'kind'].includes(member)));
}

function merge(under: unknown, over: unknown): unknown {
  if (Array.isArray(under) && Array.isArray(over) && haveNames(under) && haveNames(over)) {
    const names = new Set([...(under as Named[]), ...(over as Named[])].map(({ name }) => name));
    return [...names].map((name) => merge(named(under, name), named(over, name)));
  }
  if (!isObject(under) || !isObject(over)) return over === undefined ? under : over;
  const merged = new Map(Object.entries(under));
  for (const [member, value] of Object.entries(over)) {
    if (value === null) merged.delete(member);
    else merged.set(member, merge(under[member], value));
  }
  return Object.fromEntries(merged);
}

interface Named extends Members {
  readonly name: string;
}

/** True when each element has a name that no other one has. */
function haveNames(list: readonly unknown[]): boolean {
  return list.every(isNamed) && new Set(list.map(({ name }) => name)).size === list.length;
}

function isNamed(value: unknown): value is Named {
  return isObject(value) && typeof value.name === 'string';
}

function named(list: readonly unknown[], name: string): unknown {
  return list.find((element) => isNamed(element) && element.name === name);
}
