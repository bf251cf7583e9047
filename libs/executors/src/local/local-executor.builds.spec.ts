import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SourceArchives } from '@fairlead/contracts';
import { until } from '@fairlead/postgres/testing';
import { TestRollouts } from '@fairlead/rollouts/testing';
import { LocalApps } from './local-apps';
import { LocalExecutor } from './local-executor';

/** Sources of several kinds, which are built and run as they are. */

/** Answers what it knows of itself. */
const SERVER = `
const { execSync } = require('node:child_process');
const which = (name) => { try { return execSync('command -v ' + name, { encoding: 'utf8' }).trim(); } catch { return ''; } };
require('node:http').createServer((request, response) => {
  const text = ['shared', 'x'].map((name) => { try { return require(name); } catch { return ''; } }).join('');
  const { VIRTUAL_ENV = '', DATA_DIR, TOKEN } = process.env;
  const said = ['released', 'worked'].map((name) => { try { return require('node:fs').readFileSync(DATA_DIR + '/' + name, 'utf8'); } catch { return ''; } });
  response.end(JSON.stringify({ text, tool: which('tool'), python: which('python'), env: VIRTUAL_ENV, said, TOKEN }));
}).listen(process.env.PORT, '127.0.0.1');
`;

let service: TestRollouts;
let folder: string;
let count = 0;
/** Errors of the database while the next sources are read. */
let faults: Error[] = [];

async function revision(id: string, files: Readonly<Record<string, string>>, more: object = {}): Promise<string> {
  const from = mkdtempSync(join(folder, 'source-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(from, name)), { recursive: true });
    writeFileSync(join(from, name), text);
  }
  const source_tarball_path = join(folder, `source-${++count}.tar.gz`);
  execFileSync('tar', ['-czf', source_tarball_path, '-C', from, '.']);
  const source_revision_config = { source_tarball_path, ...more };
  return service.revision(id, { source: 'internal_source', source_revision_config });
}

async function logOf(id: string, one: string, phase: 'build' | 'deploy'): Promise<string> {
  const { json } = await service.logs(`${id}/revisions/${one}/${phase}_logs`);
  return (json.logs as { level: string; message: string }[])
    .map(({ level, message }) => `${level} ${message}`)
    .join('\n');
}

/** Status that the revision of a source ends with, and the lines logged meanwhile. */
async function deployed(id: string, files: Readonly<Record<string, string>>, more: object = {}) {
  const one = await revision(id, files, more);
  const statuses = await until(
    () => service.statuses(id, one),
    (all) => /FAILED|DEPLOYED/.test(all.join()),
  );
  return { status: statuses.at(-1), build: await logOf(id, one, 'build'), deploy: await logOf(id, one, 'deploy') };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-builds-'));
  execFileSync('chmod', ['0711', folder]);
  service = await TestRollouts.create();
  service.archives = new (class extends SourceArchives {
    async open(_tenant: string, _id: string, path: string) {
      const bytes = readFileSync(path);
      return (async function* () {
        if (faults.length > 0) yield bytes.subarray(0, 20);
        if (faults.length > 0) throw faults.pop()!;
        yield bytes;
      })();
    }
  })();
  const apps = new LocalApps(join(folder, 'apps'), { restart: { first: 10, most: 1000 }, hold: 60_000, ready: 60_000 });
  await service.start(new LocalExecutor(apps));
});
afterAll(async () => {
  await service?.drop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a source', () => {
  it('is built with its script, unless another command or none is given', async () => {
    const files = {
      'package.json': '{"scripts":{"build":"mkdir -p dist && cp app.js dist/app.js","start":"node dist/app.js"}}',
      'app.js': SERVER,
    };
    const id = await service.deployment({}, { TOKEN: 'sesame' });
    expect(await deployed(id, files)).toMatchObject({
      status: 'DEPLOYED',
      build: expect.stringContaining('$ npm run build'),
    });
    expect(await service.call(id, '/')).toMatchObject({ TOKEN: 'sesame' });
    const other = await service.deployment({ build_command: 'mkdir other && cp app.js other/' });
    const started = { ...files, Procfile: 'web: node other/app.js' };
    expect((await deployed(other, started)).build).not.toContain('npm run build');
  });

  it('whose build fails says which command failed, and how to set another one', async () => {
    const id = await service.deployment();
    const files = { 'package.json': '{"scripts":{"build":"echo no such module >&2; exit 7","start":"node a.js"}}' };
    const { status, build } = await deployed(id, files);
    expect([status, build]).toEqual([
      'BUILD_FAILED',
      expect.stringMatching(
        /ERROR The command "npm run build" ended with exit code 7\. .*fairlead deploy --build-command/,
      ),
    ]);
  });

  it('whose database goes away while it is unpacked is unpacked once more, and not called broken', async () => {
    const id = await service.deployment();
    faults = [1, 2].map(() => Object.assign(new Error('Connection terminated.'), { code: 'ECONNRESET' }));
    const { status, build } = await deployed(id, { 'app.js': SERVER, Procfile: 'web: node app.js' });
    expect([status, faults]).toEqual(['DEPLOYED', []]);
    expect(build).not.toContain('cannot be unpacked');
    expect(await service.hostStatuses(id)).not.toContain('UNKNOWN');
  });

  it('of a workspace finds the programs and packages of the workspace', async () => {
    const id = await service.deployment();
    const files = {
      'package.json': '{"private":true,"workspaces":["apps/*","packages/*"]}',
      'packages/shared/package.json':
        '{"name":"shared","version":"1.0.0","main":"built.js","scripts":{"build":"cp index.js built.js"}}',
      'packages/shared/index.js': 'module.exports = "shared"',
      'packages/tool/package.json': '{"name":"tool","version":"1.0.0","bin":{"tool":"tool.js"}}',
      'packages/tool/tool.js': '#!/usr/bin/env node\n',
      // A server of LangGraph is what has its name here.
      'apps/agent/langgraph.json': '{"graphs":{"agent":"./server.js:graph"}}',
      'apps/agent/package.json':
        '{"name":"agent","version":"1.0.0","dependencies":{"shared":"1.0.0","tool":"1.0.0"},"devDependencies":{"@langchain/langgraph-cli":"*"}}',
      'apps/agent/server.js': SERVER.replace('process.env.PORT', 'process.argv[process.argv.indexOf("--port") + 1]'),
    };
    const cli = {
      'packages/cli/package.json':
        '{"name":"@langchain/langgraph-cli","version":"1.0.0","bin":{"langgraphjs":"cli.js"}}',
      'packages/cli/cli.js': '#!/usr/bin/env node\nrequire(process.cwd() + "/server.js")',
    };
    const more = { graph_config_path: 'apps/agent/langgraph.json' };
    const { status, build } = await deployed(id, { ...files, ...cli }, more);
    expect([status, build]).toEqual(['DEPLOYED', expect.stringContaining('cd ../.. && npm install')]);
    expect(await service.call(id, '/')).toMatchObject({
      text: 'shared',
      tool: expect.stringMatching(/\/builds\/\w+\/node_modules\/\.bin\/tool$/),
    });
  });

  it('whose graph configuration is missing is not built', async () => {
    const id = await service.deployment();
    const { status, build } = await deployed(
      id,
      { 'package.json': '{"scripts":{"start":"x"}}' },
      { graph_config_path: 'nope.json' },
    );
    expect([status, build]).toEqual([
      'BUILD_FAILED',
      expect.stringContaining('names nope.json, which is not in the source'),
    ]);
    expect(build).not.toContain('$ npm');
  });
});

