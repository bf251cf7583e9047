import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { untilReady } from './readiness.watch';

it('the redirect of a program is its answer, and is not followed', async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    if (request.url === '/ok') response.writeHead(302, { location: '/elsewhere' });
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const statuses: number[] = [];
  await untilReady(port, '/ok', new AbortController().signal, (status) => statuses.push(status) > 0);
  server.closeAllConnections();
  server.close();
  expect(statuses).toEqual([302]);
  expect(asked).toEqual(['/ok']);
});
