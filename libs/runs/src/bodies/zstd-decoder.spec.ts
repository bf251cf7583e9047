import { MessageChannel } from 'node:worker_threads';
import { BadRequest } from '@fairlead/schema';
import { LimitExceeded } from './upload.errors';
import { RemoteDecoder, serveZstd } from './zstd-decoder';

const LIMITS = { maxBytes: 3_000_000, maxRatio: 300 };
const HEAD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]);

/** A block of a hundred thousand spaces. */
function spaces(last: boolean): Buffer {
  const block = Buffer.alloc(4, ' ');
  block.writeUIntLE((100_000 << 3) | 2 | Number(last), 0, 3);
  return block;
}

function remote(): RemoteDecoder {
  const { port1, port2 } = new MessageChannel();
  serveZstd(port2, LIMITS);
  return new RemoteDecoder(port1);
}

describe('A decoder at the other end of a port', () => {
  it('gives back what comes out of each slice', async () => {
    const decoder = remote();
    const parts = [
      await decoder.push(Buffer.concat([HEAD, spaces(false), spaces(false)]), false),
      await decoder.push(spaces(true), false),
      await decoder.push(Buffer.alloc(0), true),
    ].flatMap((decoded) => decoded.parts);
    expect(Buffer.concat(parts).equals(Buffer.alloc(300_000, ' '))).toBe(true);
    decoder.close();
  });

  it('stops in a slice whose first bytes stand for many, and goes on from there', async () => {
    const { port1, port2 } = new MessageChannel();
    serveZstd(port2, { maxBytes: 30_000_000, maxRatio: Infinity });
    const decoder = new RemoteDecoder(port1);
    const blocks = [HEAD, ...Array.from({ length: 200 }, (_, n) => spaces(n === 199))];
    const body = Buffer.concat(blocks);
    let size = 0;
    for (let at = 0; at < body.length;) {
      const { parts, used } = await decoder.push(body.subarray(at), false);
      const bytes = parts.reduce((sum, { length }) => sum + length, 0);
      expect(bytes).toBeLessThan(3_000_000);
      size += bytes;
      at += used;
    }
    expect(size).toBe(20_000_000);
    decoder.close();
  });

  it('tells what is wrong as if it were here', async () => {
    const one = remote();
    await expect(one.push(Buffer.from('no such data at all'), false)).rejects.toThrow(BadRequest);
    const other = remote();
    const bomb = Buffer.concat([HEAD, ...Array.from({ length: 40 }, () => spaces(false))]);
    await expect(other.push(bomb, false)).rejects.toThrow(LimitExceeded);
    for (const decoder of [one, other]) decoder.close();
  });

  it('says so when that thread is gone', async () => {
    const decoder = remote();
    decoder.close();
    await expect(decoder.push(HEAD, false)).rejects.toThrow('has ended');
  });
});
