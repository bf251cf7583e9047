import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CodeHostUnreachable, CommitResolver, SourceArchives } from '@fairlead/contracts';
import { WATCHED } from '../command/child-process';
import { until } from '@fairlead/postgres/testing';
import { TestRollouts } from '@fairlead/rollouts/testing';
import { LocalApps } from './local-apps';
import { LocalExecutor } from './local-executor';

/** A program that answers with what it knows of itself; `version` is in its answers. */
const program = (version: string) => `
const http = require('node:http'), fs = require('node:fs');
if (fs.existsSync(process.env.DATA_DIR + '/broken')) throw new Error('the data is broken: ' + process.env.TOKEN);
console.log('starts ${version} with ' + process.env.TOKEN);
http.createServer((request, response) => {
  if (request.url === '/crash') process.exit(3);
  if (request.url === '/break') {
    fs.writeFileSync(process.env.DATA_DIR + '/broken', '');
    process.exit(4);
  }
  if (request.url.startsWith('/read?')) {
    let said = 'denied';
    try { said = fs.readdirSync(decodeURIComponent(request.url.slice(6))).join(); } catch {}
    return response.end(said);
  }
  response.setHeader('set-cookie', ['mine=1', 'fairlead-4600=stolen']);
  let body = '';
  request.on('data', (chunk) => (body += chunk)).on('end', () => response.end(JSON.stringify({
    version: '${version}', pid: process.pid, started: performance.timeOrigin, uid: process.getuid(), url: request.url, method: request.method, body,
    headers: request.headers, data: process.env.DATA_DIR,
  })));
}).listen(process.env.PORT, '127.0.0.1');
`;
/**
 * A server that keeps its state as the LangGraph server for development does: it reads a file when it starts, and writes
 * it late and when it ends. It fails when another one has the folder.
 */
const langgraphServer = (version: string) => `
const http = require('node:http'), fs = require('node:fs');
const folder = '.langgraph_api', file = folder + '/visits.json', lock = folder + '/lock';
if (process.env.BROKEN_IN === '${version}') throw new Error('no graph in ${version}');
fs.writeFileSync(lock, '', { flag: 'wx' });
let visits = fs.existsSync(file) ? Number(fs.readFileSync(file, 'utf8')) : 0;
process.on('SIGTERM', () => {
  fs.writeFileSync(file, String(visits));
  fs.rmSync(lock);
  process.exit(0);
});
http.createServer((request, response) => {
  if (request.url === '/visit') visits++;
  response.end(JSON.stringify({ version: '${version}', visits, arguments: process.argv.slice(2) }));
}).listen(process.argv[process.argv.indexOf('--port') + 1], '127.0.0.1');
`;
const visited = (version: string) =>
  packed({
    'agent/langgraph.json': '{"graphs":{}}',
    'agent/package.json': '{"devDependencies":{"@langchain/langgraph-cli":"1.0.0"}}',
    'agent/server.js': `#!/usr/bin/env node\n${langgraphServer(version)}`,
  });
/** A project of Python that needs no package of a registry. */
const PYTHON = {
  Procfile: 'web: .venv/bin/python server.py\n',
  'requirements.txt': '',
  'server.py': `
import http.server, json, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({'prefix': sys.prefix, 'token': os.environ['TOKEN'], 'path': self.path}).encode())
http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
`,
};
/** As the programs of deployments find it, whose path is this one. */
const python = spawnSync('/bin/sh', ['-c', 'python3 -c "import ensurepip, venv"'], {
  env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
});
const noPython = python.status === 0 ? '' : ' (skipped: there is no python3 with venv)';
const manifest = JSON.stringify({ name: 'agent', version: '1.0.0', scripts: { start: 'node server.js' } });

/** A code host with one repository: each push moves its branch to another commit. */
class TestCommits extends CommitResolver {
  head = 0;
  path = '';
  /** Faults that the next requests meet. */
  faults: (Error | 'cut')[] = [];
  fetched = 0;
  readonly shas: string[] = [];

  override async resolve(): Promise<string> {
    this.fail();
    const sha = this.head.toString(16).padStart(40, 'c');
    this.shas.push(sha);
    return sha;
  }

