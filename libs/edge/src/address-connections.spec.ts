import { EventEmitter } from 'node:events';
import { Server, Socket } from 'node:net';
import { ConnectionShares } from './address-connections';
import type { EdgeSettings } from './edge-settings';

/** Lets a connection of an address come to the server. */
function come(server: Server, address: string): Socket {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
  server.emit('connection', socket);
  return socket;
}

const quiet = { warn: () => undefined };

function limited(trustProxy?: EdgeSettings['trustProxy']): Server {
  const server = new EventEmitter() as Server;
  new ConnectionShares(server, { connections: 1000, connectionsPerAddress: 3, trustProxy }, quiet);
  return server;
}

/** Number of connections that stay open, out of ten from an address. */
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

describe('A server with 100 connections', () => {
  let server: Server;
  let shares: ConnectionShares;
  let addresses = 0;
  beforeEach(() => {
    server = new EventEmitter() as Server;
    shares = new ConnectionShares(server, { connections: 100, connectionsPerAddress: 20 }, quiet);
  });

  const next = () => `198.51.${++addresses >> 8}.${addresses & 255}`;
  const flood = (count: number, address = next) => Array.from({ length: count }, () => come(server, address()));
  const open = (sockets: Socket[]) => sockets.filter(({ destroyed }) => !destroyed).length;

  it('keeps connections that have shown a key, and takes new ones, in a flood from many addresses', async () => {
    const known = flood(20);
    for (const socket of known) shares.show(socket, 'workspace');
    const strangers = flood(1000);
    expect([open(known), open(strangers)]).toEqual([20, 75]);
    const late = come(server, next());
    shares.show(late, 'workspace');
    flood(1000);
    expect(late.destroyed).toBe(false);
  });

  it('leaves half of those without a key to others than this machine', () => {
    const own = flood(1000, () => '127.0.0.1');
    expect([open(own), open(flood(25)), open(own)]).toEqual([50, 25, 50]);
  });

  it('leaves half to others than one workspace, whose connection that was unused for longest gives way', () => {
    const own = flood(50);
    for (const socket of [...own, own[0]!]) shares.show(socket, 'workspace');
    shares.show(flood(1)[0]!, 'workspace');
    expect([own[0]!.destroyed, own[1]!.destroyed, open(own)]).toEqual([false, true, 49]);
    const other = flood(30);
    for (const socket of other) shares.show(socket, 'other');
    expect([open(own), open(other)]).toEqual([49, 30]);
  });

  it('is full of connections with a key only for the workspace that has most of them', () => {
    const workspaces = ['a', 'b', 'c'].map((workspace) => {
      const sockets = flood(workspace === 'a' ? 45 : 25);
      for (const socket of sockets) shares.show(socket, workspace);
      return sockets;
    });
    const newest = flood(1)[0]!;
    expect(newest.destroyed).toBe(false);
    expect(workspaces.map(open)[0]).toBeLessThan(45);
    expect(workspaces.map(open).slice(1)).toEqual([25, 25]);
  });
});
