import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Pool } from 'pg';
import { testServer } from '../testing';
import { watchedClient } from './watched-client';

const LIMITS = { silence: 400, patience: 3000, interval: 50 };

let between: Server;
let passing: boolean;
let servers: Socket[];
let pool: Pool;

/** Stands between the pool and the server. */
beforeEach(async () => {
  passing = true;
  servers = [];
  between = createServer((client) => {
    const { port, hostname } = new URL(testServer().url);
    const server = connect(Number(port), hostname);
    servers.push(server);
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('data', (data) => passing && server.write(data)).on('close', () => server.destroy());
    server.on('data', (data) => passing && client.write(data));
  });
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve));
  const url = Object.assign(new URL(testServer().url), { port: String((between.address() as AddressInfo).port) });
  pool = new Pool({ connectionString: url.href, max: 2, Client: watchedClient(LIMITS) });
  pool.on('error', () => undefined);
});
afterEach(async () => {
  await pool.end();
  between.close();
});

it('lets a query that takes long go on', async () => {
  const { rows } = await pool.query(`select 1 as one from pg_sleep(1.5)`);
  expect(rows).toEqual([{ one: 1 }]);
});

it('fails a query whose connection the server has forgotten, and replaces idle ones that it has forgotten too', async () => {
  const both = await Promise.all([pool.connect(), pool.connect()]);
  for (const client of both) client.release();
  for (const server of servers.splice(0)) server.destroy();
  const refused = pool.query('select 1');
  await expect(refused).rejects.toMatchObject({ code: 'ECONNRESET', message: expect.stringContaining('no answer') });
  expect((await Promise.all([pool.query('select 1'), pool.query('select 1')])).length).toBe(2);
  expect(servers.length).toBeGreaterThanOrEqual(3);
});

it('replaces idle connections that died while the server could be asked nothing', async () => {
  const both = await Promise.all([pool.connect(), pool.connect()]);
  both[1].release();
  passing = false;
  await expect(both[0].query('select 1')).rejects.toMatchObject({ code: 'ECONNRESET' });
  both[0].release(true);
  for (const server of servers.splice(0)) server.destroy();
  passing = true;
  while (pool.totalCount > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

it('fails a query when the server can be asked nothing, and when its answer was lost', async () => {
  const client = await pool.connect();
  passing = false;
  await expect(client.query('select 1')).rejects.toMatchObject({ code: 'ECONNRESET' });
  client.release(true);
  passing = true;
  const second = await pool.connect();
  const slow = second.query('select 1 from pg_sleep(1)');
  await new Promise((resolve) => setTimeout(resolve, 100));
  passing = false;
  setTimeout(() => (passing = true), 2000);
  await expect(slow).rejects.toMatchObject({ code: 'ECONNRESET' });
  second.release(true);
});
