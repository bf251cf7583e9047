import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '@fairlead/postgres/testing';
import type { StartedRevision } from '../isolation/app-folders.store';
import { LocalApps } from '../local-apps';
import type { TakenBack } from './app-runner';

/** Programs that end, close their port or hang after they were ready. */

/** A server that answers its name and its process id, and does as the path of a request says. */
const server = (name: string) => `
const server = require('node:http').createServer((request, response) => {
  if (request.url === '/crash') { console.error('Error: no production build\\n    at line 1'); process.exit(1); }
  if (request.url === '/hang') for (;;);
  if (request.url === '/busy') { for (const end = Date.now() + 3000; Date.now() < end;); return response.end('done'); }
  if (request.url === '/close') { setInterval(() => undefined, 1000); server.close(); }
  response.end('${name} ' + process.env.PORT);
}).listen(process.env.PORT, '127.0.0.1');`;

/** Writes a line again and again. */
const chatty = (name: string) => `${server(name)}\nsetInterval(() => console.log('${name} beats'), 5);`;

/** Its first process writes again and again. The others say why they end, and end, when its data says so. */
const uneven = `${server('uneven')}
const fs = require('node:fs');
try {
  fs.writeFileSync(process.env.DATA_DIR + '/first', '', { flag: 'wx' });
  setInterval(() => console.log('it beats'), 5);
} catch {
  setInterval(() => {
    if (!fs.existsSync(process.env.DATA_DIR + '/broken')) return;
    console.error('Error: the data is broken');
    setTimeout(() => process.exit(1), 100);
  }, 50);
}`;

/** Listens, and ends at once when its data says so. */
const fragile = `${server('fragile')}
if (require('node:fs').existsSync(process.env.DATA_DIR + '/broken')) {
  setTimeout(() => { console.error('Error: the data is broken'); process.exit(1); }, 50);
}`;

let folder: string;
let apps: LocalApps;
let active: StartedRevision | undefined;
let taken: TakenBack[];
let told: string[];

function begin(limits: ConstructorParameters<typeof LocalApps>[1] = {}): void {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-trial-'));
  chmodSync(folder, 0o711);
  active = undefined;
  [taken, told] = [[], []];
  apps = new LocalApps(join(folder, 'apps'), { restart: { first: 10, most: 60_000 }, ...limits });
  apps.begin(
    async (_, wanted) => {
      const revision = wanted ?? active;
      return revision && { revision, secrets: new Map() };
    },
    async () => undefined,
    (_, status, reason) => void told.push(reason === undefined ? status : `${status} ${reason}`),
    (one) => {
      taken.push(one);
      active = one.to;
    },
  );
}
afterEach(async () => {
  await apps.end();
  rmSync(folder, { recursive: true, force: true });
});

async function deploy(name: string, { langgraph = false, text = server(name), min_scale = 1 } = {}): Promise<void> {
  writeFileSync(join(await apps.folders.of('one').emptyBuild(name), 'server.js'), text);
  const recipe = { build: [], folder: '.', start: 'exec node server.js', langgraph };
  const revision = { deploymentId: 'one', tenantId: 'tenant', name: 'agent', revisionId: name, build: name, recipe };
  const chosen = { revision, secrets: new Map<string, string>(), sizes: { min_scale } };
  await apps.activate(chosen, new AbortController().signal);
  active = revision;
}

async function ask(path = '/'): Promise<string> {
  const { port, end } = await apps.runners.enter('one');
  try {
    return await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  } catch {
    return '';
  } finally {
    end();
  }
}

const states = () => apps.runners.inspect('one').map(({ state }) => state);
const served = (name: string) => until(ask, (text) => text.startsWith(name));

