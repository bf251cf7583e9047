import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceArchives } from '@fairlead/contracts';
import { until } from '@fairlead/postgres/testing';
import { LocalApps, LocalExecutor, RecordExecutor } from '@fairlead/executors';
import { TENANT, TestRollouts } from '../testing/service';
import type { CommandLine } from './command.schema';

/** Commands beside the programs of deployments, as their clients see them. */

const SERVER = `
const fs = require('node:fs');
if (fs.existsSync(process.env.DATA_DIR + '/broken')) throw new Error('the data is broken');
fs.writeFileSync(process.env.DATA_DIR + '/kept', 'by the program');
console.log('serves');
require('node:http').createServer((request, response) => response.end('{}')).listen(process.env.PORT, '127.0.0.1');
`;
const TOKEN = 'sesame-open-42';

let folder: string;
let service: TestRollouts;
let apps: LocalApps;
let url: string;
let source: string;

async function start(executor = new LocalExecutor(apps)): Promise<void> {
  await service.start(executor);
  url = await service.listen();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fairlead-commands-'));
  execFileSync('chmod', ['0711', folder]);
  const from = mkdtempSync(join(folder, 'source-'));
  writeFileSync(join(from, 'Procfile'), 'web: node server.js\n');
  writeFileSync(join(from, 'server.js'), SERVER);
  source = join(folder, 'source.tar.gz');
  execFileSync('tar', ['-czf', source, '-C', from, '.']);
  service = await TestRollouts.create();
  service.archives = new (class extends SourceArchives {
    async open(_tenant: string, _id: string, path: string) {
      const bytes = readFileSync(path);
      return (async function* () {
        yield bytes;
      })();
    }
  })();
  const limits = { restart: { first: 10, most: 1000 }, hold: 60_000, ready: 60_000, awake: 20 };
  apps = new LocalApps(join(folder, 'apps'), { ...limits, disk: 60e6, diskWatch: { reserve: 0, latest: 100 } });
  await start();
});
afterAll(async () => {
  await service?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A deployment whose program runs. */
async function deployed(): Promise<string> {
  const id = await service.deployment({}, { TOKEN });
  const source_revision_config = { source_tarball_path: source };
  const revision = await service.revision(id, { source: 'internal_source', source_revision_config });
  await service.reached(id, revision, 'DEPLOYED');
  return id;
}

function ask(id: string, body: object, { key = 'key', signal }: { key?: string; signal?: AbortSignal } = {}) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'x-reason': 'to%20see' };
  const path = `${url}/v2/deployments/${id}/commands`;
  return fetch(path, { method: 'POST', headers, body: JSON.stringify(body), signal });
}

/** Runs a command, and answers what it wrote and how it ended. */
async function run(id: string, command: readonly string[], more: object = {}) {
  const response = await ask(id, { command, ...more });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as CommandLine);
  const of = (type: string) => lines.flatMap((line) => (line.type === type ? [line.text] : [])).join('');
  return { lines, stdout: of('stdout'), stderr: of('stderr'), end: lines.at(-1)! };
}

const shell = (id: string, script: string, more: object = {}) => run(id, ['sh', '-c', script], more);

/** The events of commands of a deployment. */
const events = (id: string) => service.store.read(`command-${id}`);

/** Starts a command that writes a line first; answers how to go away, when that line has come. */
async function begun(id: string, script: string): Promise<() => void> {
  const client = new AbortController();
  const response = await ask(id, { command: ['sh', '-c', script] }, { signal: client.signal });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  while (!seen.includes('"stdout"')) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`${response.status}: ${seen}`);
    seen += value;
  }
  return () => client.abort();
}

/** Processes of the machine that have this word among theirs. */
function processesWith(word: string): string[] {
  const all = execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' }).split('\n');
  return all.filter((line) => line.includes(word) && !line.startsWith('Z') && !line.includes('ps -eo'));
}

