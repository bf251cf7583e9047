/** First bytes of COPY's binary format. */
export const COPY_SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
/** Last bytes of COPY's binary format. */
export const COPY_END = Buffer.from([0xff, 0xff]);
/** Number of fields, then length of the field. */
const ROW_HEAD = 6;
/** Microseconds from 1970 to 2000, where PostgreSQL's times begin. */
const EPOCH = 946_684_800_000_000;
const TWO_TO_32 = 2 ** 32;
/** So few bytes are copied sooner one by one than by a call. */
const FEW_BYTES = 64;

export function encodedFields(...fields: readonly Buffer[]): Buffer {
  const parts = fields.flatMap((field) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(field.length);
    return [length, field];
  });
  return Buffer.concat(parts);
}

/** Writes rows in COPY's binary format, which takes bytes as they are: nothing is escaped on this side or parsed on the other. */
export class CopyRows {
  rows = 0;
  private bytes = Buffer.allocUnsafeSlow(64 * 1024);
  private used = 0;

  constructor() {
    this.put(COPY_SIGNATURE);
  }

  row(fields: number): this {
    this.rows++;
    this.reserve(2);
    this.bytes[this.used++] = fields >>> 8;
    this.bytes[this.used++] = fields;
    return this;
  }

  null(): this {
    this.reserve(4);
    this.int32(-1);
    return this;
  }

  /** text, bytea or uuid (16 bytes); null is SQL NULL. */
  field(value: Buffer | null): this {
    if (value === null) return this.null();
    this.reserve(4 + value.length);
    this.int32(value.length);
    this.put(value);
    return this;
  }

  encoded(fields: Buffer): this {
    this.reserve(fields.length);
    this.put(fields);
    return this;
  }

  /** timestamptz, in microseconds since 1970. */
  time(micros: number | null): this {
    if (micros === null) return this.null();
    this.reserve(12);
    this.int32(8);
    const since2000 = micros - EPOCH;
    const high = Math.floor(since2000 / TWO_TO_32);
    this.int32(high);
    this.int32(since2000 - high * TWO_TO_32);
    return this;
  }

  double(value: number | null): this {
    if (value === null) return this.null();
    this.reserve(12);
    this.int32(8);
    this.used = this.bytes.writeDoubleBE(value, this.used);
    return this;
  }

  /** numeric, from a decimal text without a sign, such as `12.5` or `1e-7`. */
  decimal(text: string | null): this {
    if (text === null) return this.null();
    const { groups, weight, scale } = base10000(text);
    this.reserve(12 + 2 * groups.length);
    this.int32(8 + 2 * groups.length);
    for (const value of [groups.length, weight, 0, scale, ...groups]) {
      this.bytes[this.used++] = value >>> 8;
      this.bytes[this.used++] = value;
    }
    return this;
  }

  integer(value: number): this {
    this.reserve(8);
    this.int32(4);
    this.int32(value);
    return this;
  }

  /** Everything written, ready for `COPY … FROM STDIN (FORMAT binary)`. It is overwritten after `clear`. */
  finish(): Buffer {
    this.reserve(COPY_END.length);
    this.put(COPY_END);
    return this.bytes.subarray(0, this.used);
  }

  /** Forgets everything written; the memory is used again. */
  clear(): this {
    this.rows = 0;
    this.used = COPY_SIGNATURE.length;
    return this;
  }

  private int32(value: number): void {
    const { bytes } = this;
    bytes[this.used++] = value >>> 24;
    bytes[this.used++] = value >>> 16;
    bytes[this.used++] = value >>> 8;
    bytes[this.used++] = value;
  }

  private put(source: Buffer): void {
    const { bytes, used } = this;
    const { length } = source;
    if (length > FEW_BYTES) bytes.set(source, used);
    else for (let i = 0; i < length; i++) bytes[used + i] = source[i]!;
    this.used = used + length;
  }

  private reserve(bytes: number): void {
    if (this.used + bytes <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.used + bytes));
    this.bytes.copy(larger, 0, 0, this.used);
    this.bytes = larger;
  }
}

/** The groups of four digits that PostgreSQL keeps of a numeric, the place of the first one, and the digits after the point. */
function base10000(text: string): { groups: number[]; weight: number; scale: number } {
  const [mantissa = '', exponent = '0'] = text.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const point = whole.length + Number(exponent);
  const digits = '0'.repeat(Math.max(0, -point)) + (whole + fraction).padEnd(point, '0');
  const before = Math.max(0, point);
  const scale = digits.length - before;
  const first = Math.ceil(before / 4);
  const padded = digits.padStart(digits.length + first * 4 - before, '0');
  const groups = (padded + '0'.repeat(-padded.length & 3)).match(/.{4}/g)!.map(Number);
  const from = groups.findIndex((group) => group > 0);
  if (from < 0) return { groups: [], weight: 0, scale };
  return {
    groups: groups.slice(from, groups.findLastIndex((group) => group > 0) + 1),
    weight: first - 1 - from,
    scale,
  };
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
