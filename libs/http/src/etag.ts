import type { FastifyRequest } from 'fastify';
import { PreconditionFailed } from './errors';

/** The strong entity tag of a resource's version. */
export function etag(version: number): string {
  return `"${version}"`;
}

/**
 * The version that a write may start from, from `If-Match`; undefined when there is none or it is `*`. Of a list, the
 * current version is the one that counts, so the caller tells it when it knows it.
 * @throws PreconditionFailed when no tag of the header can match: weak tags and tags that are no versions never do.
 */
export function ifMatch(request: FastifyRequest, current?: number): number | undefined {
  const header = request.headers['if-match'];
  if (header === undefined) return undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  if (tags.includes('*')) return undefined;
  const versions = tags.flatMap((tag) => {
    const match = /^"(\d{1,15})"$/.exec(tag);
    return match ? [Number(match[1])] : [];
  });
  if (current !== undefined && versions.includes(current)) return current;
  const newest = Math.max(...versions);
  if (!Number.isFinite(newest) || current !== undefined) throw new PreconditionFailed();
  return newest;
}
