import { hash } from 'node:crypto';
import type { FastifyReply } from 'fastify';

const shared = new WeakSet();

/** Whether an answer's body is that of an asset. */
export function isShared(body: object | string): boolean {
  return typeof body === 'object' && shared.has(body);
}

/** Bytes that are the same for everybody: they are in memory once, however many clients read them, and however slowly. */
export class Asset {
  private readonly etag: string;

  constructor(
    private readonly bytes: Buffer,
    private readonly type: string,
    /** How long a cache may keep them without asking. */
    private readonly caching: string,
  ) {
    shared.add(bytes);
    this.etag = `"${hash('sha256', bytes, 'base64url')}"`;
  }

  /** The body of the answer: none, with status 304, for a client that has it already. */
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

/** Whether the header `If-None-Match` names an entity tag (given without `W/`): the comparison is weak. */
export function isNamed(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags !== undefined && (tags.includes('*') || tags.includes(etag));
}
