import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExecutorUnreachable, type Step } from '../../port/executor';
import { Containers } from './containers.client';

it('a pull that the engine breaks off is to be tried again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-pull-'));
  const socket = join(folder, 'engine.sock');
  const engine = createServer((request, response) => {
    if (request.url === '/_ping') return void response.end('OK');
    if (request.method !== 'POST') return void response.writeHead(404).end('{"message":"No such image"}');
    response.write('{"status":"Pulling"}\n', () => response.destroy());
  }).listen(socket);
  await once(engine, 'listening');
  const step = { signal: new AbortController().signal, log: async () => undefined } as unknown as Step;
  try {
    const pulled = new Containers(folder, [socket], false).pull('team/agent:1', 1e9, step);
    await expect(pulled).rejects.toThrow(ExecutorUnreachable);
  } finally {
    engine.closeAllConnections();
    engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
