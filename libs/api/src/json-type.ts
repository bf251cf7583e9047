import type { FastifyRequest } from 'fastify';

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Returns whether the body counts as JSON: its content type says so, or there is none. */
export function isJson({ headers }: FastifyRequest): boolean {
  const type = headers['content-type'];
  return type === undefined || JSON_TYPE.test(type);
}
