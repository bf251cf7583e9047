import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { until } from '@fairlead/postgres/testing';
import { ConnectionShares } from './address-connections';
import { type SampleServer, startSample } from './testing/sample-server';

/** The user of a deployment; the one of this process when it may not start processes of others. */
const USER = 1_799_000_001;
const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: USER, gid: USER } : {};

/** Holds as many unfinished requests as it can, and asks anew where one is closed. Says `all`, or `refused` when nothing is heard. */
const FLOOD = String.raw`
const net = require('node:net');
const [host, port, count] = process.argv.slice(1);
let open = 0, opened = 0;
const attack = () => {
  const socket = net.connect(Number(port), host, () => {
    open++;
    if (++opened === Number(count)) console.log('all');
    socket.write('POST /v2/deployments HTTP/1.1\r\nhost: x\r\nx-half: ');
  });
  socket.on('error', ({ code }) => opened || code !== 'ECONNREFUSED' || console.log('refused'));
  socket.once('close', () => { open--; setTimeout(attack, 5000); });
};
for (let n = 0; n < Number(count); n++) setTimeout(attack, n / 10);
`;

/** Starts the program above. */
function flood(host: string, port: number, count: number) {
  const words = ['-e', FLOOD, host, String(port), String(count)];
  return spawn(process.execPath, words, { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** First word of a flood. */
async function said(child: ReturnType<typeof flood>): Promise<string> {
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return String(line);
}

describe(`Unfinished requests of ${isRoot ? 'another' : 'the same'} user of this machine`, () => {
  const test = process.platform === 'linux' ? it : it.skip;
  let attacker: ChildProcess | undefined;
  let server: SampleServer | undefined;

  /** Floods a server. Another server may have closed the port to other users: then one with another port is flooded. */
  async function attack(host: string, count: number, listen: () => Promise<number>): Promise<void> {
    for (let tries = 0; tries < 10; tries++) {
      const child = flood(host, await listen(), count);
      attacker = child;
      if ((await said(child)) === 'all') return;
      child.kill('SIGKILL');
    }
    throw new Error('Ten ports were closed to the user of the flood.');
  }

  afterEach(async () => {
    attacker?.kill('SIGKILL');
    await server?.app.close();
    attacker = server = undefined;
  });

  test('as many as the server has connections keep nobody else from its answers, and are told in the log', async () => {
    await attack('127.0.0.1', 10_000, async () => {
      await server?.app.close();
      server = await startSample({ doors: 4 });
      return Number(new URL(server.url).port);
    });
    const { lines } = server!;
    const ask: SampleServer['ask'] = (...request) => server!.ask(...request);
    for (let count = 0; count < 10; count++) {
      expect((await ask('/v2/deployments', { headers: { connection: 'close' } })).status).toBe(200);
      expect((await ask('/api/v1/info', { headers: { connection: 'close' } }, '')).status).toBe(200);
    }
    const closed = await until(async () =>
      lines.find(({ msg, users }) => users && /^Connections were closed/.test(String(msg))),
    );
    expect(closed).toMatchObject({ users: [isRoot ? USER : process.getuid!()] });
  });

  test.each(['127.0.0.1', '::1'])('have their share of the connections to %s', async (host) => {
    const tcp = createTcpServer({ allowHalfOpen: true });
    const sockets = new Set<Socket>();
    new ConnectionShares(tcp, { connections: 10_000, connectionsPerAddress: 30 }, { warn: () => undefined });
    tcp.on('connection', (socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => sockets.delete(socket));
    });
    await attack(host, 100, async () => {
      if (tcp.listening) await new Promise((resolve) => tcp.close(resolve));
      await once(tcp.listen(0, host), 'listening');
      return (tcp.address() as AddressInfo).port;
    });
    await until(async () => sockets.size <= 30);
    attacker!.kill('SIGKILL');
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => tcp.close(resolve));
  });
});
