import { once } from 'node:events';
import { connect } from 'node:net';
import pino from 'pino';
import { EdgeModule, held } from '../testing/edge.controller';
import { type SampleServer, startSample } from '../testing/sample-server';

type Line = Record<string, unknown>;
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 };

let lines: Line[];
let arrived: () => void;
let server: SampleServer;

const logger = pino(
  { level: 'debug' },
  {
    write(text: string) {
      lines.push(JSON.parse(text) as Line);
      arrived();
    },
  },
);

beforeEach(() => {
  lines = [];
  arrived = () => undefined;
});
afterEach(async () => {
  held.letGo();
  await server.app.close();
});

/** The first line that is wanted, as soon as it is there. */
async function line(wanted: (line: Line) => boolean): Promise<Line> {
  for (;;) {
    const found = lines.find(wanted);
    if (found) return found;
    await new Promise<void>((resolve) => (arrived = resolve));
  }
}
const lineOf = (requestId: string) => line((one) => one.requestId === requestId && one.msg === 'request');

describe('The log of requests', () => {
  it('has one line for each, with all that an operator asks for', async () => {
    server = await startSample({ logger });
    await server.ask('/api-host/v2/deployments?limit=3&name=hunter2', {
      headers: { 'x-request-id': 'one', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    });
    expect(await lineOf('one')).toMatchObject({
      level: LEVELS.debug,
      traceId: '0af7651916cd43dd8448eb211c80319c',
      method: 'GET',
      route: '/v2/deployments',
      path: '/api-host/v2/deployments?limit=3&name=[redacted]',
      status: 200,
      ms: expect.any(Number) as number,
      address: '127.0.0.1',
      tenant: 'tenant-1',
      key: 'key-1',
    });
    expect((await lineOf('one')).bytes).toBeGreaterThan(100);
    expect(lines.filter(({ requestId }) => requestId === 'one')).toHaveLength(1);
  });

  it.each([
    ['GET', '/v2/deployments', 'debug'],
    ['DELETE', '/v2/deployments/12345678-1234-5678-1234-567812345678', 'info'],
    ['GET', '/nowhere', 'info'],
    ['GET', '/v2/broken', 'error'],
    ['GET', '/v2/broken?code=57P01', 'warn'],
  ] as const)('is as loud as the answer is bad: %s %s', async (method, path, level) => {
    server = await startSample({ logger });
    await server.ask(path, { method, headers: { 'x-request-id': 'it' } });
    expect(await lineOf('it')).toMatchObject({ level: LEVELS[level] });
  });

  it('says 499 of a client that did not wait', async () => {
    server = await startSample({ logger }, EdgeModule);
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write('GET /v2/held HTTP/1.1\r\nhost: x\r\nx-api-key: owner\r\nx-request-id: gone\r\n\r\n');
    await held.reached(1);
    socket.destroy();
    await once(socket, 'close');
    expect(await lineOf('gone')).toMatchObject({ status: 499, level: LEVELS.info });
  });

  it('counts those that were turned away instead of naming each', async () => {
    server = await startSample({ logger, edge: { rates: { key: { requests: 1, seconds: 3600 } } } });
    for (let n = 0; n < 4; n++) await server.ask('/v2/deployments', { method: 'POST' });
    const reports = () => lines.filter(({ msg }) => msg === 'Requests were turned away');
    await line(() => reports().reduce((sum, { rate }) => sum + Number(rate), 0) === 3);
    expect(reports()[0]).toMatchObject({ level: LEVELS.warn, capacity: 0 });
    expect(lines.filter((one) => one.turnedAway === 'rate').map(({ level }) => level)).toEqual([20, 20, 20]);
  });

  it('holds no secret of a header, a query, a body, a path or an error', async () => {
    server = await startSample({ logger });
    const canary = (place: string) => `canary-${place}-5ecre7`;
    const headers = {
      'x-reason': canary('reason'),
      cookie: canary('cookie'),
      'idempotency-key': canary('idempotency'),
      'content-type': 'application/json',
    };
    const bodies = [
      JSON.stringify({ secrets: [{ name: 'A', value: canary('value') }] }),
      JSON.stringify({ revision_source: canary('source'), secrets: [{ name: canary('name') }] }),
      `{"${canary('broken')}`,
    ];
    for (const key of ['owner', canary('key')]) {
      for (const body of bodies) {
        await server.ask(`/v2/deployments?token=${canary('query')}`, { method: 'POST', body, headers }, key);
      }
      await server.ask(`/v2/deployments`, { headers: { authorization: `Bearer ${canary('bearer')}` } }, '');
      await server.ask(`/v2/deployments?limit=${canary('limit')}&${canary('parameter')}`, { headers }, key);
    }
    await server.ask('/api-key/fl_canary5ecre7canary5ecre7canary5ecre7', {
      headers: { 'x-request-id': 'last' },
    });
    await lineOf('last');
    expect(lines.length).toBeGreaterThan(10);
    expect(JSON.stringify(lines)).not.toMatch(/canary/);
  });
});
