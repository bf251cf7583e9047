import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { BadRequest, UnsupportedMediaType } from '@fairlead/schema';
import type { ExperimentLimits } from './experiment-limits';
import { Meter } from './upload-meter';
import type { ZstdDecoder } from './zstd-decoder';

type Bytes = AsyncIterable<Buffer>;

/** Compressed bytes handed to the zstd decoder at once; between slices its thread works for other uploads. */
const SLICE_BYTES = 4 * 1024;

/**
 * The body as it was before `encoding` (the header Content-Encoding: gzip, zstd, identity or none) was applied.
 * @throws UnsupportedMediaType for another encoding, BadRequest when the data is damaged or cut off,
 * LimitExceeded when the body or the ratio grows beyond the limits.
 */
export function decompressed(
  source: Bytes,
  encoding: string | undefined,
  limits: ExperimentLimits,
  zstd: () => ZstdDecoder,
): Bytes {
  const meter = new Meter(limits);
  const took = (bytes: number) => meter.took(bytes);
  const wrote = (bytes: number) => meter.wrote(bytes);
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return counted(source, wrote);
  if (name === 'gzip' || name === 'x-gzip') return counted(gunzipped(counted(source, took)), wrote);
  if (name === 'zstd') return unzstd(source, zstd());
  throw new UnsupportedMediaType('Content-Encoding must be gzip, zstd or identity.');
}

async function* counted(source: Bytes, count: (bytes: number) => void): Bytes {
  for await (const chunk of source) {
    count(chunk.length);
    yield chunk;
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

async function* unzstd(source: Bytes, decoder: ZstdDecoder): Bytes {
  try {
    for await (const chunk of source) {
      for (let start = 0; start < chunk.length;) {
        const { parts, used } = await decoder.push(chunk.subarray(start, start + SLICE_BYTES), false);
        yield* parts;
        start += used;
        await setImmediate();
      }
    }
    yield* (await decoder.push(Buffer.alloc(0), true)).parts;
  } finally {
    decoder.close();
  }
}