describe('a command', () => {
  it('has the folder, the data, the variables and the user of the program, and is recorded', async () => {
    const id = await deployed();
    const script = 'pwd; ls; cat $DATA_DIR/kept; echo; echo "[$PORT]"; id -u; echo oh >&2; echo; echo $TOKEN; exit 7';
    const { lines, stdout, stderr, end } = await shell(id, script);
    const { path, user } = apps.folders.of(id);
    const [pwd, ...others] = stdout.split('\n');
    expect(pwd!.startsWith(`${path}/builds/`)).toBe(true);
    const uid = String(user?.uid ?? process.getuid!());
    expect(others).toEqual(['Procfile', 'server.js', 'by the program', '[]', uid, '', '[redacted]', '']);
    expect(stderr).toBe('oh\n');
    const { command_id, revision_id } = lines[0]!;
    expect(lines[0]).toEqual({ type: 'started', command_id, revision_id });
    expect(end).toEqual({ type: 'ended', exit_code: 7, reason: null, duration_ms: expect.any(Number) });
    expect(await events(id)).toMatchObject([
      {
        type: 'CommandStarted',
        data: { deployment_id: id, command_id, revision_id, command: ['sh', '-c', script] },
        metadata: { tenant: TENANT, actor: 'key', reason: 'to see' },
      },
      { type: 'CommandEnded', data: { deployment_id: id, command_id, exit_code: 7 }, metadata: { actor: 'key' } },
    ]);
  });

  it('is recorded without values of secrets', async () => {
    const id = await deployed();
    const { stdout } = await run(id, ['echo', `--token=${TOKEN}`]);
    expect(stdout).toBe('--token=[redacted]\n');
    expect((await events(id))[0]!.data).toMatchObject({ command: ['echo', '--token=[redacted]'] });
  });

  it.each([
    ['exit 0', 0],
    ['kill -9 $$', 137],
    ['kill -TERM $$', 143],
    ['no-such-program', 127],
  ])('%s has the exit code %i', async (script, code) => {
    const id = await deployed();
    expect((await shell(id, script)).end).toMatchObject({ exit_code: code, reason: null });
    expect((await run(id, ['no-such-program'])).end).toMatchObject({ exit_code: 127 });
  });

  it('runs while the program is stopped, does not start, or has filled its disk, and frees that', async () => {
    const id = await deployed();
    await apps.stop(id);
    expect((await shell(id, 'echo here')).stdout).toBe('here\n');
    await shell(id, 'touch $DATA_DIR/broken; head -c 50000000 /dev/zero > $DATA_DIR/large');
    const late = new AbortController().signal;
    await expect(apps.start(id, late)).rejects.toThrow('the data is broken');
    await shell(id, 'rm $DATA_DIR/broken');
    // Above the limit of the disk now, where it may remove files, and write only a little.
    writeFileSync(join(apps.folders.of(id).path, 'data', 'larger'), Buffer.alloc(40e6));
    const filled = await shell(id, 'while :; do head -c 5000000 /dev/zero >> $DATA_DIR/more; sleep 0.2; done');
    expect(filled.end).toMatchObject({ exit_code: null, reason: expect.stringMatching(/has \d+ MB of files/) });
    expect((await shell(id, 'rm $DATA_DIR/l* $DATA_DIR/more && echo done')).stdout).toBe('done\n');
    await apps.restart(id, late);
    expect(await service.call(id, '/')).toEqual({});
  });

  it('ends with its client, and all that it started does', async () => {
    const id = await deployed();
    const word = `3${Date.now()}`;
    const leave = await begun(id, `sleep ${word} & (sleep ${word} &) ; echo begun; sleep ${word}`);
    expect(processesWith(`sleep ${word}`).length).toBeGreaterThan(0);
    leave();
    await until(
      async () => processesWith(`sleep ${word}`),
      (left) => left.length === 0,
    );
    const [, ended] = await until(
      () => events(id),
      (all) => all.length === 2,
    );
    expect(ended!.data).toMatchObject({ exit_code: null, reason: 'The client closed the connection.' });
  });

  it('that has ended leaves no process that it started', async () => {
    const id = await deployed();
    const word = `4${Date.now()}`;
    expect((await shell(id, `sleep ${word} & echo begun`)).end).toMatchObject({ exit_code: 0 });
    await until(
      async () => processesWith(`sleep ${word}`),
      (left) => left.length === 0,
    );
  });

  it('ends after its time, also when nobody reads what it writes', async () => {
    const id = await deployed();
    const reason = 'It took longer than 1 s.';
    expect((await shell(id, 'trap "" TERM; sleep 100', { timeout: 1 })).end).toMatchObject({ exit_code: null, reason });
    const response = await ask(id, { command: ['yes'], timeout: 1 });
    const all = await until(
      () => events(id),
      (some) => some.length === 4,
    );
    expect(all.at(-1)!.data).toMatchObject({ exit_code: null, reason });
    await response.body!.cancel();
  });

  it('that writes too much is ended', async () => {
    const id = await deployed();
    const { stdout, end } = await run(id, ['yes', 'a'.repeat(1000)]);
    expect(end).toMatchObject({ exit_code: null, reason: 'It wrote more than 33554432 characters.' });
    expect(stdout.length).toBeGreaterThan(30e6);
  });

  it('keeps lines without an end, secrets in pieces and empty lines apart', async () => {
    const id = await deployed();
    const half = TOKEN.slice(0, 7);
    const script = `printf '${half}'; sleep 0.3; printf '${TOKEN.slice(7)}\\n\\n\\nlast'; head -c 100000 /dev/zero | tr '\\0' x >&2`;
    const { stdout, stderr } = await shell(id, script);
    expect(stdout).toBe('[redacted]\n\n\nlast');
    expect(stderr).toBe('x'.repeat(100_000));
  });

  it('is one of three at a time, and ends when the deployment is removed', async () => {
    const id = await deployed();
    await Promise.all([1, 2, 3].map(() => begun(id, 'echo begun; sleep 100')));
    const refused = await ask(id, { command: ['true'] });
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toEqual({ detail: expect.stringContaining('At most 3 commands of a deployment') });
    await apps.remove(id);
    const all = await until(
      () => events(id),
      (some) => some.length === 6,
    );
    const reasons = all.filter(({ type }) => type === 'CommandEnded').map(({ data }) => data);
    expect(reasons).toMatchObject([1, 2, 3].map(() => ({ reason: 'The deployment is being deleted.' })));
  });

  it('whose end cannot be recorded is told to its client, and recorded once when that is possible again', async () => {
    const id = await deployed();
    const append = service.store.append.bind(service.store);
    const spy = jest.spyOn(service.store, 'append');
    const ids: unknown[] = [];
    let isAway = true;
    spy.mockImplementation(async (...args) => {
      const [stream, , [event]] = args;
      if (stream !== `command-${id}` || event!.type !== 'CommandEnded') return append(...args);
      ids.push(event!.id);
      // The first attempt arrives, and its answer is lost.
      if (ids.length === 1) await append(...args);
      if (isAway) throw Object.assign(new Error('The database is away.'), { code: 'ECONNREFUSED' });
      return append(...args);
    });
    try {
      expect((await shell(id, 'exit 7')).end).toMatchObject({ type: 'ended', exit_code: 7 });
      await until(
        () => ids.length,
        (tries) => tries > 1,
      );
      // It counts as one that runs until then.
      await Promise.all([1, 2].map(() => begun(id, 'echo begun; sleep 100')));
      expect((await ask(id, { command: ['true'] })).status).toBe(429);
      isAway = false;
      await until(
        () => ask(id, { command: ['true'] }),
        ({ status }) => status === 200,
      );
    } finally {
      spy.mockRestore();
    }
    expect(new Set(ids.slice(0, 2)).size).toBe(1);
    const { command_id } = (await events(id))[0]!.data as { command_id: string };
    const all = (await events(id)).filter(({ data }) => (data as { command_id: string }).command_id === command_id);
    expect(all.map(({ type }) => type)).toEqual(['CommandStarted', 'CommandEnded']);
    await apps.remove(id);
  });

  it('ends with the server, which records that', async () => {
    const id = await deployed();
    await begun(id, 'echo begun; sleep 100').catch(() => undefined);
    await service.stop();
    expect((await events(id)).at(-1)!.data).toMatchObject({ exit_code: null, reason: 'The server stops.' });
    await start();
    expect((await shell(id, 'echo again')).stdout).toBe('again\n');
  });
});

