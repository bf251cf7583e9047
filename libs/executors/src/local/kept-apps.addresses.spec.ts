import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalApps } from './local-apps';

/** Which deployment has the address that several names spell. */

const SERVER = `require('node:http').createServer((_, response) => response.end()).listen(process.env.PORT);`;

let folder: string;
let apps: LocalApps;

function begin(): void {
  apps = new LocalApps(join(folder, 'apps'), { trial: 0 });
  apps.begin(
    async () => undefined,
    async () => undefined,
    () => undefined,
  );
}
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-addresses-'));
  chmodSync(folder, 0o711);
  begin();
});
afterEach(async () => {
  await apps.end();
  rmSync(folder, { recursive: true, force: true });
});

async function deploy(id: string, name: string, tenantId = 'tenant'): Promise<void> {
  writeFileSync(join(await apps.folders.of(id).emptyBuild('build'), 'server.js'), SERVER);
  const recipe = { build: [], folder: '.', start: 'exec node server.js', langgraph: false };
  const revision = { deploymentId: id, tenantId, name, revisionId: id, build: 'build', recipe };
  await apps.activate({ revision, secrets: new Map() }, new AbortController().signal);
}

const holder = () => apps.kept.find('tenant', 'support-agent');

it('the first one has it, also after a restart of the server, and another one is reached by its id', async () => {
  await deploy('b', 'Support Agent');
  await deploy('a', 'support agent!');
  expect(holder()).toBe('b');
  expect([apps.pathOf('tenant', 'a'), apps.pathOf('tenant', 'b')]).toEqual(['/apps/a', '/apps/support-agent']);
  await apps.end();
  begin();
  expect(holder()).toBe('b');
  expect(apps.pathOf('tenant', 'a')).toBe('/apps/a');
});

it('after its holder is removed nobody has it until somebody is deployed', async () => {
  await deploy('a', 'Support Agent');
  await deploy('b', 'support agent');
  await apps.remove('a');
  expect(holder()).toBeUndefined();
  await apps.end();
  begin();
  expect(holder()).toBeUndefined();
  await apps.restart('b', new AbortController().signal);
  expect(holder()).toBeUndefined();
  await deploy('b', 'support agent');
  expect(holder()).toBe('b');
});

it('an exact name takes it when it is deployed, and no other one takes it from that', async () => {
  await deploy('a', 'Support Agent');
  await deploy('b', 'support-agent');
  expect(holder()).toBe('b');
  expect(apps.pathOf('tenant', 'a')).toBe('/apps/a');
  await deploy('a', 'Support Agent');
  expect(holder()).toBe('b');
  await deploy('c', 'support-agent', 'stranger');
  expect(holder()).toBe('b');
  expect(apps.kept.find('stranger', 'support-agent')).toBe('c');
});

it('what an earlier version has kept is found at the address that it had, an exact name first', async () => {
  await deploy('a', 'Support Agent');
  await deploy('b', 'support-agent');
  await deploy('c', 'Other');
  await apps.end();
  for (const id of ['a', 'b', 'c']) {
    apps.folders.of(id).keep({ ...apps.folders.of(id).kept()!, address: undefined });
  }
  begin();
  expect([holder(), apps.kept.find('tenant', 'other')]).toEqual(['b', 'c']);
});
