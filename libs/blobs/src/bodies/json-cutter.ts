import { PayloadTooLarge } from '@fairlead/schema';
import { stringEnd, stringValue } from '../json/json-slices';
import type { CutBody, LargePart } from './part-cutter';

interface CutterLimits {
  readonly member: number;
  readonly run: number;
  readonly kept: number;
}

interface Piece {
  readonly name: string;
  /** Place in the bytes that are kept. */
  readonly start: number;
  bytes: number;
  isLeftOut: boolean;
}

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const COMMA = 0x2c;
const COLON = 0x3a;
const STRUCTURE: ReadonlySet<number> = new Set(Buffer.from('{}[]:,"'));
const FIRST_BYTES = 64 * 1024;
/** Limit on the bytes around the runs, and on those that are kept of runs that are left out, together. */
const MOST_OTHER_BYTES = 1024 * 1024;
const MOST_KEY_BYTES = 1200;
/** Members that are kept of a run that is left out, so that its refusal can name the run and its project. */
const SAID: ReadonlySet<string> = new Set(['id', 'session_id', 'session_name', 'trace_id']);
const MOST_SAID_BYTES = 1200;
const LISTS: ReadonlySet<string> = new Set(['post', 'patch']);

/**
 * Copies a JSON body of runs while it arrives, so that no more than `kept` bytes and a little are in memory whatever is
 * sent: a run, or an object whose lists `post` and `patch` hold runs. Values of members that are too large become null,
 * and runs that are too large become objects of the members that say which they are. Nothing is validated: what is not
 * JSON outside of what was left out stays so.
 *
 * The names of what was left out are `outputs` or, for the run, an empty text; in lists `post.3.outputs` and `post.3`.
 */
export class JsonCutter {
  private kept = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private length = 0;
  /** Number of containers around the next byte; those at which the members of a run stand. */
  private depth = 0;
  private readonly runDepth: number;
  private inString = false;
  private escaped = false;
  private key: Buffer[] | undefined;
  private keyBytes = 0;
  private expectsKey = false;
  private name = '';
  private list: string | undefined;
  private count = 0;
  private run: Piece | undefined;
  private value: Piece | undefined;
  /** Bytes of the value, when they say which run it is. */
  private said: Buffer[] | undefined;
  private identity = new Map<string, Buffer>();
  private otherBytes = 0;
  private large: LargePart[] = [];
  private largeOfRun: LargePart[] = [];

  constructor(
    isBatch: boolean,
    private readonly limits: CutterLimits,
  ) {
    this.runDepth = isBatch ? 3 : 1;
  }

  get size(): number {
    return this.length;
  }

  push(chunk: Buffer): void {
    let from = 0;
    /** Takes the bytes before the place at which another piece begins. */
    const takeTo = (to: number) => {
      if (to > from) this.take(chunk.subarray(from, to));
      from = to;
    };
    for (let i = 0; i < chunk.length;) {
      if (this.inString) {
        const end = this.endOfString(chunk, i);
        const next = Math.min(end + 1, chunk.length);
        if (this.key) this.addKey(chunk.subarray(i, next));
        if (!this.inString && this.key) this.endKey();
        i = next;
        continue;
      }
      const byte = chunk[i]!;
      // Elements of a list stand at the depth 2; elsewhere the bytes of a number mean nothing.
      if (STRUCTURE.has(byte) || (this.depth === 2 && byte > 0x20)) this.structure(byte, i, takeTo);
      i++;
    }
    takeTo(chunk.length);
  }

  finish(): CutBody {
    if (this.run) this.endRun();
    return { body: this.kept.subarray(0, this.length), large: this.large };
  }

