import { BadRequest } from '@fairlead/schema';

/** The window that every decoder must have room for (RFC 8878); larger ones are refused before anything is allocated. */
const MOST_WINDOW = 8 * 1024 * 1024;
/** Least work that a block counts. */
const LEAST_WORK = 64 * 1024;
/** The decoder moves its window once for each block and frame: bytes moved for nothing, and for each byte of output. */
const FREE_WORK = 512 * 1024 * 1024;
const WORK_PER_BYTE = 128;

const MAGIC = 0xfd2fb528;
const SKIPPABLE = 0x184d2a5;
const FRAME_HEAD_BYTES = 18;
const RLE = 1;

/**
 * Reads where frames and blocks of zstd data begin, ahead of the decoder, and refuses what would cost it far more than
 * the data is worth: large windows, and many small or empty blocks and frames.
 */
export class ZstdFraming {
  private readonly head = Buffer.alloc(FRAME_HEAD_BYTES);
  private filled = 0;
  private inFrame = false;
  /** Bytes of content before the next head. */
  private skip = 0;
  private window = 0;
  private checksumBytes = 0;
  private work = 0;

  /** Takes bytes that go to the decoder next; `written` bytes have come out of it so far. @throws BadRequest */
  take(bytes: Buffer, written: number): void {
    for (let at = 0; at < bytes.length;) {
      if (this.skip > 0) {
        const skipped = Math.min(this.skip, bytes.length - at);
        this.skip -= skipped;
        at += skipped;
        continue;
      }
      this.head[this.filled++] = bytes[at++]!;
      const isWhole = this.inFrame ? this.readBlock() : this.readFrame();
      if (!isWhole) continue;
      this.filled = 0;
      this.work += Math.max(this.window, LEAST_WORK);
      if (this.work > FREE_WORK + WORK_PER_BYTE * written) {
        throw new BadRequest('The zstd data has too many small blocks or frames.');
      }
    }
  }

  /** False when the head of the block is not complete yet. */
  private readBlock(): boolean {
    if (this.filled < 3) return false;
    const head = this.head.readUIntLE(0, 3);
    const isLast = (head & 1) === 1;
    this.skip = ((head >> 1) & 3) === RLE ? 1 : head >> 3;
    if (isLast) {
      this.skip += this.checksumBytes;
      this.inFrame = false;
    }
    return true;
  }

  /** False when the head of the frame is not complete yet. */
  private readFrame(): boolean {
    const { head, filled } = this;
    if (filled < 5) return false;
    const magic = head.readUInt32LE(0);
    if (magic >>> 4 === SKIPPABLE) {
      if (filled < 8) return false;
      this.skip = head.readUInt32LE(4);
      this.window = 0;
      return true;
    }
    if (magic !== MAGIC) throw new BadRequest('The body is not valid zstd data.');
    const flags = head[4]!;
    const isSingle = (flags & 0x20) !== 0;
    const idBytes = [0, 1, 2, 4][flags & 3]!;
    const sizeFlag = flags >> 6;
    const sizeBytes = sizeFlag > 0 ? 1 << sizeFlag : Number(isSingle);
    const sizeAt = (isSingle ? 5 : 6) + idBytes;
    if (filled < sizeAt + sizeBytes) return false;
    this.window = isSingle ? sizeOf(head, sizeAt, sizeBytes) : windowOf(head[5]!);
    if (this.window > MOST_WINDOW) {
      throw new BadRequest(`The zstd data asks for a window of more than ${MOST_WINDOW} bytes.`);
    }
    this.checksumBytes = (flags & 4) !== 0 ? 4 : 0;
    this.inFrame = true;
    return true;
  }
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function sizeOf(head: Buffer, at: number, bytes: number): number {
  if (bytes === 8) return Number(head.readBigUInt64LE(at));
  return head.readUIntLE(at, bytes) + (bytes === 2 ? 256 : 0);
}