  override async archive(_tenant: string, _integration: string, _url: string, commit: string) {
    this.fail();
    expect(commit).toBe(this.shas.at(-1));
    this.fetched++;
    const isCut = this.faults[0] === 'cut' && this.faults.shift();
    const bytes = readFileSync(this.path);
    return (async function* () {
      yield bytes.subarray(0, 20);
      if (isCut) throw new CodeHostUnreachable('The code host hung up.');
      yield bytes.subarray(20);
    })();
  }

  private fail(): void {
    const [fault] = this.faults;
    if (!(fault instanceof Error)) return;
    this.faults.shift();
    throw fault;
  }
}

const commits = new TestCommits();
let service: TestRollouts;
let folder: string;
let apps: LocalApps;
const sources = new Map<string, string>();
let count = 0;
const running = new AbortController().signal;

/** A tarball of these files; answers the path that a revision names. */
function packed(
  files: Readonly<Record<string, string>>,
  more: (folder: string) => void = () => undefined,
  top = '.',
): string {
  const from = mkdtempSync(join(folder, 'source-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(from, name)), { recursive: true });
    writeFileSync(join(from, name), text);
  }
  more(from);
  const file = join(folder, `source-${++count}.tar.gz`);
  execFileSync('tar', ['-czf', file, '-C', from, top]);
  sources.set(file, file);
  return file;
}

const versioned = (version: string) => packed({ Procfile: 'web: node server.js\n', 'server.js': program(version) });
const deploy = (id: string, source_tarball_path: string, more: object = {}) =>
  service.revision(id, { source: 'internal_source', source_revision_config: { source_tarball_path }, ...more });

/** Waits until a revision is deployed; fails with its log when it is not. */
async function deployed(id: string, revision: string): Promise<string[]> {
  const all = await until(
    () => service.statuses(id, revision),
    (statuses) => /FAILED|DEPLOYED/.test(statuses.join()),
  );
  const said = async (phase: string) => (await service.logs(`${id}/revisions/${revision}/${phase}_logs`)).text;
  if (!all.includes('DEPLOYED')) throw new Error(`${all.join()} ${await said('build')} ${await said('deploy')}`);
  return all;
}

async function start(): Promise<void> {
  apps = new LocalApps(join(folder, 'apps'), {
    restart: { first: 10, most: 1000, recovered: 2000 },
    hold: 60_000,
    ready: 60_000,
  });
  await service.start(new LocalExecutor(apps));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-local-'));
  execFileSync('chmod', ['0711', folder]);
  service = await TestRollouts.create();
  service.commits = commits;
  service.archives = new (class extends SourceArchives {
    async open(_tenant: string, _id: string, path: string) {
      const bytes = readFileSync(path);
      return (async function* () {
        yield bytes;
      })();
    }
  })();
  await start();
});
afterAll(async () => {
  await service?.drop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a deployment on this machine', () => {
  it('is built, started, replaced without a gap, and rolled back without a build', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    const first = await deploy(id, packed({ 'package.json': manifest, 'server.js': program('one') }));
    expect(await deployed(id, first)).toContain('BUILDING');
    expect(await service.call(id, '/hello?a=b')).toMatchObject({ version: 'one', url: '/hello?a=b', method: 'GET' });
    const second = await deploy(id, versioned('two'));
    let asked = 0;
    for (let done = false; !done; asked++) {
      expect(await service.call(id, '/')).toHaveProperty('version');
      done = (await service.statuses(id, second)).includes('DEPLOYED');
    }
    expect(asked).toBeGreaterThan(1);
    expect(await service.call(id, '/')).toMatchObject({ version: 'two' });
    const [path] = [...sources.keys()];
    const back = await deploy(id, path!, { redeployed_from: first });
    await deployed(id, back);
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
    const { json } = await service.logs(`${id}/revisions/${back}/build_logs`);
    expect(json.logs.map(({ message }: { message: string }) => message).join()).toContain('has been built before');
  });

  it('hides the key, the cookie of the console and its own secrets, and gets an origin of its own', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    const revision = await deploy(id, versioned('one'));
    await deployed(id, revision);
    const headers = { cookie: 'fairlead-4600=session; mine=2', authorization: 'Bearer theirs' };
    const answer = await service.ask('POST', `/apps/${id}/x`, { headers, payload: 'a body' });
    const seen = JSON.parse(answer.payload);
    expect(seen).toMatchObject({ body: 'a body', headers: { cookie: 'mine=2', authorization: 'Bearer theirs' } });
    expect(seen.headers).not.toHaveProperty('x-api-key');
    expect(answer.headers).toMatchObject({
      'set-cookie': [`mine=1; Path=/apps/${id}`],
      'content-security-policy': expect.stringMatching(/^sandbox /),
    });
    expect((await service.ask('GET', `/apps/${id}/`, { headers: { 'x-api-key': 'stranger' } })).statusCode).toBe(404);
    const { logs } = JSON.parse((await service.ask('GET', `/v2/deployments/${id}/app_logs?query=starts`)).payload);
    expect(logs).toMatchObject([{ level: 'INFO', message: 'starts one with [redacted]' }]);
  });

  it('of LangGraph keeps its threads when it is deployed and restarted, and no request fails', async () => {
    const install_command =
      'mkdir -p node_modules/.bin && cp server.js node_modules/.bin/langgraphjs && chmod +x node_modules/.bin/langgraphjs';
    const id = await service.deployment({ install_command }, { BROKEN_IN: 'three' });
    const next = async (version: string) => {
      const source_revision_config = {
        source_tarball_path: visited(version),
        graph_config_path: 'agent/langgraph.json',
      };
      return service.revision(id, { source: 'internal_source', source_revision_config });
    };
    const first = await next('one');
    await deployed(id, first);
    let visits = 0;
    const visit = async () => {
      const answer = await service.call(id, '/visit');
      expect(answer.visits).toBe(++visits);
      return answer;
    };
    expect((await visit()).arguments).toEqual(
      expect.arrayContaining(['dev', '--no-browser', '--config', 'langgraph.json']),
    );
    const second = await next('two');
    for (let done = false; !done;) {
      await visit();
      done = (await service.statuses(id, second)).includes('DEPLOYED');
    }
    expect(await visit()).toMatchObject({ version: 'two' });
    const third = await next('three');
    for (let done = false; !done;) {
      expect(await visit()).toMatchObject({ version: 'two' });
      done = (await service.statuses(id, third)).includes('DEPLOY_FAILED');
    }
    await apps.restart(id, running);
    expect(await visit()).toMatchObject({ version: 'two' });
    await apps.stop(id);
    expect(apps.runners.inspect(id)).toEqual([]);
    expect((await service.ask('GET', `/apps/${id}/`)).statusCode).toBe(503);
    await apps.start(id, running);
    expect(await visit()).toMatchObject({ version: 'two' });
    expect(apps.runners.inspect(id)).toMatchObject([{ state: 'RUNNING', revision_id: second, reason: null }]);
    const scaled = await service.revision(id, {
      source: 'internal_source',
      source_revision_config: { source_tarball_path: visited('four'), graph_config_path: 'agent/langgraph.json' },
      resource_spec: { min_scale: 2 },
    });
    await service.reached(id, scaled, 'DEPLOY_FAILED');
    const { json } = await service.logs(`${id}/revisions/${scaled}/deploy_logs`, { level: 'ERROR' });
    expect(json.logs[0].message).toContain('min_scale is 2, but there can be one process only');
  });

  (noPython ? it.skip : it)(`in Python is built in a virtual environment and answers${noPython}`, async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    const revision = await deploy(id, packed(PYTHON));
    await deployed(id, revision);
    const answer = await service.call(id, '/hello');
    const prefix = expect.stringMatching(/builds\/[^/]+\/\.venv$/);
    expect(answer).toEqual({ prefix, token: 'sesame-open', path: '/hello' });
    const { text } = await service.logs(`${id}/revisions/${revision}/build_logs`);
    expect(text).toContain('pip install --quiet -r requirements.txt');
  });

  it('that does not start leaves the one before running, and says its last lines', async () => {
    const id = await service.deployment();
    await deployed(id, await deploy(id, versioned('one')));
    const broken = packed({ 'package.json': manifest, 'server.js': 'throw new Error("\\x1b[31mno\\x1b[39m model")' });
    const second = await deploy(id, broken);
    await service.reached(id, second, 'DEPLOY_FAILED');
    const { json } = await service.logs(`${id}/revisions/${second}/deploy_logs`, { level: 'ERROR' });
    expect(json.logs[0].message).toMatch(/ended with exit code 1 before it was ready.*no model/);
    expect(json.logs[0].message).not.toContain('/builds/');
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
  });

  it('is started again when it ends, and ends with the deployment', async () => {
    const id = await service.deployment();
    const revision = await deploy(id, versioned('one'));
    await deployed(id, revision);
    const { started } = await service.call(id, '/');
    await service.ask('GET', `/apps/${id}/crash`);
    await until(
      () => service.call(id, '/').catch(() => undefined),
      (seen) => seen?.started !== undefined && seen.started !== started,
    );
    expect(runs(id)).toBe(process.platform === 'linux');
    await service.append(id, [{ type: 'DeploymentDeletionRequested', data: {} }]);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.includes('REMOVED'),
    );
    expect(runs(id)).toBe(false);
    expect(readdirSync(join(folder, 'apps'))).not.toContain(id);
  });

  it('that does not come back is UNKNOWN with the reason, and READY when it does', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame-open' });
    const revision = await deploy(id, versioned('one'));
    await deployed(id, revision);
    const { data } = await service.call(id, '/');
    await service.ask('GET', `/apps/${id}/break`);
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.at(-1) === 'UNKNOWN',
    );
    const refused = await service.ask('GET', `/apps/${id}/`);
    expect([refused.statusCode, refused.payload]).toEqual([503, expect.stringContaining('is broken: [redacted]')]);
    expect(refused.payload).not.toContain('sesame-open');
    expect(JSON.stringify(apps.runners.inspect(id))).not.toContain('sesame-open');
    expect(apps.runners.inspect(id)).toMatchObject([
      { state: 'CRASH_LOOPING', reason: expect.stringContaining('broken') },
    ]);
    rmSync(join(data, 'broken'));
    await until(
      () => service.hostStatuses(id),
      (statuses) => statuses.at(-1) === 'READY',
    );
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
  });

  it('starts on the first request after a restart of the server', async () => {
    const id = await service.deployment({}, { TOKEN: 'sesame' });
    const revision = await deploy(id, versioned('kept'));
    await deployed(id, revision);
    await service.call(id, '/');
    expect(runs(id)).toBe(process.platform === 'linux');
    await service.stop();
    expect(runs(id)).toBe(false);
    await start();
    expect(await service.call(id, '/')).toMatchObject({ version: 'kept' });
  });

  it('runs as a user of its own, who reads neither the data of the server nor another deployment', async () => {
    if (process.getuid?.() !== 0) return;
    const [id, other] = [await service.deployment(), await service.deployment()];
    for (const one of [id, other]) await deployed(one, await deploy(one, versioned('one')));
    const [mine, theirs] = [await service.call(id, '/'), await service.call(other, '/')];
    expect(mine.uid).not.toBe(theirs.uid);
    expect(Math.min(mine.uid, theirs.uid)).toBeGreaterThan(1_000_000);
    const data = mkdtempSync(join(folder, 'data-'));
    expect(statSync(data).mode & 0o777).toBe(0o700);
    const read = async (path: string) =>
      (await service.ask('GET', `/apps/${id}/read?${encodeURIComponent(path)}`)).payload;
    expect(await read(mine.data)).toBe('');
    for (const path of [data, theirs.data, `/proc/${theirs.pid}/fd`, `/proc/${process.pid}/fd`]) {
      expect([path, await read(path)]).toEqual([path, 'denied']);
    }
  });
});

