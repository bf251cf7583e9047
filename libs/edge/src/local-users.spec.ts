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

/** Holds as many unfinished requests as it can, and asks anew where one is closed. Tells how many were open at most. */
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
  socket.on('error', () => undefined);
  socket.once('close', () => { open--; setTimeout(attack, 5000); });
};
for (let n = 0; n < Number(count); n++) setTimeout(attack, n / 10);
`;

async function flood(host: string, port: number, count: number): Promise<ChildProcess> {
  const words = ['-e', FLOOD, host, String(port), String(count)];
  const child = spawn(process.execPath, words, { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'inherit'] });
  await once(createInterface({ input: child.stdout }), 'line');
  return child;
}

describe(`Unfinished requests of ${isRoot ? 'another' : 'the same'} user of this machine`, () => {
  const test = process.platform === 'linux' ? it : it.skip;
  let attacker: ChildProcess | undefined;
  let server: SampleServer | undefined;
  afterEach(async () => {
    attacker?.kill('SIGKILL');
    await server?.app.close();
    attacker = server = undefined;
  });

  test('as many as the server has connections keep nobody else from its answers, and are told in the log', async () => {
    server = await startSample({ doors: 4 });
    attacker = await flood('127.0.0.1', Number(new URL(server.url).port), 10_000);
    for (let count = 0; count < 10; count++) {
      expect((await server.ask('/v2/deployments', { headers: { connection: 'close' } })).status).toBe(200);
      expect((await server.ask('/api/v1/info', { headers: { connection: 'close' } }, '')).status).toBe(200);
    }
    const { lines } = server;
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
    await once(tcp.listen(0, host), 'listening');
    attacker = await flood(host, (tcp.address() as AddressInfo).port, 100);
    await until(async () => sockets.size <= 30);
    attacker.kill('SIGKILL');
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => tcp.close(resolve));
  });
});
