import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Registry } from 'prom-client';
import type { ServerOptions } from '.';
import { EdgeModule, held } from './testing/edge.controller';
import { type SampleServer, startSample } from './testing/sample-server';

let server: SampleServer;
let sockets: Socket[];
beforeEach(() => (sockets = []));
afterEach(async () => {
  held.letGo();
  for (const socket of sockets) socket.destroy();
  await server.app.close();
});

/** Connections that are ready to be taken at the same time. */
async function come(count: number): Promise<Socket[]> {
  const { port } = new URL(server.url);
  const all = Array.from({ length: count }, () => connect(Number(port), '127.0.0.1').on('error', () => undefined));
  sockets.push(...all);
  await Promise.all(all.map((socket) => once(socket, 'connect')));
  return all;
}

/** The most connections that were taken in one turn of the event loop while so many came. */
async function takenAtOnce(count: number): Promise<number> {
  let [taken, inTurn, most] = [0, 0, 0];
  const take = () => {
    taken++;
    most = Math.max(most, ++inTurn);
  };
  server.app.getHttpServer().on('connection', take);
  const coming = come(count);
  while (taken < count) {
    await new Promise(setImmediate);
    inTurn = 0;
  }
  server.app.getHttpServer().off('connection', take);
  for (const socket of await coming) socket.destroy();
  return most;
}

async function start(doors: number | undefined, options: Partial<ServerOptions> = {}): Promise<void> {
  server = await startSample({ doors, ...options }, EdgeModule);
  if (doors === undefined) return;
  // They are opened a little later than it listens.
  while ((await takenAtOnce(20)) === 1) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function connections(): Promise<number> {
  const answer = await fetch(`${server.url}/metrics`, { headers: { connection: 'close' } }).catch(() => undefined);
  return Number(/^fairlead_http_connections (\d+)$/m.exec((await answer?.text()) ?? '')?.[1]);
}

/** Opens connections; resolves when the server has closed so many of them. */
async function closedOf(count: number, closing: number): Promise<void> {
  let closed = 0;
  for (const socket of await come(count)) socket.resume().once('close', () => closed++);
  while (closed < closing) await new Promise(setImmediate);
}

/** Resolves when nobody can connect any more. */
async function refused(): Promise<void> {
  const isTaken = () =>
    come(1).then(
      () => true,
      () => false,
    );
  while (await isTaken()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const HELD = 'GET /v2/held HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\nconnection: close\r\n\r\n';

describe('Connections', () => {
  it('are taken one in a turn of the event loop by a server with one door', async () => {
    await start(undefined);
    expect(await takenAtOnce(20)).toBe(1);
  });

  it('are taken several at a time where there are more doors, and counted', async () => {
    await start(7, { metrics: { registry: new Registry() } });
    expect(server.lines).toEqual([]);
    while ((await connections()) !== 1);
    await come(20);
    while ((await connections()) !== 21);
  });

  it('beyond the most there may be are closed, whichever door they come to', async () => {
    // Connections of a gateway have no shares.
    await start(7, { edge: { connections: 50 }, metrics: { registry: new Registry() }, behindGateway: true });
    while ((await connections()) !== 1);
    await closedOf(60, 10);
    for (const socket of sockets.filter(({ destroyed }) => !destroyed)) socket.write(HELD);
    await held.reached(50);
    for (const socket of sockets) socket.destroy();
    while ((await server.ask('/v2/open').catch(() => undefined))?.status !== 200);
  });

  it('beyond the share of this machine are closed, and those with a key stay, whichever door they come to', async () => {
    await start(7, { edge: { connections: 50 }, metrics: { registry: new Registry() } });
    while ((await connections()) !== 1);
    const known = await come(20);
    for (const socket of known) socket.write(HELD);
    await held.reached(20);
    await closedOf(60, 35);
    const answers = known.map(async (socket) => String(await once(socket.setEncoding('utf8'), 'data')));
    held.letGo();
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('are refused once the server closes, also while doors are being opened', async () => {
    server = await startSample({ doors: 7 }, EdgeModule);
    await server.app.close();
    await refused();
  });

  it('have their answers while the server closes, which takes no more', async () => {
    await start(7);
    const answers = (await come(20)).map(async (socket) => {
      socket.setEncoding('utf8').write(HELD);
      return String(await once(socket, 'data'));
    });
    await held.reached(20);
    const closed = server.app.close();
    await refused();
    held.letGo();
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    await closed;
  });
});
