import { type CutBody, MalformedMultipart } from '@fairlead/blobs';
import { bodyChunks, readStream } from '@fairlead/edge';
import { BadRequest } from '@fairlead/schema';
import type { FastifyRequest } from 'fastify';
import { ExperimentLimits } from './experiment-limits';
import { decompressed } from './decompress';
import { LimitExceeded } from './upload.errors';
import type { ZstdDecoder } from './zstd-decoder';

interface Cutter {
  readonly size: number;
  /** Takes the next bytes. @throws MalformedMultipart, PayloadTooLarge */
  push(chunk: Buffer): void;
  /** Returns what is left when all bytes were taken. @throws MalformedMultipart */
  finish(): CutBody;
}

interface CutLimits {
  /** Most bytes that are kept of the body, and that are sent when it is compressed. */
  readonly kept: number;
  /** Bytes after decompression up to which the ratio has no limit: a run that repeats itself loses no others. */
  readonly anyRatio: number;
}

/**
 * The body of a request, which may be compressed with gzip or zstd, without what `cutter` leaves out of a body of the
 * content type. It is read to its end, up to the limit of an upload.
 * @throws PayloadTooLarge, LimitExceeded, UnsupportedMediaType, BadRequest, RequestTimeout, Unavailable
 */
export async function readCut(
  request: FastifyRequest,
  cutter: (contentType: string) => Cutter,
  most: CutLimits,
  limits: ExperimentLimits,
  zstd: (limits: ExperimentLimits) => ZstdDecoder,
): Promise<CutBody> {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = request.headers;
  const maxBytes = Math.max(limits.maxBytes, most.kept);
  const body =
    encoding === 'identity'
      ? bodyChunks(request, maxBytes)
      : unpacked(await readStream(request, most.kept), encoding, most.anyRatio, { ...limits, maxBytes }, zstd);
  try {
    return await cut(request, body, cutter(type));
  } catch (error) {
    if (!(error instanceof MalformedMultipart)) throw error;
    throw new BadRequest('The body is not well-formed multipart/form-data.');
  }
}

async function cut(request: FastifyRequest, body: AsyncIterable<Buffer>, cutter: Cutter): Promise<CutBody> {
  let failure: unknown;
  let held = 0;
  for await (const part of body) {
    // It is read to its end all the same: many clients look for an answer only then.
    if (failure !== undefined) continue;
    try {
      cutter.push(part);
    } catch (error) {
      failure = error;
    }
    const more = cutter.size - held;
    if (more > 0) await request.requestContext.held?.hold(more);
    held = Math.max(held, cutter.size);
  }
  if (failure !== undefined) throw failure as Error;
  return cutter.finish();
}

async function* unpacked(
  sent: Buffer,
  encoding: string,
  anyRatio: number,
  limits: ExperimentLimits,
  zstd: (limits: ExperimentLimits) => ZstdDecoder,
): AsyncIterable<Buffer> {
  const own = new ExperimentLimits({ ...limits, maxRatio: Infinity });
  let size = 0;
  for await (const part of decompressed(once(sent), encoding, own, () => zstd(own))) {
    size += part.length;
    if (size > anyRatio && size > sent.length * limits.maxRatio) {
      throw new LimitExceeded('decompression ratio', limits.maxRatio);
    }
    yield part;
  }
}

async function* once(bytes: Buffer): AsyncIterable<Buffer> {
  yield await Promise.resolve(bytes);
}
