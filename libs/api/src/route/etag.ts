import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isNamed } from './asset';
import { PreconditionFailed } from '@fairlead/schema';

/** Returns the strong entity tag of a version. */
export function etag(version: number): string {
  return `"${version}"`;
}

/**
 * Returns the version that a write may start from, from `If-Match`; undefined when the header is absent or `*`. If the
 * header lists several versions, the `current` one counts when it is given, otherwise the newest.
 * @throws PreconditionFailed when no tag of the header can match. Weak tags, and tags that are no versions, never
 * match.
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

/** Tags of bytes, which several requests may share: a list that many ask for at the same time is hashed once. */
const tags = new WeakMap<Uint8Array, string>();

/**
 * Returns an answer with a weak entity tag of its content, or sets the status 304 and returns nothing when the client
 * has that content already (`If-None-Match`). For reads whose content changes by itself: the tag is never good for
 * `If-Match`.
 */
export function unlessKnown<T>(reply: FastifyReply, answer: T): T | undefined {
  const tag =
    answer instanceof Uint8Array
      ? tagOfBytes(answer)
      : tagOf(typeof answer === 'string' ? answer : JSON.stringify(answer));
  void reply.header('etag', `W/${tag}`);
  if (!isNamed(reply.request.headers['if-none-match'], tag)) return answer;
  void reply.code(304).removeHeader('content-type');
  return undefined;
}

function tagOfBytes(bytes: Uint8Array): string {
  const known = tags.get(bytes);
  if (known !== undefined) return known;
  const tag = tagOf(bytes);
  tags.set(bytes, tag);
  return tag;
}

function tagOf(content: string | Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
}
