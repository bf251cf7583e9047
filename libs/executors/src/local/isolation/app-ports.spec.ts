import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LocalApps } from '../local-apps';

const run = promisify(execFile);
const works = process.getuid?.() === 0 && spawnSync('nft', ['list', 'tables']).status === 0;
const reason = works ? '' : ' (skipped: it takes root and nftables)';

/** It listens at every address of the machine. */
const SERVER = `require('node:http').createServer((_, response) => response.end('open')).listen(process.env.PORT);`;
const NOBODY = 65_534;
const rules = () => spawnSync('nft', ['list', 'ruleset'], { encoding: 'utf8' }).stdout;

/** Answer, or error code, that a program of another user gets at an address. */
async function found(url: string, uid: number): Promise<string> {
  const look = `fetch('${url}').then((answer) => answer.text(), (error) => error.cause.code).then(console.log)`;
  const { stdout } = await run(process.execPath, ['-e', look], { uid, gid: uid, env: {}, cwd: '/' });
  return stdout.trim();
}

(works ? it : it.skip)(`a port is open to the server and to its own program only${reason}`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-ports-'));
  chmodSync(folder, 0o711);
  const apps = new LocalApps(join(folder, 'apps'));
  const recipe = { build: [], folder: '.', start: 'exec node server.js', langgraph: false };
  const revision = { deploymentId: 'one', tenantId: 'tenant', name: 'agent', revisionId: 'a', build: 'a', recipe };
  const { closed } = apps.begin(
    async () => ({ revision, secrets: new Map() }),
    async () => undefined,
    () => undefined,
  );
  try {
    expect(closed).toBe(true);
    writeFileSync(join(await apps.folders.of('one').emptyBuild('a'), 'server.js'), SERVER);
    await apps.activate({ revision, secrets: new Map() }, new AbortController().signal);
    const { port, end } = await apps.runners.enter('one');
    const own = apps.folders.of('one').user!.uid;
    const rule = `${port} . ${own}`;
    expect(rules()).toContain(rule);
    const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    const outer = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    for (const host of ['127.0.0.1', ...(outer === undefined ? [] : [outer])]) {
      const url = `http://${host}:${port}`;
      expect([host, await found(url, 0), await found(url, own)]).toEqual([host, 'open', 'open']);
      expect([host, await found(url, NOBODY), await found(url, own + 1)]).toEqual([
        host,
        'ECONNREFUSED',
        'ECONNREFUSED',
      ]);
    }
    end();
    await apps.end();
    expect(rules()).not.toContain(rule);
  } finally {
    await apps.end();
    rmSync(folder, { recursive: true, force: true });
  }
});