  private structure(byte: number, at: number, takeTo: (to: number) => void): void {
    const { depth, runDepth } = this;
    const isClosing = byte === 0x7d || byte === 0x5d;
    if (this.value && depth === runDepth && (byte === COMMA || isClosing)) {
      takeTo(at);
      this.endValue();
    }
    if (this.list !== undefined && depth === 2) {
      if (byte === COMMA || isClosing) {
        takeTo(at);
        this.endRun();
        if (isClosing) this.list = undefined;
      } else if (!this.run) {
        takeTo(at);
        this.beginRun(`${this.list}.${this.count++}`);
      }
    }
    if (byte === QUOTE) {
      this.inString = true;
      if (this.expectsKey && this.hasMembers()) [this.key, this.keyBytes] = [[], 0];
      this.expectsKey = false;
      if (this.key) this.addKey(Buffer.from('"'));
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === 0 && runDepth === 1) {
        takeTo(at);
        this.beginRun('');
      }
      const isList = runDepth === 3 && depth === 1 && byte === OPEN_BRACKET && LISTS.has(this.name);
      this.depth++;
      if (isList) this.beginList(this.name);
      this.expectsKey = byte === OPEN_BRACE;
    } else if (isClosing) {
      this.depth = Math.max(0, depth - 1);
      this.expectsKey = false;
    } else if (byte === COMMA) this.expectsKey = true;
    else if (byte === COLON && this.run && depth === runDepth && !this.value) {
      takeTo(at + 1);
      const { name, length: start } = this;
      this.value = { name, start, bytes: 0, isLeftOut: false };
      this.said = SAID.has(name) ? [] : undefined;
    }
  }

  private hasMembers(): boolean {
    return this.run ? this.depth === this.runDepth : this.depth === 1;
  }

  private endOfString(chunk: Buffer, start: number): number {
    const from = this.escaped ? start + 1 : start;
    this.escaped = false;
    const end = stringEnd(chunk, from);
    if (end < chunk.length) this.inString = false;
    else this.escaped = end > chunk.length;
    return end;
  }

  private addKey(bytes: Buffer): void {
    this.keyBytes += bytes.length;
    // It can only be a member that nobody knows.
    if (this.keyBytes <= MOST_KEY_BYTES) this.key?.push(Buffer.from(bytes));
  }

  private endKey(): void {
    const text = Buffer.concat(this.key!);
    this.key = undefined;
    this.name = this.keyBytes > MOST_KEY_BYTES ? '…' : nameOf(text);
  }

  private beginList(name: string): void {
    [this.list, this.count] = [name, 0];
    // The last of two lists with one name counts.
    this.large = this.large.filter((one) => !one.name.startsWith(`${name}.`));
  }

  private beginRun(name: string): void {
    this.run = { name, start: this.length, bytes: 0, isLeftOut: false };
    this.largeOfRun = [];
    this.identity = new Map();
  }

  private endRun(): void {
    if (this.value) this.endValue();
    if (!this.run) return;
    const { name, bytes, isLeftOut } = this.run;
    this.run = undefined;
    if (!isLeftOut) {
      for (const one of this.largeOfRun) this.large.push({ ...one, name: [name, one.name].filter(Boolean).join('.') });
      return;
    }
    const members = [...this.identity].map(([member, text]) => `${JSON.stringify(member)}:${text.toString()}`);
    this.keepOther(Buffer.from(`{${members.join(',')}}`));
    this.large.push({ name, bytes, most: this.limits.run });
  }

  private endValue(): void {
    const { name, bytes, isLeftOut } = this.value!;
    if (isLeftOut) this.largeOfRun.push({ name, bytes, most: this.limits.member });
    else if (this.said) this.identity.set(name, Buffer.concat(this.said));
    this.value = this.said = undefined;
  }

  private take(data: Buffer): void {
    const { run, value } = this;
    if (!run) {
      this.keepOther(data);
      return;
    }
    run.bytes += data.length;
    if (value) {
      value.bytes += data.length;
      if (value.bytes > MOST_SAID_BYTES) this.said = undefined;
      this.said?.push(Buffer.from(data));
      if (value.isLeftOut) return;
      if (!run.isLeftOut && value.bytes > this.limits.member) {
        value.isLeftOut = true;
        this.length = value.start;
        this.fit(run, Buffer.from('null'));
        return;
      }
    }
    if (!run.isLeftOut) this.fit(run, data);
  }

  /** Keeps bytes of a run, or leaves all of it out when there is no room. */
  private fit(run: Piece, data: Buffer): void {
    const length = this.length + data.length;
    if (length <= this.limits.kept && length - run.start <= this.limits.run) {
      this.keep(data);
      return;
    }
    run.isLeftOut = true;
    this.length = run.start;
  }

  private keepOther(data: Buffer): void {
    this.otherBytes += data.length;
    if (this.otherBytes > MOST_OTHER_BYTES) {
      throw new PayloadTooLarge(
        'The request is too large outside of its runs, or holds too many runs that are too large.',
      );
    }
    this.keep(data);
  }

  private keep(bytes: Buffer): void {
    const needed = this.length + bytes.length;
    if (needed > this.kept.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.kept.length));
      this.kept.copy(larger, 0, 0, this.length);
      this.kept = larger;
    }
    bytes.copy(this.kept, this.length);
    this.length = needed;
  }
}

/** The name of a member as it can be told: an empty one, and one whose text is no JSON, as two quotes. */
function nameOf(text: Buffer): string {
  try {
    return stringValue(text) || '""';
  } catch {
    return '""';
  }
}
