import { BadRequest, RequestTimeout } from '@fairlead/schema';

type Bytes = AsyncIterable<Buffer>;

/** Size of the blocks in which bodies are checked and stored. */
export const BLOCK_BYTES = 256 * 1024;
/** A block may be waited for this many times the idle limit. */
const PATIENCE = 4;

export const RING_BLOCKS = 6;

/** The same bytes in blocks of {@link BLOCK_BYTES}, the last one shorter. A block belongs to who receives it. */
async function* inBlocks(source: Bytes, next = (): Buffer => Buffer.allocUnsafeSlow(BLOCK_BYTES)): Bytes {
  let block = next();
  let used = 0;
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length;) {
      const copied = chunk.copy(block, used, start);
      start += copied;
      used += copied;
      if (used < BLOCK_BYTES) continue;
      yield block;
      block = next();
      used = 0;
    }
  }
  if (used > 0) yield block.subarray(0, used);
}

/**
 * The same in a few buffers by turns, since fresh memory would cost more than the copying: a block stays as it is until
 * so many further ones have been asked for. Other threads can read it, unless other memory is given.
 */
export function inRing(source: Bytes, blocks = RING_BLOCKS, allocate = shared): Bytes {
  const ring: Buffer[] = [];
  let turn = 0;
  return inBlocks(source, () => (ring[turn++ % blocks] ??= allocate(BLOCK_BYTES)));
}

function shared(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

/**
 * The same bytes, as long as they keep coming: at least one chunk in `idleMs`, and a block in four times that. The time
 * that the reader takes for what it has is not the sender's, and does not count. The source is left as it is when
 * reading stops, so that the request can still be answered.
 * @throws RequestTimeout when they do not, BadRequest when the sender goes away.
 */
export async function* paced(source: Bytes, idleMs: number): Bytes {
  const chunks = source[Symbol.asyncIterator]();
  let waited = 0;
  let bytes = 0;
  let waiting = false;
  try {
    for (;;) {
      waiting = true;
      const since = Date.now();
      const next = await within(idleMs, chunks.next());
      waited += Date.now() - since;
      waiting = false;
      if (next.done) return;
      yield next.value;
      bytes += next.value.length;
      if (bytes >= BLOCK_BYTES) {
        waited = 0;
        bytes = 0;
      } else if (waited > PATIENCE * idleMs) throw new RequestTimeout();
    }
  } finally {
    // A source that does not answer cannot be told to stop either.
    if (!waiting) await chunks.return?.();
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RequestTimeout()), ms);
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    if (error instanceof RequestTimeout) throw error;
    throw new BadRequest('The request was cut off.');
  } finally {
    clearTimeout(timer);
  }
}
