import { FilterError } from './filter.errors';

export type FilterNode =
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly FilterNode[] }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'literal'; readonly value: Literal }
  | { readonly kind: 'list'; readonly values: readonly Literal[] };

export type Literal = string | number | boolean | null;

const MAX_DEPTH = 20;
const MAX_LENGTH = 20_000;
const MAX_CALLS = 100;
/** Each looks through every text of a run. */
const MAX_SEARCHES = 5;
const TOKEN =
  /\s*(?:([A-Za-z_][\w.]*)|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([()[\],]))/suy;

/**
 * Parses the filter language of the SDKs: `and(eq(name, "x"), gt(start_time, "2026-01-01T00:00:00Z"))`.
 * Strings stand in double or single quotes with backslash escapes; lists in square brackets. A filter has at most 20,000
 * characters, 20 levels, 100 calls and 5 calls of `search`.
 * @throws FilterError naming the place and what was expected.
 */
export function parseFilter(source: string): FilterNode {
  if (source.length > MAX_LENGTH) throw new FilterError(`it is longer than ${MAX_LENGTH} characters.`);
  const tokens = tokenize(source);
  const parser = { tokens, index: 0, calls: 0, searches: 0 };
  const node = parseNode(parser, 0);
  const rest = tokens[parser.index];
  if (rest) throw new FilterError(`nothing may follow the expression, found '${shown(rest)}'.`);
  if (node.kind !== 'call') throw new FilterError(`it must be a call such as eq(name, "x").`);
  return node;
}

interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'sign';
  readonly text: string;
}

interface Parser {
  readonly tokens: readonly Token[];
  index: number;
  calls: number;
  searches: number;
}

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  const text = source.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new FilterError(`character ${at + 1} starts '${text.slice(at).trim().slice(0, 20)}'.`);
    const [, word, number, string, sign] = match;
    if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (string !== undefined) tokens.push({ kind: 'string', text: unquote(string) });
    else tokens.push({ kind: 'sign', text: sign ?? '' });
  }
  return tokens;
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

function unquote(token: string): string {
  return token
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gsu, (_, hex: string | undefined, char: string | undefined) =>
      hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (ESCAPES[char ?? ''] ?? char ?? ''),
    );
}

function parseNode(parser: Parser, depth: number): FilterNode {
  if (depth > MAX_DEPTH) throw new FilterError(`calls are nested deeper than ${MAX_DEPTH}.`);
  const token = next(parser, 'a call, a field or a value');
  if (token.kind === 'word') {
    if (!accept(parser, '(')) return constant(token.text) ?? { kind: 'field', name: token.text };
    countCall(parser, token.text);
    return { kind: 'call', name: token.text, args: sequence(parser, ')', () => parseNode(parser, depth + 1)) };
  }
  if (token.kind === 'sign' && token.text === '[') {
    return { kind: 'list', values: sequence(parser, ']', () => parseLiteral(parser)) };
  }
  parser.index -= 1;
  return { kind: 'literal', value: parseLiteral(parser) };
}

function countCall(parser: Parser, name: string): void {
  if (++parser.calls > MAX_CALLS) throw new FilterError(`it has more than ${MAX_CALLS} calls.`);
  if (name !== 'search') return;
  if (++parser.searches > MAX_SEARCHES) throw new FilterError(`it calls search() more than ${MAX_SEARCHES} times.`);
}

function parseLiteral(parser: Parser): Literal {
  const token = next(parser, 'a value');
  if (token.kind === 'string') return token.text;
  if (token.kind === 'number') return Number(token.text);
  const literal = token.kind === 'word' ? constant(token.text) : undefined;
  if (literal?.kind === 'literal') return literal.value;
  throw new FilterError(`a value was expected, found '${shown(token)}'.`);
}

function constant(word: string): FilterNode | undefined {
  const constants: Record<string, Literal> = { true: true, false: false, null: null, none: null };
  const key = word.toLowerCase();
  return Object.hasOwn(constants, key) ? { kind: 'literal', value: constants[key] ?? null } : undefined;
}

function sequence<T>(parser: Parser, end: ')' | ']', item: () => T): T[] {
  const items: T[] = [];
  if (accept(parser, end)) return items;
  do items.push(item());
  while (accept(parser, ','));
  if (!accept(parser, end)) {
    const token = next(parser, `'${end}'`);
    throw new FilterError(`',' or '${end}' was expected, found '${shown(token)}'.`);
  }
  return items;
}

function accept(parser: Parser, sign: string): boolean {
  const token = parser.tokens[parser.index];
  if (token?.kind !== 'sign' || token.text !== sign) return false;
  parser.index += 1;
  return true;
}

function next(parser: Parser, expected: string): Token {
  const token = parser.tokens[parser.index];
  if (!token) throw new FilterError(`it ends where ${expected} was expected.`);
  parser.index += 1;
  return token;
}

function shown(token: Token): string {
  return token.text.slice(0, 40);
}
