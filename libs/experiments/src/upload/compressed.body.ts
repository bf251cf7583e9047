import { readStream } from '@fairlead/edge';
import { PayloadTooLarge } from '@fairlead/schema';
import type { FastifyRequest } from 'fastify';
import { ExperimentLimits } from '../limits';
import { decompressed } from './upload.decompress';
import type { ZstdDecoder } from './upload.zstd';

/**
 * The bytes of a body of at most `most` bytes, which may be compressed with gzip or zstd. That many can be held, so that
 * the ratio has no limit: a run that repeats itself does not lose the others of its request.
 * @throws PayloadTooLarge, LimitExceeded, UnsupportedMediaType, BadRequest, RequestTimeout, Unavailable
 */
export async function readCompressed(
  request: FastifyRequest,
  most: number,
  limits: ExperimentLimits,
  zstd: (limits: ExperimentLimits) => ZstdDecoder,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const sent = await readStream(request, most);
  if (encoding === 'identity') return sent;
  const own = new ExperimentLimits({ ...limits, maxRatio: Infinity });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of decompressed(once(sent), encoding, own, () => zstd(own))) {
    size += part.length;
    if (size > most) {
      throw new PayloadTooLarge(`The request body is larger than the limit of ${most} bytes when decompressed.`);
    }
    await request.requestContext.held?.hold(part.length);
    parts.push(part);
  }
  return Buffer.concat(parts, size);
}

async function* once(bytes: Buffer): AsyncIterable<Buffer> {
  yield await Promise.resolve(bytes);
}
