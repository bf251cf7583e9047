/** What COPY's binary format begins with. */
export const COPY_SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** What it ends with. */
export const COPY_END = Buffer.from([0xff, 0xff]);
/** Number of fields, then length of the field. */
const ROW_HEAD = 6;
/** Microseconds from 1970 to 2000, where PostgreSQL's times begin. */
const EPOCH = 946_684_800_000_000n;

/** Writes rows in COPY's binary format, which takes bytes as they are: nothing is escaped on this side or parsed on the other. */
export class CopyRows {
  rows = 0;
  private bytes = Buffer.allocUnsafe(64 * 1024);
  private used = 0;

  constructor() {
    this.raw(COPY_SIGNATURE);
  }

  /** Begins a row; its fields follow in the order of the columns. */
  row(fields: number): this {
    this.rows++;
    this.reserve(2);
    this.used = this.bytes.writeInt16BE(fields, this.used);
    return this;
  }

  null(): this {
    return this.length(-1, 0);
  }

  /** text, bytea or uuid (16 bytes); null is SQL NULL. */
  field(value: Buffer | null): this {
    if (value === null) return this.null();
    this.length(value.length, value.length);
    this.used += value.copy(this.bytes, this.used);
    return this;
  }

  text(value: string | null): this {
    return this.field(value === null ? null : Buffer.from(value));
  }

  /** timestamptz, in microseconds since 1970. */
  time(micros: number | null): this {
    if (micros === null) return this.null();
    this.length(8, 8);
    this.used = this.bytes.writeBigInt64BE(BigInt(micros) - EPOCH, this.used);
    return this;
  }

  /** double precision */
  double(value: number | null): this {
    if (value === null) return this.null();
    this.length(8, 8);
    this.used = this.bytes.writeDoubleBE(value, this.used);
    return this;
  }

  integer(value: number): this {
    this.length(4, 4);
    this.used = this.bytes.writeInt32BE(value, this.used);
    return this;
  }

  /** Everything written, ready for `COPY … FROM STDIN (FORMAT binary)`. */
  finish(): Buffer {
    this.raw(COPY_END);
    return this.bytes.subarray(0, this.used);
  }

  private length(length: number, following: number): this {
    this.reserve(4 + following);
    this.used = this.bytes.writeInt32BE(length, this.used);
    return this;
  }

  private raw(bytes: Buffer): void {
    this.reserve(bytes.length);
    this.used += bytes.copy(this.bytes, this.used);
  }

  private reserve(bytes: number): void {
    if (this.used + bytes <= this.bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.bytes.length * 2, this.used + bytes));
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
  }
}

/** The bytes of the only field of every row that `COPY … TO STDOUT (FORMAT binary)` sends, in pieces as they come. */
export async function* copiedFields(source: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  let headBytes = COPY_SIGNATURE.length + ROW_HEAD;
  let left = 0;
  for await (const chunk of source) {
    let at = 0;
    while (at < chunk.length) {
      if (left > 0) {
        const piece = chunk.subarray(at, at + left);
        yield piece;
        at += piece.length;
        left -= piece.length;
        continue;
      }
      const part = chunk.subarray(at, at + headBytes - head.length);
      head = Buffer.concat([head, part]);
      at += part.length;
      if (head.length < headBytes) continue;
      left = head.readInt32BE(headBytes - 4);
      head = Buffer.alloc(0);
      headBytes = ROW_HEAD;
    }
  }
}
