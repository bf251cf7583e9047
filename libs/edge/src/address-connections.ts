import { BlockList, isIPv6, type Server, type Socket } from 'node:net';
import { clientNetwork } from './client-address';
import type { EdgeSettings } from './edge-settings';

/** Address blocks by the names that TRUST_PROXY accepts. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * Closes connections of a client network beyond its limit. This machine and the proxies in front are exempt, because
 * they connect for many clients. When only the number of proxies is known, all connections come from proxies, and none
 * is limited.
 */
export function limitConnections(
  server: Server,
  { connectionsPerAddress: most, trustProxy }: Pick<EdgeSettings, 'connectionsPerAddress' | 'trustProxy'>,
): void {
  if (typeof trustProxy === 'number') return;
  const exempt = blockList(['loopback', ...(trustProxy ?? [])]);
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    // It is gone already.
    if (address === undefined || exempt.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return;
    const network = clientNetwork(address);
    const count = (counts.get(network) ?? 0) + 1;
    if (count > most) {
      socket.destroy();
      return;
    }
    counts.set(network, count);
    socket.once('close', () => {
      const left = counts.get(network)! - 1;
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    });
  });
}

function blockList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries.flatMap((name) => NAMED[name] ?? [name])) {
    const [address = '', bits] = entry.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}