describe('a program that ends soon after it was deployed', () => {
  it('gives its place back to the one before, whose process has run on', async () => {
    begin();
    await deploy('old');
    const before = await ask();
    await deploy('new');
    expect(apps.runners.inspect('one')).toMatchObject([
      { name: 'program', state: 'RUNNING', revision_id: 'new' },
      { name: 'replaced-1', state: 'STOPPING', revision_id: 'old' },
    ]);
    expect(await ask()).toMatch(/^new /);
    await ask('/crash');
    await until(() => taken.length === 1);
    // Nobody had to wait for it.
    expect(await ask()).toBe(before);
    expect(taken).toMatchObject([{ from: { revisionId: 'new' }, to: { revisionId: 'old' } }]);
    expect(taken[0]!.reason).toMatch(
      /^The program ended with exit code 1 \d+ s after it was deployed, last line: Error: no production build$/,
    );
    expect(states()).toEqual(['RUNNING']);
    expect(told).toEqual(['READY']);
    // It is no longer on trial.
    await ask('/crash');
    await served('old');
    expect(taken).toHaveLength(1);
  });

  it('says the last line of its own process, also when the one before writes on', async () => {
    begin();
    await deploy('old', { text: chatty('old') });
    await deploy('new');
    await ask('/crash');
    await until(() => taken.length === 1);
    expect(taken[0]!.reason).toMatch(/, last line: Error: no production build$/);
  });

  it.each([
    ['a LangGraph server, of which one runs at a time', { langgraph: true }, 20],
    ['a program for which there was no room beside the new one', {}, 1],
  ])('gives its place back to %s: it is started again', async (_, options, awake) => {
    begin({ awake });
    await deploy('old', options);
    await deploy('new', options);
    await served('new');
    expect(states()).toEqual(['RUNNING']);
    await ask('/crash');
    await served('old');
    expect(taken).toMatchObject([{ from: { revisionId: 'new' }, to: { revisionId: 'old' } }]);
  });

  it('gives its place back also when the one before has slept, and when one of its processes ends', async () => {
    begin({ sleepAfter: 100 });
    await deploy('old', { min_scale: 0 });
    await until(() => states().length === 0);
    await deploy('new', { min_scale: 2 });
    await ask('/crash');
    await served('old');
    expect(taken).toHaveLength(1);
  });

  it('keeps its place when it is stopped, deployed again or restarted by somebody, and when its time is over', async () => {
    begin({ trial: 300 });
    await deploy('old');
    await deploy('new');
    await until(() => states().length === 1);
    await ask('/crash');
    await served('new');
    await deploy('newer');
    await apps.stop('one');
    expect(states()).toEqual([]);
    await apps.start('one', new AbortController().signal);
    await ask('/crash');
    await served('newer');
    await deploy('newest');
    await deploy('newest');
    await ask('/crash');
    await served('newest');
    expect(taken).toEqual([]);
  });

  it('keeps its place when it is the first one', async () => {
    begin();
    await deploy('only');
    await ask('/crash');
    await served('only');
    expect(taken).toEqual([]);
  });
});

it('what was replaced makes room for other deployments, and is started again when it is to serve', async () => {
  begin({ awake: 2 });
  await deploy('old');
  await deploy('new');
  expect(states()).toEqual(['RUNNING', 'STOPPING']);
  writeFileSync(join(await apps.folders.of('two').emptyBuild('other'), 'server.js'), server('other'));
  const recipe = { build: [], folder: '.', start: 'exec node server.js', langgraph: false };
  const other = { deploymentId: 'two', tenantId: 'tenant', name: 'b', revisionId: 'other', build: 'other', recipe };
  const leave = await apps.runners.enter('one');
  await apps.activate({ revision: other, secrets: new Map() }, new AbortController().signal);
  expect(states()).toEqual(['RUNNING']);
  leave.end();
  await ask('/crash');
  await served('old');
  expect(taken).toHaveLength(1);
});

it('a deployment that is removed while what it has replaced runs on leaves no process', async () => {
  begin();
  await deploy('old');
  const [, port] = (await ask()).split(' ');
  await deploy('new');
  await apps.remove('one');
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed');
});

