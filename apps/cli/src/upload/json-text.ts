import { Misplaced } from './import-report';

/** A member that an object has twice, or text that is no JSON. */
class BadJson extends Misplaced {}

const WORDS = /"(?:[^"\\]|\\.)*"|[-+]?(?:NaN|Infinity)\b/g;

/**
 * Checks a JSON text. The words NaN, Infinity and -Infinity, which Python writes for numbers that JSON does not have,
 * pass: `hasWords` finds them.
 * @throws BadJson also for a member that comes twice in one object
 */
export function checkJson(json: string): void {
  try {
    JSON.parse(json);
  } catch (error) {
    const plain = hasWords(json) ? json.replaceAll(WORDS, (found) => (found.startsWith('"') ? found : '0')) : json;
    try {
      JSON.parse(plain);
    } catch {
      throw new BadJson(`it is not JSON: ${(error as Error).message}`);
    }
  }
  const twice = repeatedMember(json);
  if (twice !== undefined) throw new BadJson(`the member ${twice} comes twice.`);
}

/** Returns whether a JSON text contains NaN or an infinity outside of strings. */
export function hasWords(json: string): boolean {
  if (!/NaN|Infinity/.test(json)) return false;
  for (const [found] of json.matchAll(WORDS)) if (!found.startsWith('"')) return true;
  return false;
}

/** The path of a member that occurs twice in one object, at any depth; undefined when there is none. */
function repeatedMember(json: string): string | undefined {
  const open: { readonly names: Set<string> | undefined; name: string }[] = [];
  let isName = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') {
      const end = endOfString(json, at);
      const inside = open.at(-1);
      if (isName && inside?.names) {
        inside.name = JSON.parse(json.slice(at, end)) as string;
        if (inside.names.has(inside.name)) return open.flatMap(({ names, name }) => (names ? name : [])).join('.');
        inside.names.add(inside.name);
        isName = false;
      }
      at = end - 1;
    } else if (character === '{' || character === '[') {
      open.push({ names: character === '{' ? new Set() : undefined, name: '' });
      isName = character === '{';
    } else if (character === '}' || character === ']') open.pop();
    else if (character === ',') isName = open.at(-1)?.names !== undefined;
  }
  return undefined;
}

/**
 * The members of a JSON object, or the elements of an array by their index, as they are written and in their order.
 * Numbers keep every digit this way. Undefined for other values.
 * @param json text that `checkJson` has found in order
 */
export function partsOf(json: string): Map<string, string> | undefined {
  const start = /\S/.exec(json)?.index ?? 0;
  if (json[start] !== '{' && json[start] !== '[') return undefined;
  const parts = new Map<string, string>();
  const isObject = json[start] === '{';
  let at = start + 1;
  for (;;) {
    while (/\s/.test(json[at] ?? '}')) at++;
    if (json[at] === '}' || json[at] === ']') return parts;
    let name = String(parts.size);
    if (isObject) {
      const nameEnd = endOfString(json, at);
      name = JSON.parse(json.slice(at, nameEnd)) as string;
      at = json.indexOf(':', nameEnd) + 1;
    }
    const end = endOfValue(json, at);
    parts.set(name, json.slice(at, end).trim());
    if (json[end] !== ',') return parts;
    at = end + 1;
  }
}

/** Behind the string that begins at `start`. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Where the comma or bracket behind a value is. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let at = start; ; at++) {
    const character = json[at];
    if (character === '"') at = endOfString(json, at) - 1;
    else if (character === '{' || character === '[') depth++;
    else if (depth === 0 && (character === ',' || character === '}' || character === ']')) return at;
    else if (character === '}' || character === ']') depth--;
  }
}
