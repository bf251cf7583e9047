import { isAscii, isUtf8 } from 'node:buffer';
import { stringEnd } from '@fairlead/blobs';
import { parseJson as explainJson, Unprocessable } from '@fairlead/schema';
import { LimitExceeded } from './upload.errors';

export class JsonSyntaxError extends Error {
  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
    this.name = 'JsonSyntaxError';
  }
}

/** Receives the values of a body. They are slices that are valid until the call returns; their syntax is unchecked. */
export interface JsonVisitor {
  member(key: string, value: Buffer, offset: number): void;
  element(key: string, value: Buffer, offset: number): void;
  /** A streamed array begins, before its first element. */
  array(key: string, offset: number): void;
  root(value: Buffer, offset: number): void;
}

export interface ScannerLimits {
  readonly valueBytes: number;
  readonly depth: number;
}

const enum At {
  Root,
  FirstKey,
  Key,
  Colon,
  MemberValue,
  MemberEnd,
  FirstElement,
  Element,
  ElementEnd,
  End,
  InToken,
}
const enum Token {
  Key,
  Member,
  Element,
  Root,
}

const QUOTE = 0x22;
const PLAIN = 0;
const OPEN = 2;
const CLOSE = 3;
const SPACE = 4;

const CLASSES = new Uint8Array(256);
CLASSES[QUOTE] = 1;
for (const byte of Buffer.from('[{')) CLASSES[byte] = OPEN;
for (const byte of Buffer.from(']}')) CLASSES[byte] = CLOSE;
for (const byte of Buffer.from(' \t\r\n')) CLASSES[byte] = SPACE;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const INSIDE = CLASSES.map((kind) => (kind === SPACE ? PLAIN : kind));

/**
 * Finds the members of a JSON object that arrives in chunks, and the elements of the arrays among them that are named
 * in `streamed`, without ever holding more than one value. Checks the places of brackets, colons and commas around
 * those values, their size and the depth of everything; what is inside a value is left to JSON.parse.
 */
export class JsonScanner {
  private at: At = At.Root;
  private token: Token = Token.Root;
  private key = '';
  /** Bytes before the current chunk. */
  private consumed = 0;
  private tokenStart = 0;
  private pieces: Buffer[] = [];
  private pieceBytes = 0;
  private depth = 0;
  private outerDepth = 0;
  private inString = false;
  private escaped = false;
  private scalar = false;

  constructor(
    private readonly streamed: ReadonlySet<string>,
    private readonly limits: ScannerLimits,
    private readonly visitor: JsonVisitor,
  ) {}

  /** @throws JsonSyntaxError or LimitExceeded at the first byte that is wrong. */
  push(chunk: Buffer): void {
    let i = this.consumed === 0 && chunk.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
    while (i < chunk.length) {
      if (this.at === At.InToken) {
        const end = this.scalar ? scalarEnd(chunk, i) : this.containerEnd(chunk, i);
        this.limitToken(this.pieceBytes + end - i);
        if (end === chunk.length && (this.scalar || this.inString || this.depth > this.outerDepth)) {
          // The chunk may be reused by its owner, the token goes on in the next one.
          this.pieces.push(Buffer.from(chunk.subarray(i)));
          this.pieceBytes += end - i;
          break;
        }
        this.finishToken(chunk.subarray(i, end));
        i = end;
      } else {
        const byte = chunk[i]!;
        if (CLASSES[byte] === SPACE) i++;
        else if (this.structure(byte, this.consumed + i)) i++;
      }
    }
    this.consumed += chunk.length;
  }

  /** Tells that no more bytes come. Answers false for a body without any value. */
  end(): boolean {
    if (this.at === At.InToken && this.scalar && this.token === Token.Root) this.finishToken(Buffer.alloc(0));
    if (this.at === At.Root) return false;
    if (this.at === At.InToken && this.inString) {
      throw new JsonSyntaxError('Unterminated string starting at', this.tokenStart);
    }
    if (this.at !== At.End) throw new JsonSyntaxError(this.expected(), this.consumed);
    return true;
  }

  /** Acts on a byte between tokens; answers whether the byte is used up (it is not when a token begins with it). */
  private structure(byte: number, offset: number): boolean {
    switch (this.at) {
      case At.Root:
        if (byte !== 0x7b) return this.begin(Token.Root, byte, offset, 0);
        this.at = At.FirstKey;
        return true;
      case At.FirstKey:
      case At.Key:
        if (byte === 0x7d && this.at === At.FirstKey) return this.move(At.End);
        if (byte !== QUOTE) throw new JsonSyntaxError(this.expected(), offset);
        return this.begin(Token.Key, byte, offset, 1);
      case At.Colon:
        if (byte !== 0x3a) throw new JsonSyntaxError(this.expected(), offset);
        return this.move(At.MemberValue);
      case At.MemberValue:
        if (byte !== 0x5b || !this.streamed.has(this.key)) return this.begin(Token.Member, byte, offset, 1);
        this.visitor.array(this.key, offset);
        return this.move(At.FirstElement);
      case At.MemberEnd:
        if (byte === 0x2c) return this.move(At.Key);
        if (byte === 0x7d) return this.move(At.End);
        throw new JsonSyntaxError(this.expected(), offset);
      case At.FirstElement:
      case At.Element:
        if (byte === 0x5d && this.at === At.FirstElement) return this.move(At.MemberEnd);
        return this.begin(Token.Element, byte, offset, 2);
      case At.ElementEnd:
        if (byte === 0x2c) return this.move(At.Element);
        if (byte === 0x5d) return this.move(At.MemberEnd);
        throw new JsonSyntaxError(this.expected(), offset);
      default:
        throw new JsonSyntaxError('Extra data', offset);
    }
  }

