import { hash } from 'node:crypto';
import { requireJson } from '@fairlead/api';
import { isNothing, memberSlices, present } from '@fairlead/blobs';
import { readStream } from '@fairlead/edge';
import { parseJsonInTurns, UnsupportedMediaType } from '@fairlead/schema';
import type { FastifyRequest } from 'fastify';

/** Most bytes of such a body. The event that is made of it is smaller. */
const MOST_BYTES = 2 * 1024 * 1024;

export class OpaqueBody {
  constructor(readonly bytes: Buffer) {}

  /**
   * Members by name as JSON text; members that are absent or null are left out. `within` names a member to look into
   * instead of the body.
   */
  members(within?: string): ReadonlyMap<string, string> {
    const outer = within === undefined ? this.bytes : present(memberSlices(this.bytes).get(within));
    const texts = new Map<string, string>();
    for (const [name, slice] of outer ? memberSlices(outer) : []) {
      if (present(slice)) texts.set(name, slice.toString('utf8'));
    }
    return texts;
  }

  others(known: ReadonlySet<string>, within?: string): string[] {
    const outer = within === undefined ? this.bytes : present(memberSlices(this.bytes).get(within));
    const slices = outer ? [...memberSlices(outer)] : [];
    return slices.flatMap(([name, slice]) => (known.has(name) || isNothing(slice) ? [] : name));
  }
}

/**
 * Reads and parses the JSON body of a route that takes the stream, within the limits of all bodies and of 2 MiB at most; `request.body` is its
 * value afterwards.
 * @throws PayloadTooLarge, Unprocessable for what is no JSON, UnsupportedMediaType, RequestTimeout
 */
export async function readOpaqueBody(request: FastifyRequest): Promise<OpaqueBody> {
  const { body, depth, values } = request.limits;
  const bytes = await readJson(request, Math.min(body, MOST_BYTES));
  request.body = bytes.length ? await parseJsonInTurns(bytes, depth, values) : undefined;
  return new OpaqueBody(bytes[0] === 0xef ? bytes.subarray(3) : bytes);
}

export async function readJson(request: FastifyRequest, most: number): Promise<Buffer> {
  const bytes = await readBytes(request, most);
  requireJson(request, bytes);
  return bytes;
}

export async function readBytes(request: FastifyRequest, most: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new UnsupportedMediaType('This path takes no Content-Encoding.');
  return readStream(request, most);
}

const BOUNDARY = /^multipart\/.*;\s*boundary="?([^";]+)/i;

/**
 * Returns what stands for the body of a request with an Idempotency-Key; undefined without one. The boundary of a form
 * does not count, because clients choose another one each time.
 */
export function digestOf({ headers }: FastifyRequest, bytes: Buffer): string | undefined {
  if (headers['idempotency-key'] === undefined) return undefined;
  const boundary = BOUNDARY.exec(headers['content-type'] ?? '')?.[1];
  return hash('sha256', boundary ? bytes.toString('latin1').replaceAll(boundary, '') : bytes);
}
