import { PayloadTooLarge } from '@fairlead/schema';
import { boundaryOf, headOf, MalformedMultipart, MOST_HEAD_BYTES, MOST_PARTS } from './multipart';

export interface LargePart {
  readonly name: string;
  readonly bytes: number;
  /** Most bytes of the data of such a part; fewer bytes were left out because the others had taken the room. */
  readonly most: number;
}

export interface CutBody {
  readonly body: Buffer;
  readonly large: readonly LargePart[];
}

const HEAD_END = '\r\n\r\n';
const FIRST_BYTES = 64 * 1024;
/** Names of parts that were left out, together. */
const MOST_NAME_BYTES = 1024 * 1024;

/**
 * Copies a `multipart/form-data` body while it arrives and leaves out the data of parts that are too large, so that no
 * more than `mostKept` bytes are in memory whatever is sent. `mostOf` returns the most bytes of the data of a part.
 */
export class PartCutter {
  private readonly delimiter: Buffer;
  private kept = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private length = 0;
  /** Bytes that have arrived and cannot be read alone. A body may begin with its delimiter, without the line break. */
  private rest = Buffer.from('\r\n');
  private reads: 'data' | 'head' | 'nothing' = 'data';
  private part: { readonly name: string; readonly start: number; readonly most: number } | undefined;
  private bytes = 0;
  private isLeftOut = true;
  private parts = 0;
  private nameBytes = 0;
  private readonly large: LargePart[] = [];

  /** @throws MalformedMultipart for another content type */
  constructor(
    contentType: string,
    private readonly mostOf: (name: string) => number,
    private readonly mostKept: number,
  ) {
    this.delimiter = Buffer.from(`\r\n--${boundaryOf(contentType)}`);
  }

  get size(): number {
    return this.length;
  }

  /** Takes the next bytes. @throws MalformedMultipart, PayloadTooLarge */
  push(chunk: Buffer): void {
    if (this.reads === 'nothing') return;
    const bytes = Buffer.concat([this.rest, chunk]);
    let at = 0;
    for (let next: number | undefined = 0; next !== undefined;) {
      at = next;
      next = this.reads === 'data' ? this.readData(bytes, at) : this.readHead(bytes, at);
    }
    // Data of which no part can belong to a delimiter.
    if (this.reads === 'data') {
      const end = Math.max(at, bytes.length - this.delimiter.length + 1);
      this.take(bytes.subarray(at, end));
      at = end;
    }
    this.rest = bytes.subarray(at);
  }

  /** Returns what is left when all bytes were taken. @throws MalformedMultipart */
  finish(): CutBody {
    if (this.reads !== 'nothing') throw new MalformedMultipart();
    this.keep(Buffer.from('--'));
    return { body: this.kept.subarray(0, this.length), large: this.large };
  }

  private readData(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(this.delimiter, at);
    if (end === -1) return undefined;
    this.take(bytes.subarray(at, end));
    this.endPart();
    this.reads = 'head';
    return end + this.delimiter.length;
  }

  private readHead(bytes: Buffer, at: number): number | undefined {
    if (bytes.length < at + 2) return undefined;
    if (bytes[at] === 0x2d && bytes[at + 1] === 0x2d) {
      this.reads = 'nothing';
      return undefined;
    }
    const shown = bytes.subarray(at, at + MOST_HEAD_BYTES + HEAD_END.length);
    const end = shown.indexOf(HEAD_END);
    if (end === -1) {
      if (shown.length > MOST_HEAD_BYTES) throw new MalformedMultipart();
      return undefined;
    }
    const next = shown.indexOf(this.delimiter);
    const { name } = headOf(shown.subarray(shown.indexOf('\r\n') + 2, end));
    if ((next !== -1 && next < end) || ++this.parts > MOST_PARTS) throw new MalformedMultipart();
    this.part = { name, start: this.length, most: this.mostOf(name) };
    [this.bytes, this.isLeftOut] = [0, false];
    this.fit(shown.subarray(0, end + HEAD_END.length));
    this.reads = 'data';
    return at + end + HEAD_END.length;
  }

  private take(data: Buffer): void {
    this.bytes += data.length;
    if (this.isLeftOut) return;
    if (this.bytes > this.part!.most) this.leaveOut();
    else this.fit(data);
  }

  private endPart(): void {
    // What comes before the first part is nobody's.
    if (this.part && this.isLeftOut) {
      const { name, most } = this.part;
      this.nameBytes += name.length;
      if (this.nameBytes > MOST_NAME_BYTES) throw new PayloadTooLarge('Too many parts of the request are too large.');
      this.large.push({ name, bytes: this.bytes, most });
    } else this.keep(this.delimiter);
    [this.bytes, this.isLeftOut] = [0, true];
  }

  private leaveOut(): void {
    this.isLeftOut = true;
    this.length = this.part!.start;
  }

  /** Keeps bytes of the part, or leaves all of it out when there is no room. */
  private fit(bytes: Buffer): void {
    if (this.length + bytes.length > this.mostKept) this.leaveOut();
    else this.keep(bytes);
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
