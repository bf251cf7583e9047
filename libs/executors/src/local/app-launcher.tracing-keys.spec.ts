import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProgramKeys } from '@fairlead/api';
import { LocalApps } from './local-apps';

const SERVER = `
require('node:http').createServer((_, response) => response.end(process.env.LANGSMITH_API_KEY))
  .listen(process.env.PORT, '127.0.0.1');`;

it('a program that has proved itself on an empty folder has a key that is valid', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-keys-'));
  chmodSync(folder, 0o711);
  const apps = new LocalApps(join(folder, 'apps'));
  const keys = new ProgramKeys();
  const issue = () => {
    const key = keys.issue({ keyId: 'one', tenantId: 'tenant', project: 'agent' });
    return { key, revoke: () => keys.revoke(key) };
  };
  const tracing = async () => ({ address: 'http://127.0.0.1:1', project: 'agent', issue });
  apps.begin(
    async () => undefined,
    tracing,
    () => undefined,
  );
  const recipe = { folder: '.', start: 'exec node server.js', health: '/ok', langgraph: true };
  const keyOf = async (build: string) => {
    writeFileSync(join(await apps.folders.of('one').emptyBuild(build), 'server.js'), SERVER);
    const revision = { deploymentId: 'one', tenantId: 'tenant', name: 'agent', revisionId: build, build, recipe };
    await apps.activate({ revision, secrets: new Map() }, new AbortController().signal);
    const { port, end } = await apps.runners.enter('one');
    const key = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    end();
    return key;
  };
  try {
    const first = await keyOf('first');
    expect(keys.find(first)).toMatchObject({ project: 'agent' });
    const second = await keyOf('second');
    expect(keys.find(second)).toMatchObject({ project: 'agent' });
    expect(keys.find(first)).toBeUndefined();
  } finally {
    await apps.end();
    rmSync(folder, { recursive: true, force: true });
  }
});
