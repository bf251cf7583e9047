import { Usage } from '../failure';
import { requireExact } from './body-file';

type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

/**
 * The object that assignments such as `source_revision_config.repo_ref=main` describe. A value is JSON, or text when it
 * is not.
 * @throws Usage
 */
export function assigned(assignments: readonly string[]): { [member: string]: Json } {
  const root: { [member: string]: Json } = {};
  for (const assignment of assignments) {
    const equals = assignment.indexOf('=');
    const path = assignment.slice(0, equals).split('.');
    if (equals < 1 || path.includes('')) {
      throw new Usage(`${JSON.stringify(assignment)} is no assignment: write member=value or member.member=value.`);
    }
    const given = value(assignment.slice(equals + 1));
    requireExact(given, JSON.stringify(assignment));
    set(root, path, given, assignment);
  }
  return root;
}

function value(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function set(root: { [member: string]: Json }, path: readonly string[], to: Json, assignment: string): void {
  let target = root;
  for (const member of path.slice(0, -1)) {
    const next = Object.hasOwn(target, member) ? target[member] : undefined;
    const into = next ?? own(target, member, {});
    if (typeof into !== 'object' || into === null || Array.isArray(into)) {
      throw new Usage(`${JSON.stringify(assignment)} goes into ${member}, which another assignment gives a value.`);
    }
    target = into;
  }
  own(target, path.at(-1)!, to);
}

/** Sets a member of the object itself, whatever its name. */
function own(target: { [member: string]: Json }, member: string, to: Json): Json {
  Object.defineProperty(target, member, { value: to, enumerable: true, configurable: true, writable: true });
  return to;
}
