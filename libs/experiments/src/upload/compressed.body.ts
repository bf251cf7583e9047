import { readStream } from '@fairlead/edge';
import { PayloadTooLarge } from '@fairlead/schema';
import type { FastifyRequest } from 'fastify';
import type { ExperimentLimits } from '../limits';
import { decompressed } from './upload.decompress';
import type { ZstdDecoder } from './upload.zstd';

/**
 * The bytes of a body of at most `most` bytes, which may be compressed with gzip or zstd.
 * @throws PayloadTooLarge, LimitExceeded, UnsupportedMediaType, BadRequest, RequestTimeout, Unavailable
 */
export async function readCompressed(
  request: FastifyRequest,
  most: number,
  limits: ExperimentLimits,
  zstd: () => ZstdDecoder,
): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const sent = await readStream(request, most);
  if (encoding === 'identity') return sent;
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of decompressed(once(sent), encoding, limits, zstd)) {
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
