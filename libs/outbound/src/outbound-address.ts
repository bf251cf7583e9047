import { type IPv4, type IPv6, isValid, isValidCIDR, parse, parseCIDR } from 'ipaddr.js';

type Address = IPv4 | IPv6;
/** A block of addresses in CIDR notation, parsed. */
export type AddressBlock = readonly [Address, number];

/** A public address that answers only virtual machines, with their metadata. */
const METADATA = new Set(['168.63.129.16']);
const GLOBAL_UNICAST: AddressBlock = parseCIDR('2000::/3');
const NAT64: AddressBlock = parseCIDR('64:ff9b::/96');

/**
 * Returns whether an IP address belongs to the public internet: it is not private, loopback, link-local, shared,
 * multicast, reserved or a metadata service, and no form of an IPv4 address (mapped, compatible, 6to4, Teredo). The one
 * exception is the prefix of NAT64, which IPv6-only networks use for every IPv4 host: there, the address inside
 * decides.
 */
export function isPublicAddress(text: string): boolean {
  if (!isValid(text) || text.includes('%')) return false;
  const address = parse(text);
  if (address.kind() === 'ipv4') return isPublicIPv4(address as IPv4);
  if (within(address, NAT64)) return isPublicIPv4(parse(address.toByteArray().slice(12).join('.')) as IPv4);
  return address.range() === 'unicast' && within(address, GLOBAL_UNICAST);
}

/** Parses a block of addresses such as `10.1.0.0/16`; undefined when the text is none. */
export function addressBlock(text: string): AddressBlock | undefined {
  return isValidCIDR(text) ? parseCIDR(text) : undefined;
}

/** Returns whether an IP address is in a block of its own family. */
export function inBlock(text: string, block: AddressBlock): boolean {
  return isValid(text) && within(parse(text), block);
}

function isPublicIPv4(address: IPv4): boolean {
  return address.range() === 'unicast' && !METADATA.has(address.toString());
}

function within(address: Address, [network, bits]: AddressBlock): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}
