import type { MemberChange } from '../../../ui/changes';
import type { Deployment } from '../words';

/** Members of a deployment that can be changed, by their paths, such as `source_config.resource_spec.cpu`. */
export type Draft = Readonly<Record<string, unknown>>;

const SPEC = 'source_config.resource_spec.';
const FIXED = ['source_config.integration_id', 'source_config.deployment_type', 'source_config.listener_id'];
const FOUND = 'source_revision_config.repo_commit_sha';

/** The members of a deployment that a change may be about; those without a value are left out. */
export function draftOf(deployment: Deployment): Draft {
  const { resource_spec, ...source_config } = deployment.source_config;
  const members = [
    ...prefixed('source_revision_config.', deployment.source_revision_config),
    ...prefixed('source_config.', source_config),
    ...prefixed(SPEC, resource_spec ?? {}),
    ['secret_references', deployment.secret_references] as const,
  ];
  return Object.fromEntries(
    members.filter(
      ([member, value]) => value !== null && value !== undefined && !FIXED.includes(member) && member !== FOUND,
    ),
  );
}

function prefixed(prefix: string, members: object): [string, unknown][] {
  return Object.entries(members).map(([name, value]) => [prefix + name, value as unknown]);
}

/** The members in which two drafts differ. */
export function changesBetween(before: Draft, after: Draft): MemberChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((member) => !isSame(before[member], after[member]))
    .map((member) => ({ member, before: before[member] ?? null, after: after[member] ?? null }));
}

/** One's own changes of `base` on top of what somebody else made of it; `conflicts` are members that both changed. */
export function rebased(base: Draft, mine: Draft, theirs: Draft): { draft: Draft; conflicts: string[] } {
  const own = changesBetween(base, mine);
  const foreign = new Map(changesBetween(base, theirs).map(({ member, after }) => [member, after]));
  const draft = { ...theirs, ...Object.fromEntries(own.map(({ member }) => [member, mine[member]])) };
  const conflicts = own.filter(({ member, after }) => foreign.has(member) && !isSame(foreign.get(member), after));
  return { draft, conflicts: conflicts.map(({ member }) => member) };
}

/** The body of a PATCH that makes `after` of `before`. */
export function patchOf(before: Draft, after: Draft): Record<string, unknown> {
  return nested(Object.fromEntries(changesBetween(before, after).map(({ member }) => [member, after[member] ?? null])));
}

/** A draft as the JSON that a PATCH takes. */
export function nested(draft: Draft): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const [member, value] of Object.entries(draft)) {
    const names = partsOf(member);
    let at = root;
    for (const name of names.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
    at[names.at(-1)!] = value;
  }
  return root;
}

/** The draft that JSON as of `nested` means. @throws Error in one sentence */
export function flat(value: unknown): Draft {
  if (!isObject(value)) throw new Error('It must be a JSON object.');
  const found: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name === 'secret_references') found[name] = member;
    else if (name !== 'source_config' && name !== 'source_revision_config')
      throw new Error(`${name} cannot change here.`);
    else if (!isObject(member)) throw new Error(`${name} must be an object.`);
    else {
      for (const [inner, innerValue] of Object.entries(member)) {
        if (inner === 'resource_spec' && isObject(innerValue))
          Object.assign(found, Object.fromEntries(prefixed(SPEC, innerValue)));
        else found[`${name}.${inner}`] = innerValue;
      }
    }
  }
  return found;
}

function partsOf(member: string): string[] {
  if (member.startsWith(SPEC)) return ['source_config', 'resource_spec', member.slice(SPEC.length)];
  const dot = member.indexOf('.');
  return dot < 0 ? [member] : [member.slice(0, dot), member.slice(dot + 1)];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}
