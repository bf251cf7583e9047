import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { until } from '@fairlead/postgres/testing';
import { AppSockets } from './app-sockets.client';
import { connectTo } from '../running/readiness.client';
import { FrameFollower } from './frame-follower';

const REACHED = { proto: 'http', host: 'x', prefix: '/apps/one', for: '192.0.2.1' };
const ACCEPTED = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n';
const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** A client and a program that are joined, each with the bytes that it has got as hexadecimal digits. */
class Joined {
  client!: Socket;
  program!: Socket;
  /** The connection of the client as the server has it, and its listeners before it was joined. */
  taken!: Socket;
  listeners = 0;
  close!: () => void;
  isOver = false;
  private readonly got = { client: '', program: '' };
  private readonly servers: Server[] = [];

  static async open(silent = 1_000_000): Promise<Joined> {
    const joined = new Joined();
    const program = createServer().listen(0, '127.0.0.1');
    program.on('upgrade', (_, socket: Socket) => {
      joined.program = socket;
      socket.on('error', () => undefined).write(ACCEPTED);
      socket.on('data', (bytes: Buffer) => (joined.got.program += bytes.toString('hex')));
    });
    const sockets = new AppSockets({ silent });
    const server = createServer().listen(0, '127.0.0.1');
    server.on('upgrade', (raw, socket) => {
      socket.on('error', () => undefined);
      joined.taken = socket as Socket;
      joined.listeners = socket.listenerCount('close');
      const request = { raw, url: '/apps/one/', id: 'request', headers: raw.headers } as unknown as FastifyRequest;
      const reply = { hijack: () => undefined, raw: { detachSocket: () => undefined } } as unknown as FastifyReply;
      const outlive = (close: () => void) => {
        joined.close = close;
        return () => (joined.isOver = true);
      };
      const entered = { port: 0, end: () => undefined, outlive };
      void connectTo(portOf(program)).then((to) =>
        sockets.join(request, reply, { entered, to: to!, id: 'one', tenantId: 't', kind: 'api', reached: REACHED }),
      );
    });
    joined.servers.push(program, server);
    await Promise.all(joined.servers.map((one) => once(one, 'listening')));
    joined.client = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true });
    joined.client.on('error', () => undefined);
    joined.client.write('GET /apps/one/ HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    joined.client.on('data', (bytes: Buffer) => (joined.got.client += bytes.toString('hex')));
    await joined.heard('client', '0d0a0d0a');
    // A ping may have come with the headers.
    joined.got.client = joined.got.client.slice(joined.got.client.indexOf('0d0a0d0a') + 8);
    return joined;
  }

  async heard(who: 'client' | 'program', digits: string): Promise<void> {
    await until(
      async () => this.got[who],
      (got) => got.includes(digits),
    );
  }

  async over(): Promise<void> {
    await until(async () => this.isOver);
  }

  async end(): Promise<string> {
    this.client.destroy();
    await this.over();
    for (const server of this.servers) server.close();
    return this.got.client;
  }
}

describe('A WebSocket', () => {
  let joined: Joined;
  afterEach(() => joined.end());

  it.each(['client', 'program'] as const)('ends for both when the %s has ended its half only', async (who) => {
    joined = await Joined.open();
    joined[who].end();
    await joined.over();
    await until(async () => joined.program.destroyed || joined.program.readableEnded);
  });

  it('is joined with one listener for its end, beside those that the server has for each connection', async () => {
    joined = await Joined.open();
    expect(joined.taken.listenerCount('close') - joined.listeners).toBe(1);
    joined.client.end();
    await joined.over();
    expect(joined.taken.listenerCount('close') - joined.listeners).toBeLessThanOrEqual(1);
  });

  it('is closed with the code 1012 between two frames', async () => {
    joined = await Joined.open();
    joined.program.write(Buffer.from('8103616263', 'hex'));
    await joined.heard('client', '8103616263');
    joined.close();
    await joined.heard('client', '810361626388020' + '3f4');
    await joined.over();
  });

  it('gets the rest of a frame before it is closed', async () => {
    joined = await Joined.open();
    joined.program.write(Buffer.from('81036162', 'hex'));
    await joined.heard('client', '81036162');
    joined.close();
    joined.program.write(Buffer.from('63', 'hex'));
    await joined.heard('client', '8103616263' + '880203f4');
  });

  it('ends when its client does not answer a ping', async () => {
    joined = await Joined.open(50);
    await joined.heard('client', '8900');
    await joined.over();
  });

  it('goes on while its client answers pings', async () => {
    joined = await Joined.open(500);
    joined.client.on('data', () => joined.client.write(Buffer.from('8a8000000000', 'hex')));
    await joined.heard('client', '890089008900');
    expect(joined.isOver).toBe(false);
  });
});

describe('The frames of a WebSocket', () => {
  const payload = (length: number) => '00'.repeat(length);
  it.each([
    ['8100', true],
    ['81', false],
    ['8103' + payload(3), true],
    ['8103' + payload(2), false],
    ['8183' + '11223344' + payload(3), true],
    ['8183' + '11223344' + payload(2), false],
    ['827e0100' + payload(256), true],
    ['827e0100' + payload(255), false],
    ['827f0000000000010000' + payload(65_536), true],
    ['0103' + payload(3) + '8900' + '8001ff', true],
  ])('are followed, however they are cut', (digits, isBetween) => {
    const bytes = Buffer.from(digits, 'hex');
    for (const step of [1, 2, 3, 7, bytes.length]) {
      const frames = new FrameFollower();
      for (let at = 0; at < bytes.length; at += step) frames.take(bytes.subarray(at, at + step));
      expect(frames.isBetween).toBe(isBetween);
    }
  });
});
