import { flatText } from '../../../../../libs/evaluation/src/report/flat-text';
import { SourceNumber } from '../../api/lossless';

export { flatText } from '../../../../../libs/evaluation/src/report/flat-text';

/** A turn of a conversation: who said it, its text, and the tools that it calls. */
export interface Turn {
  readonly role: string;
  readonly text: string;
}

/** A value of JSON that has no members, by its path. */
interface Leaf {
  readonly path: string;
  readonly value: unknown;
}

const ROLES: Readonly<Record<string, string>> = {
  ...{ user: 'user', assistant: 'assistant', system: 'system', developer: 'developer', tool: 'tool' },
  ...{ human: 'user', ai: 'assistant', model: 'assistant', function: 'tool' },
  ...{ HumanMessage: 'user', AIMessage: 'assistant', SystemMessage: 'system', ToolMessage: 'tool' },
};
const MOST_LEAVES = 2000;

type Members = Readonly<Record<string, unknown>>;

function isTree(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !(value instanceof SourceNumber);
}

function own(value: unknown, name: string): unknown {
  return isTree(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A value in one text, never with the escapes of JSON. */
export function leafText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof SourceNumber) return value.source;
  if (isTree(value) && Object.keys(value).length > 0) return membersText(value);
  return JSON.stringify(value) ?? 'null';
}

/** The leaves of a value, the first 2,000; empty objects and lists are leaves too. */
export function leaves(value: unknown): Leaf[] {
  const found: Leaf[] = [];
  const visit = (path: string, one: unknown) => {
    if (found.length >= MOST_LEAVES) return;
    const names = isTree(one) ? Object.keys(one) : [];
    if (names.length === 0) found.push({ path, value: one });
    const list = Array.isArray(one);
    for (const name of names) visit(list ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`, own(one, name));
  };
  visit('', value);
  return found;
}

/** The turns of a conversation: a list of messages, one message, or an object with a list of them; undefined for others. */
export function turnsOf(value: unknown): Turn[] | undefined {
  const single = isMessage(value) ? turnOf(value) : undefined;
  if (single) return [single];
  const list = Array.isArray(value)
    ? value
    : isTree(value)
      ? Object.values(value).find((one) => Array.isArray(one) && one.flat().some(turnOf))
      : undefined;
  if (!Array.isArray(list)) return undefined;
  const messages = list.flat() as unknown[];
  const turns = messages.map(turnOf);
  if (messages.length === 0 || turns.some((turn) => turn === undefined)) return undefined;
  return turns as Turn[];
}

/** The members of an object beside its conversation; undefined without any. */
export function besideTurns(value: unknown): Members | undefined {
  if (!isTree(value) || Array.isArray(value)) return undefined;
  const isOne = isMessage(value) && turnOf(value) !== undefined;
  const others = Object.entries(value).filter(([name, one]) =>
    isOne ? !OF_MESSAGE.has(name) : !(Array.isArray(one) && one.flat().some(turnOf)),
  );
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

const OF_MESSAGE = new Set(['role', 'type', 'content', 'tool_calls']);

/** True for an object that can be one message by itself. */
function isMessage(value: unknown): boolean {
  return isTree(value) && !Array.isArray(value) && own(value, 'content') !== undefined;
}

/** A message as one of the usual formats has it, also in a choice or a generation of a model. */
function turnOf(item: unknown): Turn | undefined {
  const held = own(item, 'message');
  const message = isTree(held) ? held : item;
  const id = own(message, 'id');
  const named = [own(message, 'role'), own(message, 'type'), Array.isArray(id) ? id.at(-1) : undefined];
  const role = named.find((name): name is string => typeof name === 'string' && Object.hasOwn(ROLES, name));
  if (role === undefined) return undefined;
  const inner = [message, own(message, 'data'), own(message, 'kwargs')].filter(isTree);
  const parts = inner.flatMap((one) => [contentText(own(one, 'content')), ...callsOf(own(one, 'tool_calls'))]);
  return { role: ROLES[role]!, text: parts.filter((part) => part !== '').join('\n\n') };
}

function contentText(content: unknown): string {
  if (content === undefined || content === null) return '';
  if (!Array.isArray(content)) return isTree(content) ? membersText(content) : leafText(content);
  return content.map((part) => ownText(part)).join('\n');
}

function ownText(part: unknown): string {
  const text = own(part, 'text');
  if (typeof text === 'string') return text;
  return isTree(part) ? membersText(part) : leafText(part);
}

function callsOf(calls: unknown): string[] {
  if (!Array.isArray(calls)) return [];
  return calls.map((call: unknown) => {
    const of = own(call, 'function') ?? call;
    const given = own(of, 'arguments') ?? own(of, 'args');
    return `calls ${leafText(own(of, 'name') ?? 'a tool')}: ${isTree(given) ? membersText(given) : leafText(given ?? '')}`;
  });
}

function membersText(value: unknown): string {
  return leaves(value)
    .map(({ path, value: leaf }) => `${path}: ${leafText(leaf)}`)
    .join(', ');
}

const CONTENT = /"content"\s*:\s*("(?:[^"\\]|\\.)*)/g;

/** One line for the beginning of JSON: of a conversation, the last turn of a role or of anybody; of others, their text. */
export function previewText(json: string, role?: string): string {
  const turns = parsedTurns(json);
  if (turns)
    return ((role && turns.findLast((turn) => turn.role === role)) || turns.at(-1)!).text.replaceAll(/\s+/g, ' ');
  const cut = json.includes('"role"') ? [...json.matchAll(CONTENT)].at(-1)?.[1] : undefined;
  return flatText(cut ?? json);
}

function parsedTurns(json: string): Turn[] | undefined {
  try {
    return turnsOf(JSON.parse(json));
  } catch {
    // It goes on behind what is known of it.
    return undefined;
  }
}
