import { createHmac } from 'node:crypto';
import { Unprocessable } from '@fairlead/schema';
import type { Webhook } from './webhook';

const MASK = '********';
const MASKED = /^https?:\/\/[^/]+\/\*{8}/i;
const DIGITS = 8;
/** Shorter parts of an address are words such as `hooks`, which answers of a target may hold. */
const SHORTEST_TOKEN = 8;

/**
 * Returns the address of a webhook as answers show it: path and query, which let everybody send who knows them, become
 * a mask with a digest. The digest has a key that no answer shows, so that nobody can try addresses against it. An
 * address without path and query is shown as it is.
 */
export function maskedUrl({ url, secret }: Pick<Webhook, 'url' | 'secret'>): string {
  const { origin, pathname, search } = new URL(url);
  if (pathname === '/' && search === '') return url;
  return `${origin}/${MASK}${createHmac('sha256', secret.sealed).update(url).digest('hex').slice(0, DIGITS)}`;
}

/**
 * Returns a change without the masked address that a client has read and sends back.
 * @throws Unprocessable for the masked form of another address
 */
export function unmasked<Sent extends { readonly url?: string }>(sent: Sent, webhook?: Webhook): Sent {
  if (sent.url === undefined || !MASKED.test(sent.url)) return sent;
  if (webhook && sent.url === maskedUrl(webhook)) return { ...sent, url: undefined };
  throw Unprocessable.at(['body', 'url'], 'this is the masked form of an address; send the address itself');
}

/** Returns a text of a target without the parts of its address that are masked in answers. */
export function withoutUrl(text: string, url: string): string {
  const { pathname, search, searchParams } = new URL(url);
  const query = search.slice(1);
  const parts = [pathname + search, pathname, ...pathname.split('/'), query, ...query.split(/[&=]/)];
  parts.push(...searchParams.keys(), ...searchParams.values());
  const tokens = [...parts, ...parts.map(decoded)].filter(({ length }) => length >= SHORTEST_TOKEN);
  // A shorter one may be a part of a longer one, whose rest would stay.
  tokens.sort((one, other) => other.length - one.length);
  return tokens.reduce((rest, token) => rest.replaceAll(token, MASK), text);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
