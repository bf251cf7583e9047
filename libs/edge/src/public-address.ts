import { isIP } from 'node:net';
import type { CommandContext } from '@fairlead/api';
import { BadRequest } from '@fairlead/schema';
import { parseUrl } from '@fairlead/schema';

const MAPPED_IPV4 = /^::ffff:/i;

/**
 * Returns where clients reach this service, without a path: the setting `PUBLIC_URL`, or else the host of the request. Anybody can
 * write any name into the header `Host`, so without the setting it counts only when it is this machine's loopback, or
 * the address at which the request arrived.
 * @throws BadRequest for any other host: the answer names the setting.
 */
export function publicAddress(
  { origin, localAddress }: Pick<CommandContext, 'origin' | 'localAddress'>,
  publicUrl: string | undefined,
): string {
  if (publicUrl !== undefined) return publicUrl;
  const host = parseUrl(origin)?.hostname.replace(/^\[|\]$/g, '');
  if (host === undefined) throw new BadRequest('The header Host names no host: set PUBLIC_URL.');
  if (isLoopback(host) || host === localAddress?.replace(MAPPED_IPV4, '')) return origin;
  throw new BadRequest(
    'The header Host names neither localhost nor the address at which the request arrived: set PUBLIC_URL to the address of the service.',
  );
}

function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host === 'localhost' || host.endsWith('.localhost');
}
