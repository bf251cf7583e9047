import { promisify } from 'node:util';
import { constants, deflateRaw, inflateRaw } from 'node:zlib';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Length of a block, then of what is stored of it, 32 bits each; both are equal where the block is stored as it is. */
const HEAD_BYTES = 8;
/** Shorter blocks are not worth the time. */
const SHORT_BYTES = 256;
/** The fastest level: the others take several times as long for a tenth less. */
const FASTEST = { level: constants.Z_BEST_SPEED };

/** A block as it is stored: compressed by itself, unless that does not make it shorter, behind its lengths. */
export async function frameOf(block: Buffer): Promise<readonly [Buffer, Buffer]> {
  const packed = block.length < SHORT_BYTES ? block : await deflate(block, { ...FASTEST, chunkSize: block.length });
  const stored = packed.length < block.length ? packed : block;
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32BE(stored.length, head.writeUInt32BE(block.length));
  return [head, stored];
}

/** The blocks of stored frames, which may come cut anywhere. @throws Error when the last one is not whole */
export async function* blocksOf(source: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let held = 0;
  let needed = HEAD_BYTES;
  for await (const part of source) {
    parts.push(part);
    held += part.length;
    if (held < needed) continue;
    let bytes = Buffer.concat(parts, held);
    for (; bytes.length >= HEAD_BYTES; bytes = bytes.subarray(needed)) {
      needed = HEAD_BYTES + bytes.readUInt32BE(4);
      if (bytes.length < needed) break;
      const stored = bytes.subarray(HEAD_BYTES, needed);
      const length = bytes.readUInt32BE(0);
      // Room beyond the block lets the end be found at once.
      if (stored.length === length) yield stored;
      else yield await inflate(stored, { chunkSize: length + constants.Z_MIN_CHUNK, maxOutputLength: length });
    }
    if (bytes.length < HEAD_BYTES) needed = HEAD_BYTES;
    parts = [bytes];
    held = bytes.length;
  }
  if (held > 0) throw new Error('The stored body ends within a block.');
}
