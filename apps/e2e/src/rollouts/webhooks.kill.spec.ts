import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { until } from '@fairlead/postgres/testing';
import { newDeployment } from '../testing/fuzz/good-bodies';
import { Home, killed, type Service } from '../testing/home';

const ROUNDS = ['the server', 'the server and PostgreSQL', 'the server'] as const;
/** Messages that are answered in a round; those behind them are still without an answer at the kill. */
const ANSWERED = 3;

let home: Home;
let service: Service;
let receiver: Server;
let messages: { headers: IncomingHttpHeaders; text: string }[];
let left: number;
beforeAll(async () => {
  home = new Home();
  messages = [];
  left = Infinity;
  receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      messages.push({ headers: request.headers, text: Buffer.concat(chunks).toString() });
      if (left-- > 0) response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await home.end();
  receiver.closeAllConnections();
  receiver.close();
});

async function ask(method: string, path: string, body?: object) {
  const response = await fetch(service.url + path, {
    method,
    headers: { 'x-api-key': home.key(), 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

const start = () => home.start({ OUTBOUND_ALLOW: '127.0.0.1' });

it('loses no message when it is killed while it sends, and sends again in the same words under the same id', async () => {
  service = await start();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const { id, secret } = await ask('POST', '/v1/webhooks', { url, event_types: ['deployment.created'] });
  const made: string[] = [];
  for (const victims of ROUNDS) {
    const before = messages.length;
    left = ANSWERED;
    for (let n = 0; n < 8; n++)
      made.push((await ask('POST', '/v2/deployments', newDeployment(`made-${made.length}`))).id);
    await until(() => messages.length > before + ANSWERED);
    const postmaster = home.postgresPid();
    if (victims === 'the server and PostgreSQL') process.kill(postmaster, 'SIGKILL');
    await killed(service.process);
    receiver.closeAllConnections();
    service = await start();
  }
  left = Infinity;
  await until(async () => {
    const { resources } = await ask('GET', `/v1/webhooks/${id}/deliveries?status=delivered&limit=100`);
    return resources.length === made.length;
  });

  const texts = new Map<string, Set<string>>();
  for (const { headers, text } of messages) {
    const { data } = new Webhook(secret).verify(text, headers as Record<string, string>) as {
      data: { deployment_id: string };
    };
    const { deployment_id } = data;
    texts.set(deployment_id, (texts.get(deployment_id) ?? new Set()).add(`${String(headers['webhook-id'])} ${text}`));
  }
  expect([...texts.keys()].sort()).toEqual(made.sort());
  expect([...texts.values()].filter(({ size }) => size > 1)).toEqual([]);
  expect(messages.length).toBeGreaterThan(made.length);
});
