/**
 * The members of a JSON object as they are written, in their order; of a name that occurs twice the last. Numbers keep
 * every digit this way.
 * @param json the text of a JSON object, known to be valid
 */
export function membersOf(json: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = json.indexOf('{') + 1;
  for (;;) {
    const name = json.indexOf('"', at);
    if (name < 0 || json.slice(at, name).includes('}')) return members;
    const nameEnd = endOfString(json, name);
    const start = json.indexOf(':', nameEnd) + 1;
    const end = endOfValue(json, start);
    members.set(JSON.parse(json.slice(name, nameEnd)) as string, json.slice(start, end).trim());
    if (json[end] === '}') return members;
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
    else if (depth === 0 && (character === ',' || character === '}')) return at;
    else if (character === '}' || character === ']') depth--;
  }
}
