import { randomBytes } from 'node:crypto';
import { blocksOf, frameOf } from './payload-frames';

const blocks = [
  Buffer.from('{"short":true}'),
  Buffer.from('{"question":"the same again"}'.repeat(9000)),
  randomBytes(5000),
  Buffer.alloc(0),
  Buffer.from('x'.repeat(300)),
];

async function read(pieces: Iterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of blocksOf(pieces)) parts.push(part);
  return Buffer.concat(parts);
}

describe('the frames of a payload', () => {
  let stored: Buffer;
  beforeAll(async () => {
    const frames: Buffer[] = [];
    for (const block of blocks) frames.push(...(await frameOf(block)));
    stored = Buffer.concat(frames);
  });

  it.each([1, 7, 8, 1000, 1 << 20])('give back their blocks, cut into pieces of %i bytes', async (size) => {
    const pieces = Array.from({ length: Math.ceil(stored.length / size) }, (_, n) =>
      stored.subarray(n * size, (n + 1) * size),
    );
    expect((await read(pieces)).equals(Buffer.concat(blocks))).toBe(true);
  });

  it('are never longer than their blocks, by more than their lengths', async () => {
    const [head, body] = await frameOf(randomBytes(100_000));
    expect([head.length, body.length]).toEqual([8, 100_000]);
  });

  it('are not read when the last one is cut, or when one is longer than it says', async () => {
    await expect(read([stored.subarray(0, -1)])).rejects.toThrow('ends within a block');
    const [head, body] = await frameOf(Buffer.from('x'.repeat(300)));
    const shorter = Buffer.from(head);
    shorter.writeUInt32BE(299);
    await expect(read([shorter, body])).rejects.toThrow();
  });
});
