import { type IPv6, isValid, parse } from 'ipaddr.js';

/**
 * Returns the part of an address that identifies a client in limits: the IPv4 address, or the first 64 bits of the IPv6
 * address, because one client may use all addresses of such a network.
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  if (address.startsWith('::ffff:') && address.includes('.')) return address.slice('::ffff:'.length);
  const bare = address.split('%', 1)[0]!;
  if (!isValid(bare)) return address;
  const parsed = parse(bare);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  const { parts } = parsed as IPv6;
  return `${parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