it('a crash loop is told once when it begins and once when it has ended', async () => {
  begin({ restart: { first: 10, most: 4000, recovered: 10_000 } });
  await deploy('fragile', { text: fragile });
  const broken = join(apps.folders.of('one').path, 'data', 'broken');
  writeFileSync(broken, '');
  await ask('/crash');
  await until(() => apps.uses()[0]!.restarts >= 5);
  expect(told[0]).toBe('READY');
  expect(told.slice(1)).toEqual([
    expect.stringMatching(/^UNKNOWN Crash looping, 3 restarts, last line: Error: the data is broken$/),
  ]);
  expect(apps.runners.inspect('one')).toMatchObject([
    {
      state: 'CRASH_LOOPING',
      reason: expect.stringMatching(/^Crash looping, \d+ restarts, last line: Error: the data is broken$/),
    },
  ]);
  rmSync(broken);
  await until(() => states()[0] === 'RUNNING');
  // It runs for a while, and crashes again: that is the same crash loop.
  writeFileSync(broken, '');
  await ask('/crash');
  await until(() => states()[0] === 'CRASH_LOOPING');
  expect(told).toHaveLength(2);
  rmSync(broken);
  await until(() => told.length > 2);
  expect(states()).toEqual(['RUNNING']);
  expect(told.slice(2)).toEqual(['READY']);
});

it('a process that crash loops has its own last line, also when another one of its program writes on', async () => {
  begin();
  await deploy('uneven', { text: uneven, min_scale: 2 });
  writeFileSync(join(apps.folders.of('one').path, 'data', 'broken'), '');
  await until(() => states().includes('CRASH_LOOPING'));
  const looping = apps.runners.inspect('one').find(({ state }) => state === 'CRASH_LOOPING');
  expect(looping!.reason).toMatch(/^Crash looping, \d+ restarts, last line: Error: the data is broken$/);
});

it('a crash loop goes on while its program sleeps and is woken, until it has run for a while', async () => {
  begin({ restart: { first: 10, most: 4000, recovered: 4000 }, sleepAfter: 100 });
  await deploy('fragile', { text: fragile, min_scale: 0 });
  const broken = join(apps.folders.of('one').path, 'data', 'broken');
  await until(() => states().length === 0);
  writeFileSync(broken, '');
  for (let times = 0; times < 3; times++) {
    const used = apps.runners.enter('one').catch(() => undefined);
    await until(() => states()[0] === 'CRASH_LOOPING');
    (await used)?.end();
    await until(() => states().length === 0);
  }
  expect(told.filter((status) => status.startsWith('UNKNOWN'))).toHaveLength(1);
  expect(told.at(-1)).toMatch(/^UNKNOWN Crash looping, 3 restarts/);
  rmSync(broken);
  const used = await apps.runners.enter('one');
  expect(states()).toEqual(['CRASH_LOOPING']);
  await until(() => states()[0] === 'RUNNING');
  expect(told.at(-1)).toBe('READY');
  used.end();
});

describe('a process that runs on and does not answer', () => {
  const looks = { every: 200, closed: 3, silent: 4, busy: 6, wait: 500 };

  it('is started again when it has closed its port, which is told', async () => {
    begin({ looks });
    await deploy('agent');
    await ask('/close');
    await until(() => states()[0] === 'UNRESPONSIVE');
    await until(() => told.length === 3);
    expect(told[1]).toMatch(/^UNKNOWN The program was ended because it had closed its port \d+ s before\.$/);
    expect(told[2]).toBe('READY');
    expect(states()).toEqual(['RUNNING']);
    await served('agent');
  });

  it.each(['/', undefined])('is started again when it hangs (health: %s)', async (health) => {
    begin({ looks });
    writeFileSync(join(await apps.folders.of('one').emptyBuild('a'), 'server.js'), server('agent'));
    const recipe = { build: [], folder: '.', start: 'exec node server.js', langgraph: false, health };
    active = { deploymentId: 'one', tenantId: 'tenant', name: 'agent', revisionId: 'a', build: 'a', recipe };
    await apps.activate({ revision: active, secrets: new Map() }, new AbortController().signal);
    await ask('/hang');
    await until(() => told.length === 3);
    expect(told[1]).toMatch(/^UNKNOWN The program was ended because it had not answered for \d+ s\.$/);
    expect(states()).toEqual(['RUNNING']);
  });

  it('is left alone while it is busy', async () => {
    begin({ looks: { ...looks, busy: 600 } });
    await deploy('agent');
    const port = (await ask()).split(' ')[1];
    expect(await ask('/busy')).toBe('done');
    expect((await ask()).split(' ')[1]).toBe(port);
    expect(told).toEqual(['READY']);
  });
});