/** Last status of a revision, and its reason. */
async function outcome(id: string, revision: string): Promise<unknown[]> {
  const [last] = (
    await until(
      () => service.statuses(id, revision),
      (all) => /FAILED|DEPLOYED/.test(all.join()),
    )
  ).slice(-1);
  const { json } = await service.logs(`${id}/revisions/${revision}/build_logs`, { level: 'ERROR' });
  return [last, json.logs[0]?.message];
}

describe('a repository', () => {
  const config = { integration_id: 'integration', repo_url: 'https://code.example/team/agent' };
  /** Archive that a code host sends for a commit: all files are in one folder, named after it. */
  const archived = (files: Readonly<Record<string, string>>, more?: (folder: string) => void) => {
    const inFolder = Object.entries(files).map(([name, text]) => [`agent-cccccc/${name}`, text] as const);
    return packed(Object.fromEntries(inFolder), more, 'agent-cccccc');
  };
  const push = (path: string) => {
    commits.path = path;
    commits.head = ++count;
  };

  it('is built at the commit of its ref, with links inside, again when the ref moves, and not for a roll-back', async () => {
    const id = await service.deployment(config);
    const files = (version: string) => ({ Procfile: 'web: node server.js\n', 'code/main.js': program(version) });
    const link = (from: string) => symlinkSync('code/main.js', join(from, 'agent-cccccc/server.js'));
    push(archived(files('one'), link));
    const first = await service.revision(id);
    await deployed(id, first);
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
    const [repo_commit_sha, { fetched }] = [commits.shas.at(-1)!, commits];
    push(archived(files('two'), link));
    const second = await service.revision(id);
    await deployed(id, second);
    expect(await service.call(id, '/')).toMatchObject({ version: 'two' });
    const back = await service.revision(id, { source_revision_config: { repo_ref: 'main', repo_commit_sha } });
    await deployed(id, back);
    expect(await service.call(id, '/')).toMatchObject({ version: 'one' });
    expect(commits.fetched).toBe(fetched + 1);
  });

  it('is fetched again when the host cannot be reached or hangs up, and fails when it has no such ref', async () => {
    const id = await service.deployment(config);
    push(archived({ Procfile: 'web: node server.js', 'server.js': program('one') }));
    commits.faults = [
      new CodeHostUnreachable('The code host is down.'),
      'cut',
      new CodeHostUnreachable('The code host is down again.'),
    ];
    const revision = await service.revision(id);
    await deployed(id, revision);
    expect(commits.faults).toEqual([]);
    const { text } = await service.logs(`${id}/revisions/${revision}/build_logs`, { level: 'WARNING' });
    expect(text).toContain('The code host hung up. It is tried again.');
    commits.faults = [new Error("The code host knows no 'main'.")];
    expect(await outcome(id, await service.revision(id))).toEqual(['BUILD_FAILED', "The code host knows no 'main'."]);
  });

  it.each([
    ['/etc/passwd', 'an absolute one'],
    ['../../home', 'one that climbs out'],
    ['nothing', 'one to nothing'],
  ])('with the link %s is refused: %s', async (target) => {
    const id = await service.deployment(config);
    push(archived({ 'package.json': manifest }, (from) => symlinkSync(target, join(from, 'agent-cccccc/server.js'))));
    expect(await outcome(id, await service.revision(id))).toEqual([
      'BUILD_FAILED',
      'The link server.js of the repository must lead to a file or folder of the repository.',
    ]);
  });
});