  private move(at: At): true {
    this.at = at;
    return true;
  }

  private begin(token: Token, byte: number, offset: number, outerDepth: number): false {
    const kind = CLASSES[byte];
    if (kind === CLOSE || byte === 0x2c || byte === 0x3a) throw new JsonSyntaxError('Expecting value', offset);
    this.token = token;
    this.tokenStart = offset;
    this.depth = this.outerDepth = outerDepth;
    this.inString = this.escaped = false;
    this.scalar = kind === PLAIN;
    this.at = At.InToken;
    return false;
  }

  /** Where the string or container ends in this chunk, or the chunk's length when it goes on. */
  private containerEnd(chunk: Buffer, start: number): number {
    const { length } = chunk;
    const outer = this.outerDepth;
    const deepest = this.limits.depth;
    let { depth, inString } = this;
    let i = start;
    if (this.escaped) {
      this.escaped = false;
      i++;
    }
    for (;;) {
      if (inString) {
        i = stringEnd(chunk, i);
        if (i >= length) break;
        inString = false;
        i++;
        if (depth === outer) break;
      } else {
        while (i < length && INSIDE[chunk[i]!] === PLAIN) i++;
        if (i >= length) break;
        const kind = INSIDE[chunk[i++]!];
        if (kind === OPEN) {
          if (++depth > deepest) throw new LimitExceeded('depth', deepest);
        } else if (kind === CLOSE) {
          if (--depth === outer) break;
        } else inString = true;
      }
    }
    if (i > length) {
      this.escaped = true;
      i = length;
    }
    this.depth = depth;
    this.inString = inString;
    return i;
  }

  private finishToken(last: Buffer): void {
    const value = this.pieces.length === 0 ? last : Buffer.concat([...this.pieces, last]);
    this.pieces = [];
    this.pieceBytes = 0;
    switch (this.token) {
      case Token.Key:
        this.key = parseJson(value, this.tokenStart) as string;
        this.at = At.Colon;
        break;
      case Token.Member:
        this.at = At.MemberEnd;
        this.visitor.member(this.key, value, this.tokenStart);
        break;
      case Token.Element:
        this.at = At.ElementEnd;
        this.visitor.element(this.key, value, this.tokenStart);
        break;
      case Token.Root:
        this.at = At.End;
        this.visitor.root(value, this.tokenStart);
    }
  }

  private limitToken(bytes: number): void {
    if (bytes > this.limits.valueBytes) throw new LimitExceeded('row bytes', this.limits.valueBytes);
  }

  private expected(): string {
    if (this.at === At.FirstKey || this.at === At.Key) return 'Expecting property name enclosed in double quotes';
    if (this.at === At.Colon) return "Expecting ':' delimiter";
    if (this.at === At.MemberValue || this.at === At.Element || this.at === At.FirstElement) return 'Expecting value';
    return "Expecting ',' delimiter";
  }
}

function scalarEnd(chunk: Buffer, start: number): number {
  let i = start;
  while (i < chunk.length && CLASSES[chunk[i]!] === PLAIN && chunk[i] !== 0x2c) i++;
  return i;
}

/** The value of a slice. @throws JsonSyntaxError when it is no JSON or no UTF-8, its offset counted from `offset`. */
export function parseJson(slice: Buffer, offset: number): unknown {
  const text = decode(slice, offset);
  try {
    return JSON.parse(text);
  } catch {
    throw explain(slice, offset);
  }
}

function explain(slice: Buffer, offset: number): JsonSyntaxError {
  try {
    explainJson(slice, Infinity);
  } catch (error) {
    const problem = error instanceof Unprocessable && typeof error.detail !== 'string' ? error.detail[0] : undefined;
    if (problem) return new JsonSyntaxError(String(problem.ctx?.error), offset + Number(problem.loc[1]));
  }
  return new JsonSyntaxError('Expecting value', offset);
}

function decode(slice: Buffer, offset: number): string {
  if (isAscii(slice)) return slice.toString('latin1');
  if (!isUtf8(slice)) throw new JsonSyntaxError('Invalid UTF-8', offset);
  return slice.toString('utf8');
}