describe('no command is run', () => {
  it('for a key that may only invoke, nor for another workspace', async () => {
    const id = await deployed();
    expect((await ask(id, { command: ['true'] }, { key: 'invoker' })).status).toBe(403);
    expect((await ask(id, { command: ['true'] }, { key: 'stranger' })).status).toBe(404);
    expect(await events(id)).toEqual([]);
  });

  it.each([
    ['without a command', {}, 422],
    ['with a command that is a text', { command: 'ls' }, 422],
    ['without words', { command: [] }, 422],
    ['with a word that no program can be given', { command: ['ls\0'] }, 422],
    ['without time', { command: ['ls'], timeout: 0 }, 422],
    ['with too much time', { command: ['ls'], timeout: 3601 }, 422],
    ['with too many words', { command: Array.from({ length: 257 }, () => 'a') }, 422],
    ['without a program', { command: ['', 'a'] }, 400],
    ['with too many characters', { command: ['a'.repeat(16_000), 'b'.repeat(1000)] }, 400],
  ])('for a body %s', async (_, body, status) => {
    const id = await service.deployment();
    expect((await ask(id, body)).status).toBe(status);
  });

  it('where no revision was deployed', async () => {
    const id = await service.deployment();
    const response = await ask(id, { command: ['true'] });
    expect(response.status).toBe(409);
    const detail = `No command can be run in deployment ID ${id}: no revision of it has been deployed.`;
    expect(await response.json()).toEqual({ detail });
  });

  it('where another executor has deployed it, or runs nothing', async () => {
    const id = await service.deployment();
    const revision_id = await service.revision(id);
    const activated = { revision_id, previous_revision_id: null, executor: 'kubernetes' };
    await service.append(id, [{ type: 'RevisionActivated', data: activated }]);
    expect(await (await ask(id, { command: ['true'] })).json()).toEqual({
      detail: expect.stringContaining('its pods are in a cluster, where kubectl exec runs commands.'),
    });
    const other = await deployed();
    await service.stop();
    await start(new RecordExecutor() as never);
    const response = await ask(other, { command: ['true'] });
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({ detail: expect.stringContaining('the executor that deployed it (local)') });
  });
});
