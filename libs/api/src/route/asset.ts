import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

const shared = new WeakSet();

/** Returns whether the body of an answer is that of an asset. */
export function isShared(body: object | string): boolean {
  return typeof body === 'object' && shared.has(body);
}

/**
 * Bytes that are the same for all clients. They are in memory once, however many clients read them and however slowly.
 */
export class Asset {
  private readonly etag: string;

  constructor(
    private readonly bytes: Buffer,
    private readonly type: string,
    /** Value of the header `cache-control`. */
    private readonly caching: string,
  ) {
    shared.add(bytes);
    this.etag = `"${hash('sha256', bytes, 'base64url')}"`;
  }

  /** Returns the body of the answer, or sets the status 304 and returns undefined when the client has it already. */
  answer(reply: FastifyReply): Buffer | undefined {
    void reply.header('cache-control', this.caching).header('etag', this.etag);
    if (isNamed(reply.request.headers['if-none-match'], this.etag)) {
      void reply.code(304);
      return undefined;
    }
    void reply.header('content-type', this.type);
    return this.bytes;
  }
}

/** Returns whether the header `If-None-Match` names an entity tag (given without `W/`), by weak comparison. */
export function isNamed(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags !== undefined && (tags.includes('*') || tags.includes(etag));
}
