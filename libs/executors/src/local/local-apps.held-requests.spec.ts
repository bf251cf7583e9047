import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import { LocalApps } from './local-apps';

const SERVER = `
require('node:http').createServer((_, response) => response.end()).listen(process.env.PORT, '127.0.0.1');`;

it('a request waits for a restart, also when one before it does not end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-held-'));
  chmodSync(folder, 0o711);
  const apps = new LocalApps(join(folder, 'apps'), { hold: 20_000 });
  const recipe = { folder: '.', start: 'exec node server.js', langgraph: true };
  const revision = { deploymentId: 'one', tenantId: 'tenant', name: 'agent', revisionId: 'a', build: 'a', recipe };
  apps.begin(
    async () => ({ revision, secrets: new Map() }),
    async () => undefined,
    () => undefined,
  );
  try {
    writeFileSync(join(await apps.folders.of('one').emptyBuild('a'), 'server.js'), SERVER);
    await apps.activate({ revision, secrets: new Map() }, new AbortController().signal);
    const before = await apps.runners.enter('one');
    const restarted = apps.restart('one', new AbortController().signal);
    // Until the restart holds requests, they go to the program before.
    const waited = await until(async () => {
      const { port, end } = await apps.runners.enter('one');
      end();
      return port !== before.port;
    });
    expect(waited).toBe(true);
    await restarted;
  } finally {
    await apps.end();
    rmSync(folder, { recursive: true, force: true });
  }
});