describe('an archive', () => {
  const built = async (path: string) => {
    const id = await service.deployment();
    const [last, said] = await outcome(id, await deploy(id, path));
    expect(readdirSync(join(apps.folders.of(id).path, 'builds'))).toEqual([]);
    return [last, said];
  };

  it('with a link is refused', async () => {
    const path = packed({ 'package.json': manifest }, (from) => symlinkSync('/etc/passwd', join(from, 'server.js')));
    expect(await built(path)).toEqual(['BUILD_FAILED', expect.stringContaining('server.js is neither')]);
  });

  it('that climbs out is refused', async () => {
    const file = join(folder, `source-${++count}.tar.gz`);
    writeFileSync(join(folder, 'outside.txt'), 'x');
    const from = mkdtempSync(join(folder, 'source-'));
    execFileSync('tar', ['-czPf', file, '-C', from, '../outside.txt']);
    expect(await built(file)).toEqual(['BUILD_FAILED', expect.stringContaining('cannot be unpacked')]);
  });

  it('that names nothing to start, or is no archive, says so', async () => {
    expect(await built(packed({ 'a.txt': '' }))).toEqual(['BUILD_FAILED', expect.stringContaining('how to start it')]);
    const file = join(folder, 'broken.tar.gz');
    writeFileSync(file, 'not gzip');
    expect(await built(file)).toEqual(['BUILD_FAILED', expect.stringContaining('cannot be unpacked')]);
  });
});

it('what was started ends when the server is killed', async () => {
  const script = `
    const { spawn } = require('node:child_process');
    const words = ${JSON.stringify(WATCHED)};
    const child = spawn(words[0], [...words.slice(1), 'sleep', '600'], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    console.log(child.pid);`;
  const server = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = (await once(server.stdout, 'data')) as [Buffer];
  const pid = Number(String(text));
  await until(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep'));
  expect(isRunning(pid)).toBe(true);
  server.kill('SIGKILL');
  await until(
    () => isRunning(pid),
    (running) => !running,
  );
});

/** True when a process has a folder of the deployment as its own. Its id may be another one for the process itself. */
function runs(id: string): boolean {
  if (process.platform !== 'linux') return false;
  return readdirSync('/proc').some((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`).includes(id);
    } catch {
      return false;
    }
  });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
