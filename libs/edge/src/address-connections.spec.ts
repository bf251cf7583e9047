import { EventEmitter } from 'node:events';
import { Server, Socket } from 'node:net';
import { limitConnections } from './address-connections';
import type { EdgeSettings } from './edge-settings';

/** Lets a connection of an address come to the server. */
function come(server: Server, address: string): Socket {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
  server.emit('connection', socket);
  return socket;
}

function limited(trustProxy?: EdgeSettings['trustProxy']): Server {
  const server = new EventEmitter() as Server;
  limitConnections(server, { connectionsPerAddress: 3, trustProxy });
  return server;
}

/** How many of ten connections from an address stay open. */
const stay = (server: Server, address: string) =>
  Array.from({ length: 10 }, () => come(server, address)).filter(({ destroyed }) => !destroyed).length;

describe('Connections of one address', () => {
  it('beyond the most it may have are closed, and others have theirs', () => {
    const server = limited();
    expect(['203.0.113.1', '203.0.113.2', '2001:db8::1'].map((address) => stay(server, address))).toEqual([3, 3, 3]);
    // One client has as many addresses of its IPv6 network as it likes, and one address may be written in two ways.
    expect(['2001:db8::2', '::ffff:203.0.113.1'].map((address) => stay(server, address))).toEqual([0, 0]);
    expect(stay(server, '2001:db8:0:1::1')).toBe(3);
  });

  it('may come again when others of it have ended', async () => {
    const server = limited();
    const first = come(server, '203.0.113.1');
    expect(stay(server, '203.0.113.1')).toBe(2);
    await new Promise((resolve) => first.once('close', resolve).destroy());
    expect(stay(server, '203.0.113.1')).toBe(1);
  });

  it('are not limited for this machine, nor for the proxies in front', () => {
    expect(['127.0.0.1', '127.0.0.2', '::1', '::ffff:127.0.0.1'].map((own) => stay(limited(), own))).toEqual([
      10, 10, 10, 10,
    ]);
    const named = limited(['uniquelocal', '203.0.113.0/24', '198.51.100.7']);
    const addresses = ['192.168.1.1', 'fd00::1', '203.0.113.9', '::ffff:198.51.100.7', '198.51.100.8'];
    expect(addresses.map((address) => stay(named, address))).toEqual([10, 10, 10, 10, 3]);
    expect(stay(limited(1), '203.0.113.1')).toBe(10);
  });
});