describe('the secrets of a deployment', () => {
  it('are there for its build, and in no log and no reason', async () => {
    const id = await service.deployment({}, { NPM_TOKEN: 'sesame-of-the-registry', NODE_ENV: 'production' });
    const build = (text: string) => ({
      'package.json': JSON.stringify({ scripts: { build: `node build.js`, start: 'node server.js' } }),
      'build.js': text,
      'server.js': SERVER,
    });
    const found = `const { NPM_TOKEN, NODE_ENV } = process.env; console.log('has', NPM_TOKEN, NPM_TOKEN.length, NODE_ENV);`;
    const done = await deployed(id, build(found));
    expect([done.status, /INFO has .*/.exec(done.build)?.[0]]).toEqual([
      ...['DEPLOYED', 'INFO has [redacted] 22 undefined'],
    ]);
    const broken = await deployed(id, build(`${found} throw new Error('refused: ' + NPM_TOKEN);`));
    expect(broken.status).toBe('BUILD_FAILED');
    expect(broken.build).toMatch(
      /The command "npm run build.*" ended with exit code 1\..*Error: refused: \[redacted\]/,
    );
    expect(done.build + broken.build).not.toContain('sesame');
  });
});

describe('a Procfile', () => {
  const lines = (...all: string[]) => ({ Procfile: `${all.join('\n')}\n`, 'server.js': SERVER });

  it('has a command that runs once before a version goes live, with its secrets, and one that runs beside it', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame' });
    const files = lines(
      'web: node server.js',
      'release: echo "$TOKEN" >> "$DATA_DIR/released"; echo "released with $TOKEN"',
      'worker: echo "it\'s $PORT." >> "$DATA_DIR/worked"; sleep 1000',
    );
    const { status, deploy } = await deployed(id, files);
    expect([status, deploy]).toEqual(['DEPLOYED', expect.stringContaining('released with [redacted]')]);
    const answer = await until(
      () => service.call(id, '/'),
      ({ said }) => said[1] !== '',
    );
    expect(answer.said).toEqual(['sesame\n', "it's .\n"]);
  });

  it('whose release fails leaves the version before running', async () => {
    const id = await service.deployment();
    expect((await deployed(id, lines('web: X=1 node server.js'))).status).toBe('DEPLOYED');
    const { status, deploy } = await deployed(id, lines('web: node server.js', 'release: echo no table >&2; exit 4'));
    expect([status, deploy]).toEqual([
      'DEPLOY_FAILED',
      expect.stringMatching(
        /ERROR The command "echo no table >&2; exit 4" ended with exit code 4\. It is the line "release:"/,
      ),
    ]);
    expect(deploy).not.toContain('Starts:');
    expect(await service.call(id, '/')).toHaveProperty('text');
  });

  const python = spawnSync('/bin/sh', ['-c', 'python3 -c "import ensurepip, venv"'], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  });
  const noPython = python.status === 0 ? '' : ' (skipped: there is no python3 with venv)';
  (noPython ? it.skip : it)(`finds the programs of its virtual environment${noPython}`, async () => {
    const id = await service.deployment();
    const files = { ...lines('web: python app.py'), 'requirements.txt': '' };
    const app = `import os, shutil\nos.execvp('node', ['node', 'server.js'])\n`;
    expect((await deployed(id, { ...files, 'app.py': app })).status).toBe('DEPLOYED');
    expect(await service.call(id, '/')).toMatchObject({
      python: expect.stringMatching(/\/builds\/\w+\/\.venv\/bin\/python$/),
      env: expect.stringMatching(/\/builds\/\w+\/\.venv$/),
    });
  });
});
