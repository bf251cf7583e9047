import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { LocalApps } from '../local-apps';
import { requireOwner, untilReady } from './readiness.client';

const own = process.getuid?.() ?? 0;
const NOBODY = 65_534;
const SHOWN = process.platform === 'linux';
const notShown = SHOWN ? '' : ' (skipped: only Linux shows who listens)';
const notRoot = SHOWN && own === 0 ? '' : ' (skipped: it takes root and Linux)';

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

(notShown ? it.skip : it)(`a port is ready only while nobody but its owner listens there${notShown}`, async () => {
  for (const host of ['127.0.0.1', '0.0.0.0', '::']) {
    const server = createServer((_, response) => response.end()).listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ready = (owner: number) => untilReady(port, '/', new AbortController().signal, () => true, owner);
    await ready(own);
    await expect(ready(own + 1)).rejects.toThrow(
      `Port ${port} was given to the program, but a program of another user`,
    );
    // The system shows that somebody listens, but nobody at this port.
    expect(requireOwner(1, own)).toBe(false);
    expect(requireOwner(port, undefined)).toBe(true);
    server.closeAllConnections();
    server.close();
  }
});

/** The first process of it never listens. */
const SERVER = `
const fs = require('node:fs'), folder = process.env.DATA_DIR + '/', { PORT } = process.env;
const isFirst = fs.readdirSync(folder).length === 0;
fs.writeFileSync(folder + PORT, '');
if (isFirst) setInterval(() => undefined, 1000);
else require('node:http').createServer((_, response) => response.end('own')).listen(PORT, '127.0.0.1');`;
const SQUATTER = `require('node:http').createServer((_, response) => response.end('foreign')).listen(process.argv[1])`;

(notRoot ? it.skip : it)(
  `a program is started at another port when a program of another user takes its own${notRoot}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'fairlead-squatter-'));
    chmodSync(folder, 0o711);
    const apps = new LocalApps(join(folder, 'apps'));
    const recipe = { folder: '.', start: 'exec node server.js', health: '/', langgraph: false };
    const revision = { deploymentId: 'one', tenantId: 'tenant', name: 'agent', revisionId: 'a', build: 'a', recipe };
    const chosen = { revision, secrets: new Map<string, string>() };
    apps.begin(
      async () => chosen,
      async () => undefined,
      () => undefined,
    );
    const stop = new AbortController();
    try {
      writeFileSync(join(await apps.folders.of('one').emptyBuild('a'), 'server.js'), SERVER);
      const data = join(apps.folders.of('one').path, 'data');
      const activated = apps.activate(chosen, stop.signal);
      activated.catch(() => undefined);
      const [given] = await until(
        async () => readdirSync(data),
        ({ length }) => length > 0,
      );
      const squatter = spawn(process.execPath, ['-e', SQUATTER, given!], {
        ...{ uid: NOBODY, gid: NOBODY, env: {}, cwd: '/', stdio: 'ignore', signal: stop.signal },
      });
      squatter.on('error', () => undefined);
      await activated;
      const { port, end } = await apps.runners.enter('one');
      expect(String(port)).not.toBe(given);
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('own');
      end();
    } finally {
      stop.abort();
      await apps.end();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
