import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { until } from '@fairlead/postgres/testing';
import { RunsGateways } from './runs-gateways.client';

const linux = process.platform === 'linux' ? it : it.skip;

linux('takes requests of containers with the key of a program, and closes with the last container', async () => {
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const { cookie, authorization } = headers;
    void text(request).then((body) =>
      response.writeHead(202).end(JSON.stringify({ method, url, body, cookie, authorization })),
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const gateways = new RunsGateways();
  const network = { name: 'one', subnet: '127.0.0.0/8', gateway: '127.0.0.1' };
  const [one, two] = [
    await gateways.use(network, `http://127.0.0.1:${port}`),
    await gateways.use(network, `http://127.0.0.1:${port}`),
  ];
  const ask = async (headers: Record<string, string>, localAddress = '127.0.0.2') => {
    const asked = send(`${one.address}/runs?a=b`, { method: 'POST', localAddress, agent: false, headers });
    const [answer] = await once(asked.end('run'), 'response');
    return { status: answer.statusCode, body: await text(answer) };
  };
  try {
    expect(two.address).toBe(one.address);
    await Promise.all([one.listen(), two.listen()]);
    const { status, body } = await ask({ 'x-api-key': 'fp_one', cookie: 'a=b', authorization: 'Bearer other' });
    expect([status, JSON.parse(body)]).toEqual([202, { method: 'POST', url: '/runs?a=b', body: 'run' }]);
    expect(await ask({ 'x-api-key': 'another' })).toMatchObject({ status: 403 });
    expect(await ask({ authorization: 'Bearer fp_one' })).toMatchObject({ status: 403 });
    // It is this machine, and no container of the network.
    await expect(ask({ 'x-api-key': 'fp_one' }, '127.0.0.1')).rejects.toThrow('socket hang up');
    // Connections of one container do not keep another one out.
    const { hostname, port: door } = new URL(one.address);
    const flood = Array.from({ length: 100 }, () =>
      connect({ host: hostname, port: +door, localAddress: '127.0.0.3' }),
    );
    await Promise.all(flood.map((socket) => once(socket, 'connect')));
    await expect(ask({ 'x-api-key': 'fp_one' }, '127.0.0.3')).rejects.toThrow(/socket hang up|ECONNRESET|EPIPE/);
    expect(await ask({ 'x-api-key': 'fp_one' })).toMatchObject({ status: 202 });
    for (const socket of flood) socket.destroy();
    const again = () => ask({ 'x-api-key': 'fp_one' }, '127.0.0.3').catch(() => undefined);
    expect(await until(again, (answer) => answer?.status === 202)).toMatchObject({ status: 202 });
    one.end();
    expect(await ask({ 'x-api-key': 'fp_one' })).toMatchObject({ status: 202 });
    two.end();
    await expect(ask({ 'x-api-key': 'fp_one' })).rejects.toThrow('ECONNREFUSED');
  } finally {
    server.close();
  }
});
