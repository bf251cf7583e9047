type Message = Readonly<Record<string, unknown>>;

interface Turn {
  readonly inputs: unknown;
  readonly outputs: unknown;
}

/** Names that frameworks have for the roles of messages. */
const ROLES: Readonly<Record<string, string>> = { human: 'user', ai: 'assistant', AIMessageChunk: 'assistant' };
/** Members of inputs and outputs that can hold messages, the first that is there counts. */
const HOLDERS = ['messages', 'choices', 'generations'];

/**
 * Returns the messages of a thread in their order, each once: the outputs of many agents repeat the messages before them.
 * Inputs and outputs that hold no messages count as one message of the user and of the assistant.
 */
export function threadMessages(turns: readonly Turn[]): Message[] {
  const all: Message[] = [];
  const keys: string[] = [];
  for (const { inputs, outputs } of turns) {
    const asked = messagesIn(inputs, 'user');
    const said = messagesIn(outputs, 'assistant');
    const turn = repeats(said.map(keyOf), asked.map(keyOf)) ? said : [...asked, ...said];
    const added = turn.map(keyOf);
    const known = overlap(keys.slice(-added.length), added);
    for (let at = known; at < turn.length; at++) {
      all.push(turn[at]!);
      keys.push(added[at]!);
    }
  }
  return all;
}

function messagesIn(value: unknown, role: string): Message[] {
  if (!isObject(value)) return value === null || value === undefined ? [] : [{ role, content: value }];
  const holder = HOLDERS.find((name) => Array.isArray(value[name]) || isObject(value[name]));
  if (holder !== undefined) {
    const held = value[holder];
    return (Array.isArray(held) ? held : [held]).flatMap((item: unknown) => messagesOf(item, role));
  }
  if (isMessage(value)) return messageOf(value, role);
  const members = Object.values(value);
  if (members.length === 0) return [];
  const [only] = members;
  return [{ role, content: members.length === 1 && typeof only === 'string' ? only : JSON.stringify(value) }];
}

function messagesOf(item: unknown, role: string): Message[] {
  if (!Array.isArray(item)) return messageOf(item, role);
  const isPair = item.length === 2 && item.every((part) => typeof part === 'string');
  if (isPair) return [{ role: item[0], content: item[1] }];
  return item.flatMap((inner: unknown) => messagesOf(inner, role));
}

/** The message in an item of a list: as it is, in a choice or generation of a model, or as LangChain serializes it. */
function messageOf(item: unknown, role: string): Message[] {
  if (typeof item === 'string') return [{ role, content: item }];
  if (!isObject(item)) return [];
  if (isObject(item.message)) return messageOf(item.message, role);
  if (item.lc !== 1 || !isObject(item.kwargs)) return [item];
  const name = Array.isArray(item.id) ? String(item.id.at(-1)).replace(/Message(?:Chunk)?$/, '') : role;
  return [{ type: name.toLowerCase(), ...item.kwargs }];
}

function isMessage(value: Message): boolean {
  return 'content' in value && ('role' in value || 'type' in value);
}

/** True when some place of `all` has the keys of `part`, one after the other. */
function repeats(all: readonly string[], part: readonly string[]): boolean {
  return part.length > 0 && matched(part, all).some((count) => count === part.length);
}

/** Number of keys at the beginning of `next` that are the end of `before`. */
function overlap(before: readonly string[], next: readonly string[]): number {
  return matched(next, before).at(-1) ?? 0;
}

/**
 * For each place of `text`, how many keys at the beginning of `pattern` end there (Knuth, Morris and Pratt): the time is
 * linear also where many messages are alike.
 */
function matched(pattern: readonly string[], text: readonly string[]): number[] {
  const shorter = [0];
  const step = (count: number, key: string) => {
    let length = count;
    while (length > 0 && (length === pattern.length || pattern[length] !== key)) length = shorter[length - 1]!;
    return pattern[length] === key ? length + 1 : length;
  };
  for (let at = 1; at < pattern.length; at++) shorter.push(step(shorter[at - 1]!, pattern[at]!));
  const counts: number[] = [];
  for (const key of text) counts.push(step(counts.at(-1) ?? 0, key));
  return counts;
}

/** Text that is equal for equal messages: ids and further members come and go between inputs and outputs. */
function keyOf(message: Message): string {
  const { role, type, content, tool_calls: calls, tool_call_id: call } = message;
  const name = String(role ?? type);
  const called = Array.isArray(calls) && calls.length === 0 ? undefined : calls;
  return JSON.stringify([ROLES[name] ?? name, content, called, call]);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
