import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { BadRequest, UnsupportedMediaType } from '@fairlead/http';
import { Decompress } from 'fzstd';
import { type ExperimentLimits, LimitExceeded } from './limits';

type Bytes = AsyncIterable<Buffer>;

/** Output below this is never taken for a decompression bomb. */
const FREE_BYTES = 1024 * 1024;
/** Compressed bytes handed to the zstd decoder at once: it works on the calling thread. */
const SLICE_BYTES = 16 * 1024;

/**
 * The body as it was before `encoding` (the header Content-Encoding: gzip, zstd, identity or none) was applied.
 * @throws UnsupportedMediaType for another encoding, BadRequest when the data is damaged or cut off,
 * LimitExceeded when the body or the ratio grows beyond the limits.
 */
export function decompressed(source: Bytes, encoding: string | undefined, limits: ExperimentLimits): Bytes {
  const meter = new Meter(limits);
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return meter.output(source);
  if (name === 'gzip' || name === 'x-gzip') return meter.output(gunzipped(meter.input(source)));
  if (name === 'zstd') return unzstd(meter.input(source), meter);
  throw new UnsupportedMediaType('Content-Encoding must be gzip, zstd or identity.');
}

/** Counts what goes in and what comes out. */
class Meter {
  private read = 0;
  private written = 0;
  private compressed = false;

  constructor(private readonly limits: ExperimentLimits) {}

  async *input(source: Bytes): Bytes {
    this.compressed = true;
    for await (const chunk of source) {
      this.read += chunk.length;
      yield chunk;
    }
  }

  async *output(source: Bytes): Bytes {
    for await (const chunk of source) {
      this.wrote(chunk.length);
      yield chunk;
    }
  }

  wrote(bytes: number): void {
    this.written += bytes;
    const { maxBytes, maxRatio } = this.limits;
    if (this.written > maxBytes) throw new LimitExceeded('body bytes', maxBytes);
    if (this.compressed && this.written > FREE_BYTES && this.written > this.read * maxRatio) {
      throw new LimitExceeded('decompression ratio', maxRatio);
    }
  }
}

async function* gunzipped(source: Bytes): Bytes {
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  const input = Readable.from(source);
  input.once('error', (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (error) {
    if (String((error as NodeJS.ErrnoException).code).startsWith('Z_')) {
      throw new BadRequest('The body is not valid gzip data.');
    }
    throw error;
  } finally {
    input.destroy();
  }
}

async function* unzstd(source: Bytes, meter: Meter): Bytes {
  let output: Buffer[] = [];
  const decoder = new Decompress((data) => {
    meter.wrote(data.length);
    output.push(Buffer.from(data.buffer, data.byteOffset, data.length));
  });
  const push = (slice: Uint8Array, last: boolean): Buffer[] => {
    output = [];
    try {
      decoder.push(slice, last);
    } catch (error) {
      if (error instanceof LimitExceeded) throw error;
      throw new BadRequest('The body is not valid zstd data.');
    }
    return output;
  };
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length; start += SLICE_BYTES) {
      yield* push(chunk.subarray(start, start + SLICE_BYTES), false);
      await setImmediate();
    }
  }
  yield* push(new Uint8Array(0), true);
}
