import { itemsOf, membersOf, type Schema } from '../api/description';
import { Usage } from '../failure';

/** Second names of members that the service takes as well, of which its description says nothing. */
const SECOND_NAMES =
  /^(?:langgraph_config_path|k8s_namespaces?|redis_\w+|deployment_type|external_docker|cluster_namespaces?)$/;

/**
 * Refuses members that a body does not have: the service would ignore them, and a slip of the pen would change nothing.
 * `where` names where the members came from.
 * @throws Usage that names the member and the nearest that there is
 */
export function checkMembers(value: unknown, schema: Schema, where: string, path: readonly string[] = []): void {
  if (Array.isArray(value)) {
    const items = itemsOf(schema);
    if (items) for (const element of value) checkMembers(element, items, where, path);
    return;
  }
  // The service itself says what must be an object.
  const members = membersOf(schema);
  if (typeof value !== 'object' || value === null || members === undefined) return;
  for (const [name, inner] of Object.entries(value)) {
    if (Object.hasOwn(members, name)) checkMembers(inner, members[name]!, where, [...path, name]);
    else if (!SECOND_NAMES.test(name)) throw new Usage(`${where}: ${unknown(name, Object.keys(members), path)}`);
  }
}

function unknown(name: string, names: readonly string[], path: readonly string[]): string {
  const near = nearest(name, names);
  const hint = near === undefined ? '' : ` Did you mean ${[...path, near].join('.')}?`;
  const at = path.length === 0 ? '' : ` in ${path.join('.')}`;
  return `there is no member ${[...path, name].join('.')}.${hint} There are${at}: ${names.join(', ')}.`;
}

/** The word that is spelt most like this one; undefined when none is alike. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  const [first] = words
    .map((other) => ({ other, edits: distance(word.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, edits }) => edits <= Math.max(2, Math.max(word.length, other.length) / 3))
    .sort((a, b) => a.edits - b.edits);
  return first?.other;
}

/** Characters to insert, remove or replace to get from one word to the other (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...to].entries()) {
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1)!;
}
