import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { until } from '@fairlead/postgres/testing';
import { KafkaConnections } from './connections';

const [JOIN_GROUP, API_VERSIONS, OTHER] = [11, 18, 3];
const PATIENCE_MS = 50;

describe('Connections to Kafka', () => {
  let server: Server;
  let connections: KafkaConnections;
  let opened: Socket[];
  /** What the broker does with a request. */
  let deal: (api: number, answer: () => void) => void;
  let probes: number;

  beforeEach(async () => {
    opened = [];
    probes = 0;
    connections = new KafkaConnections({ patience: PATIENCE_MS, probe: 200, pause: 10 });
    server = createServer((socket) => {
      opened.push(socket);
      socket.on('error', () => undefined);
      socket.on('data', (data) => {
        const api = data.readInt16BE(4);
        if (api === API_VERSIONS) probes += 1;
        deal(api, () => void (socket.destroyed || socket.write('answer')));
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(async () => {
    for (const socket of opened) socket.destroy();
    server.close();
    await once(server, 'close');
  });

  async function connect(): Promise<Socket> {
    const { port } = server.address() as AddressInfo;
    const options = { host: '127.0.0.1', port, ssl: undefined as never };
    const socket = await new Promise<Socket>((resolve) => {
      const made = connections.open({ ...options, onConnect: () => resolve(made) });
    });
    return socket.on('error', () => undefined);
  }

  function ask(socket: Socket, api: number): void {
    socket.write(Buffer.from([0, 0, 0, 4, 0, api, 0, 0]), 'binary');
  }

  /** Asks on a connection of its own; whether there was an answer. */
  async function answered(api: number): Promise<boolean> {
    const socket = await connect();
    ask(socket, api);
    return new Promise((settle) => {
      socket.once('data', () => settle(true));
      void closed(socket).then(() => settle(false));
    });
  }

  it('end when they are dead, and what is idle with them', async () => {
    deal = (api, answer) => api === API_VERSIONS && answer();
    const [idle, dead] = [await connect(), await connect()];
    const ended = [closed(idle), closed(dead)];
    ask(dead, OTHER);
    await Promise.all(ended);
    expect(await answered(API_VERSIONS)).toBe(true);
  });

  it('stay while the broker answers nobody, and end once it does', async () => {
    let silent = true;
    deal = (api, answer) => !silent && api === API_VERSIONS && answer();
    const dead = await connect();
    ask(dead, OTHER);
    await until(() => probes >= 3);
    expect(dead.destroyed).toBe(false);
    silent = false;
    await closed(dead);
  });

  it('stay when the answer comes before that to a new one', async () => {
    let late: (() => void) | undefined;
    deal = (api, answer) => {
      if (api === OTHER) return void (late = answer);
      if (probes < 2) return;
      late?.();
      late = undefined;
      setTimeout(answer, PATIENCE_MS / 2);
    };
    expect(await answered(OTHER)).toBe(true);
  });

  it('are given longer by a broker that needs longer, but not for ever', async () => {
    deal = (api, answer) => setTimeout(answer, api === API_VERSIONS ? 0 : 6 * PATIENCE_MS);
    while (!(await answered(OTHER)));
    expect(await answered(OTHER)).toBe(true);
    deal = (api, answer) => api === API_VERSIONS && answer();
    expect(await answered(OTHER)).toBe(false);
  });

  it('stay while a member of a group waits for the others', async () => {
    deal = (api, answer) => setTimeout(answer, api === API_VERSIONS ? 0 : 6 * PATIENCE_MS);
    expect(await answered(JOIN_GROUP)).toBe(true);
  });
});

/** Unlike `once`, whatever the reason. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
