import { preview } from './platform-json';

export interface Turn {
  readonly role: string;
  readonly text: string;
}

/** Characters at the end of a text in which the last turn of a conversation is looked for. */
const END = 16_384;
const TEXT_BYTES = 1024;
/** The end of a text that looks like a conversation, else null, in SQL. Of longer texts than `most` bytes it is null. */
export const conversationEnd = (column: string, most?: number) =>
  `case when left(${column}, 512) ~ '"(role|messages)"\\s*:'${most === undefined ? '' : ` and octet_length(${column}) <= ${most}`}
    then right(${column}, ${END}) end`;

/** Roles by the names that formats of messages give to them. */
const ROLES: Readonly<Record<string, string>> = {
  ...{ user: 'user', assistant: 'assistant', system: 'system', developer: 'developer', tool: 'tool' },
  ...{ human: 'user', ai: 'assistant', model: 'assistant', function: 'tool' },
  ...{ HumanMessage: 'user', AIMessage: 'assistant', SystemMessage: 'system', ToolMessage: 'tool' },
};
/** The beginning of an object: within a text, quotation marks have a backslash before them. */
const OBJECT = /\{\s*"[^"\\]*"\s*:/g;

/**
 * The last turn with a text of a conversation, of a role where one is given. `end` is the JSON text or its end;
 * undefined where no turn is found in it.
 */
export function lastTurn(end: string | null, role?: string): Turn | undefined {
  if (end === null) return undefined;
  const found = objectsIn(end).flatMap(messagesIn);
  for (const message of found.reverse()) {
    const turn = turnOf(message);
    if (turn && (role === undefined || turn.role === role)) return { ...turn, text: preview(turn.text, TEXT_BYTES)! };
  }
  return undefined;
}

/** The objects of a JSON text that are in no other one, also where the text begins in the middle of something. */
function objectsIn(text: string): object[] {
  const found: object[] = [];
  let after = 0;
  for (const { index } of text.matchAll(OBJECT)) {
    if (index < after) continue;
    const end = endOf(text, index);
    if (end === undefined) break;
    after = end;
    try {
      found.push(JSON.parse(text.slice(index, end)) as object);
    } catch {
      // What is stored was JSON when it was sent.
    }
  }
  return found;
}

/** Place behind the object that begins at a place; undefined where the text ends before it. */
function endOf(text: string, start: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return undefined;
}

/** The messages that an object is, or has among its members, as they are or in a list. */
function messagesIn(value: object): object[] {
  if (turnOf(value)) return [value];
  return (Object.values(value) as unknown[])
    .flat(2)
    .filter((item): item is object => typeof item === 'object' && item !== null && turnOf(item) !== undefined);
}

/** A message of one of the usual formats; undefined for anything else, and without text. */
function turnOf(value: object): Turn | undefined {
  const { role, type, content, data, kwargs, id } = value as Record<string, unknown>;
  const named = [role, type, Array.isArray(id) ? id.at(-1) : undefined];
  const known = named.find((name): name is string => typeof name === 'string' && Object.hasOwn(ROLES, name));
  if (known === undefined) return undefined;
  const text = [content, memberOf(data), memberOf(kwargs)].map(textOf).find((found) => found !== '');
  return text === undefined ? undefined : { role: ROLES[known]!, text };
}

function memberOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? (value as { content?: unknown }).content : undefined;
}

/** Text of the content of a message: itself, or its parts that are texts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const parts = content.map((part: unknown) =>
    typeof part === 'object' && part !== null ? (part as { text?: unknown }).text : part,
  );
  return parts.filter((part) => typeof part === 'string').join('\n');
}
