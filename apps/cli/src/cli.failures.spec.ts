import { copyFileSync, mkdirSync, openSync, writeSync, closeSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { type ChildProcess, spawnSync } from 'node:child_process';
import { createGunzip } from 'node:zlib';
import { textOf } from './api/transport';
import { Cli } from './testing/cli';
import { Double, json } from './testing/double';

const ID = '0196b1f0-0000-7000-8000-000000000001';
const REVISION = '0196b1f0-0000-7000-8000-000000000002';
const SESSION = { id: ID, name: 'e', reference_dataset_id: ID, start_time: '2026-01-01T00:00:00+00:00' };

let double: Double;
let cli: Cli;
beforeEach(async () => {
  double = new Double();
  cli = new Cli({ FAIRLEAD_URL: await double.start(), FAIRLEAD_KEY: 'a-key' });
});
afterEach(() => {
  double.stop();
  cli.remove();
});

/** A service with one deployment, the rollout of which is in this status. */
function rollout(status: string): void {
  double.answer = (request, response) => {
    if (request.url?.includes('/wait')) json(response, 200, { id: REVISION, status });
    else json(response, 200, { id: ID, name: 'a', latest_revision_id: REVISION, active_revision_id: null });
  };
}

it('A secret without a name is refused without showing it', async () => {
  for (const given of ['=sesame-open', 'sesame-open']) {
    const ended = await cli.run(['secrets', 'set', 'agent', 'A=1', given]);
    expect(ended).toMatchObject({ code: 2, err: 'Error: The 2. secret has no name: write NAME=value.\n' });
  }
});

it('A link that is no web address is not shown, and so not opened', async () => {
  double.answer = (request, response) => {
    if (request.method === 'POST') json(response, 201, { url: 'file:///bin/sh' });
    else json(response, 200, { id: ID, name: 'a', source_config: {} });
  };
  const { code, out, err } = await cli.run(['deployments', 'open', ID, '--link']);
  expect([code, out, err]).toEqual([1, '', 'Error: The service answered with a link that is no web address.\n']);
});

describe('An answer that is not what was hoped for', () => {
  it.each([
    [401, { detail: 'Invalid token' }, 4, 'Error: The key is not accepted: Invalid token.\n'],
    [403, { detail: 'Forbidden' }, 4, 'Error: Forbidden\n'],
    [404, { detail: 'API key not found.' }, 5, 'Error: API key not found.\n'],
    [400, { detail: 'bad \u001b[2J' }, 1, 'Error: bad \ufffd[2J\n'],
    [500, 'oops', 1, /^Error: http:\/\/127\.0\.0\.1:\d+ answered 500 Internal Server Error\.\n$/],
  ])('of status %d is told in a line', async (status, body, code, message) => {
    double.answer = (_, response) => json(response, status, body);
    const ended = await cli.run(['key', 'whoami']);
    expect(ended).toMatchObject({ code, out: '' });
    if (typeof message === 'string') expect(ended.err).toBe(message);
    else expect(ended.err).toMatch(message);
  });

  it('names the scope that the key lacks', async () => {
    double.answer = (_, response) => {
      response.setHeader('www-authenticate', 'Bearer error="insufficient_scope", scope="secrets:read"');
      json(response, 403, { detail: 'Forbidden' });
    };
    expect(await cli.run(['key', 'whoami'])).toMatchObject({
      code: 4,
      err: 'Error: The key lacks the scope secrets:read.\n',
    });
  });

  it('is told as JSON on request', async () => {
    const detail = [{ type: 'missing', loc: ['body', 'name'], msg: 'Field required', input: {} }];
    double.answer = (_, response) => json(response, 422, { detail });
    const ended = await cli.run(['deployments', 'create', '-f', '-', '--json'], { input: '{}' });
    expect([ended.code, ended.out, JSON.parse(ended.err)]).toEqual([2, '', { detail, status: 422, exit_code: 2 }]);
    const usage = await cli.run(['deployments', 'create', '--json']);
    expect([usage.code, JSON.parse(usage.err)]).toMatchObject([2, { exit_code: 2 }]);
  });

  it('of something else than Fairlead is told', async () => {
    double.answer = (_, response) => response.setHeader('content-type', 'text/html').end('<html>');
    expect((await cli.run(['key', 'whoami'])).err).toMatch(/answered with text\/html: is that the address of Fairlead/);
    double.answer = (_, response) => response.writeHead(302, { location: 'https://elsewhere.example' }).end();
    expect((await cli.run(['key', 'whoami'])).err).toContain('redirects to https://elsewhere.example');
    double.stop();
    const { code, err } = await cli.run(['key', 'whoami']);
    expect([code, err]).toEqual([1, expect.stringMatching(/^Error: Nothing answers at .*npm start.*\n$/)]);
  });

  it('is waited for until --timeout', async () => {
    double.answer = () => undefined;
    const { code, err } = await cli.run(['key', 'whoami', '--timeout', '0.2']);
    expect([code, err]).toEqual([3, expect.stringContaining('did not answer within 0.2 s')]);
  });
});

describe('A source that cannot be built', () => {
  const uploads = `/v2/deployments/${ID}/uploads/u?signature=s`;
  const log = { timestamp: '2026-01-01T00:00:00Z', level: 'ERROR', message: 'no such package' };
  const deployment = { id: ID, name: 'a', latest_revision_id: REVISION, source_config: {} };
  const answers: Readonly<Record<string, object>> = {
    [`GET /v2/deployments?name_contains=a&limit=100&offset=0`]: { resources: [deployment], offset: 1 },
    [`GET /v2/deployments/${ID}`]: deployment,
    // An address that only the service's other clients reach.
    [`POST /v2/deployments/${ID}/upload-url`]: { upload_url: `https://elsewhere.example${uploads}`, object_path: 'p' },
    [`PUT ${uploads}`]: {},
    [`PATCH /v2/deployments/${ID}`]: deployment,
    [`GET /v2/deployments/${ID}/revisions/${REVISION}`]: { id: REVISION, status: 'BUILD_FAILED' },
    [`GET /v2/deployments/${ID}/health`]: { detail: 'x', latest_revision: { reason: 'npm ended with code 1' } },
    [`POST /v1/projects/${ID}/revisions/${REVISION}/build_logs`]: { logs: [log], next_offset: null },
    [`POST /v1/projects/${ID}/revisions/${REVISION}/deploy_logs`]: { logs: [], next_offset: null },
  };

  it('ends the deployment of its folder with the log, the reason and the exit code 1', async () => {
    const sent = new Map<string, Buffer>();
    double.answer = (request, response) => {
      const asked = `${request.method} ${request.url}`;
      void request.toArray().then((chunks) => {
        sent.set(request.method!, Buffer.concat(chunks as Buffer[]));
        json(response, answers[asked] ? 200 : 500, answers[asked] ?? { detail: asked });
      });
    };
    cli.file('agent.py', '');
    const ended = await cli.run(['deploy', '.', '--name', 'a', '--reason', 'release']);
    expect(ended).toEqual({
      code: 1,
      out: '2026-01-01T00:00:00Z  ERROR    no such package\n',
      err: expect.stringMatching(/^1 file of .*\nUploading: .*\nError: npm ended with code 1\n$/),
    });
    expect([...sent.get('PUT')!.subarray(0, 2)]).toEqual([0x1f, 0x8b]);
    const source_revision_config = { source_tarball_path: 'p' };
    expect(JSON.parse(String(sent.get('PATCH')))).toEqual({
      revision_source: 'internal_source',
      source_revision_config,
    });
  });
});

describe('A command beside a program', () => {
  const started = { type: 'started', command_id: ID, revision_id: ID };
  const args = ['deployments', 'run', ID, '--reason', 'a look', '--', 'ls', '-l', '--all'];

  /** The service answers these lines, and then ends the answer or cuts it. */
  function answers(lines: readonly object[], end: 'end' | 'destroy' = 'end') {
    const bodies: Promise<string>[] = [];
    double.answer = (request, response) => {
      if (request.method === 'GET') return json(response, 200, { id: ID, name: 'a' });
      bodies.push(textOf(request));
      expect(request.headers['x-reason']).toBe('a%20look');
      response.writeHead(200, { 'content-type': 'application/jsonl' });
      response.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''), () => response[end]());
    };
    return { bodies };
  }

  it('writes where it did, and ends as it did', async () => {
    const { bodies } = answers([
      started,
      { type: 'stdout', text: 'a\u2028b\n\n' },
      { type: 'running' },
      { type: 'stderr', text: 'oh' },
      { type: 'ended', exit_code: 9, reason: null, duration_ms: 5 },
    ]);
    expect(await cli.run(args)).toEqual({ code: 9, out: 'a\u2028b\n\n', err: 'oh' });
    expect(JSON.parse(await bodies[0]!)).toEqual({ command: ['ls', '-l', '--all'] });
    await cli.run(['--timeout', '7', ...args]);
    expect(JSON.parse(await bodies[1]!)).toEqual({ command: ['ls', '-l', '--all'], timeout: 7 });
    const { out } = await cli.run(['--json', ...args]);
    expect(out.split('\n')[1]).toBe(JSON.stringify({ type: 'stdout', text: 'a\u2028b\n\n' }));
  });

  it('that the service ends, or that is lost, has the exit code 125', async () => {
    answers([started, { type: 'ended', exit_code: null, reason: 'It took longer than 1 s.', duration_ms: 1000 }]);
    expect(await cli.run(args)).toEqual({ code: 125, out: '', err: 'It took longer than 1 s.\n' });
    for (const end of ['end', 'destroy'] as const) {
      answers([started], end);
      const { code, err } = await cli.run(args);
      expect([code, err]).toEqual([125, expect.stringContaining('The connection was lost before the command ended')]);
    }
    double.answer = (_, response) => json(response, 409, { detail: 'No command can be run.' });
    expect(await cli.run(args)).toMatchObject({ code: 125, err: expect.stringContaining('No command can be run.') });
    expect(double.seen.filter((line) => line.startsWith('POST'))).toHaveLength(4);
  });

  it('is ended by Ctrl-C', async () => {
    let closed: Promise<unknown> | undefined;
    double.answer = (request, response) => {
      if (request.method === 'GET') return json(response, 200, { id: ID, name: 'a' });
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'application/jsonl' });
      response.write(`${JSON.stringify(started)}\n${JSON.stringify({ type: 'stderr', text: 'begun\n' })}\n`);
    };
    const { code } = await cli.run(args, { onErr: (text, child) => text === 'begun\n' && child.kill('SIGINT') });
    expect(code).toBe(130);
    await closed;
  });
});

describe('What a program writes', () => {
  const line = (id: number, message: string) => {
    return { id: String(id), timestamp: '2026-01-01T00:00:00Z', level: 'WARNING', message };
  };

  it('is followed, as the service filters it, until there is nothing to follow', async () => {
    const pages = [[line(7, 'slow'), line(5, 'slower')], [line(9, 'slowest')], [], [line(12, 'stuck')]];
    const asked: string[] = [];
    double.answer = (request, response) => {
      const url = new URL(request.url!, 'http://double');
      if (!url.pathname.endsWith('/app_logs')) {
        return json(response, 200, { id: ID, name: 'a', latest_revision_id: REVISION, executor: 'local' });
      }
      asked.push(url.search);
      const logs = pages.shift();
      if (!logs) return json(response, 404, { detail: 'Deployment not found.' });
      json(response, 200, { logs, next_offset: logs.at(-1)?.id ?? null });
    };
    const ended = await cli.run([
      'deployments',
      'logs',
      ID,
      '-f',
      '--level',
      'warn',
      '--search',
      'S l',
      '--limit',
      '2',
    ]);
    expect(ended).toMatchObject({
      code: 5,
      out: ['slower', 'slow', 'slowest', 'stuck'].map((text) => `2026-01-01T00:00:00Z  WARNING  ${text}\n`).join(''),
    });
    const wanted = 'level=WARNING&query=S+l';
    expect(asked).toEqual([
      `?order=desc&limit=2&${wanted}`,
      ...[7, 9, 9, 12].map((offset) => `?order=asc&limit=1000&${wanted}&offset=${offset}&wait=20`),
    ]);
  });

  it.each([
    [['--level', 'loud'], /loud.*one of debug, info, warn, error, critical/],
    [['--phase', 'run'], /does not run the program/],
    [['--phase', 'run', '--revision', REVISION], /does not run the program/],
  ])('is not asked for with %j of what runs elsewhere', async (options, message) => {
    double.answer = (_, response) =>
      json(response, 200, { ...{ id: ID, name: 'a', latest_revision_id: REVISION }, executor: 'kubernetes' });
    const { code, err } = await cli.run(['deployments', 'logs', ID, ...options]);
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe('What runs', () => {
  it.each(['stop', 'start', 'restart'])('is changed by %s, with the reason', async (action) => {
    let reason: unknown;
    double.answer = (request, response) => {
      reason = request.headers['x-reason'];
      json(response, 200, { id: ID, name: 'a' });
    };
    const { code, out } = await cli.run(['deployments', action, ID, '--reason', 'saving']);
    expect([code, reason, double.seen]).toEqual([0, 'saving', [`POST /v2/deployments/${ID}/${action}`]]);
    expect(out).toMatch(/is being (stopped|started|restarted); "fairlead deployments health" tells how it is\.\n$/);
  });
});

describe('A request that fails for the moment', () => {
  it('is sent again, with the same Idempotency-Key when it writes', async () => {
    const keys = new Set<unknown>();
    double.answer = (request, response) => {
      keys.add(request.headers['idempotency-key']);
      const count = double.seen.length;
      if (count === 1) request.socket.destroy();
      else if (count === 2) json(response, 503, { detail: 'Busy.' }, { 'retry-after': '0' });
      else json(response, 201, { id: ID, name: 'a', secrets: [], source_config: {}, source_revision_config: {} });
    };
    const { code, err } = await cli.run(['deployments', 'create', '-f', '-'], { input: '{}' });
    expect([code, double.seen.length, keys.size]).toEqual([0, 3, 1]);
    expect(err).toContain('Busy. Trying again in 0 s.');
  });

  it('is not sent again when that could do it twice', async () => {
    double.answer = (request) => request.socket.destroy();
    const { code, err } = await cli.run(['key', 'create']);
    expect([code, double.seen.length]).toEqual([1, 1]);
    expect(err).toContain('cut the connection');
  });
});

describe('Waiting for a rollout', () => {
  it.each([
    ['DEPLOYED', 0],
    ['BUILD_FAILED', 1],
    ['SKIPPED', 1],
  ])('that ends as %s ends with %d', async (status, code) => {
    rollout(status);
    expect(await cli.run(['deployments', 'wait', ID])).toMatchObject({
      code,
      err: `Revision ${REVISION}: ${status}\n`,
    });
  });

  it('ends with 3 when it takes too long', async () => {
    rollout('BUILDING');
    const { code, err } = await cli.run(['deployments', 'wait', ID, '--timeout', '0.5']);
    expect([code, err]).toEqual([3, expect.stringContaining(`Revision ${REVISION} is BUILDING after 0.5 s.`)]);
  });

  it.each([
    ['wait', ['deployments', 'wait', ID]],
    ['logs', ['deployments', 'logs', ID, '--revision', REVISION, '--phase', 'build', '-f']],
  ])('ends with 7 when gates hold the revision: %s', async (_, words) => {
    rollout('AWAITING_DEPLOY');
    const { answer } = double;
    const looks = [
      { held: true, looked_at: null, reasons: ['Nothing has been looked at yet.'] },
      { held: true, looked_at: '2026-01-01T12:00:00Z', reasons: ['g: Too few rows.'] },
    ];
    double.answer = (request, response) => {
      const { url = '' } = request;
      if (url.endsWith('/verdict')) json(response, 200, looks.length > 1 ? looks.shift() : looks[0]);
      else if (url.includes('logs')) json(response, 200, { logs: [], next_offset: null });
      else if (url.endsWith(`/revisions/${REVISION}`)) json(response, 200, { id: REVISION, status: 'AWAITING_DEPLOY' });
      else answer(request, response);
    };
    const { code, err } = await cli.run(words);
    expect([code, err]).toEqual([7, expect.stringContaining(`Revision ${REVISION} is held by its gates: g: Too few`)]);
  });

  it('waits on while gates hold the revision when their verdict is waited for', async () => {
    rollout('AWAITING_DEPLOY');
    let looks = 0;
    const { answer } = double;
    double.answer = (request, response) => {
      const { url = '' } = request;
      const isOver = url.includes(`/revisions/${REVISION}/wait`) && ++looks > 2;
      if (isOver) json(response, 200, { id: REVISION, status: 'DEPLOYED' });
      else answer(request, response);
    };
    expect(await cli.run(['deployments', 'wait', ID, '--verdict'])).toMatchObject({
      code: 0,
      err: `Revision ${REVISION}: AWAITING_DEPLOY\nRevision ${REVISION}: DEPLOYED\n`,
    });
    expect(looks).toBe(3);
  });

  it('is told as it was last seen when the service no longer answers', async () => {
    rollout('DEPLOYING');
    const { answer } = double;
    double.answer = (request, response) => {
      if (!request.url?.includes('timeout=1')) answer(request, response);
    };
    const { code, err } = await cli.run(['deployments', 'wait', ID, '--timeout', '0.5']);
    expect([code, err]).toEqual([3, expect.stringMatching(/is DEPLOYING after 0\.5 s\.\n$/)]);
  });

  it('ends with 130 at Ctrl-C', async () => {
    rollout('BUILDING');
    double.answer = ((answer) => (request, response) => {
      if (!request.url?.includes('timeout=25')) answer(request, response);
    })(double.answer);
    const onErr = (err: string, child: ChildProcess) => {
      if (err.endsWith(': BUILDING\n')) child.kill('SIGINT');
    };
    const { code, err } = await cli.run(['deployments', 'wait', ID], { onErr });
    expect([code, err]).toEqual([130, `Revision ${REVISION}: BUILDING\nError: Interrupted.\n`]);
  });
});

describe('Deleting a deployment', () => {
  /** Accepts a deletion; the deployment is there for so many looks at it. */
  function deletion(looks: number): void {
    let left = looks;
    double.answer = (request, response) => {
      if (request.method === 'DELETE') response.writeHead(204).end();
      else if (left-- > 0) json(response, 200, { id: ID, name: 'a', status: 'AWAITING_DELETE' });
      else json(response, 404, { detail: `Deployment ID ${ID} not found.` });
    };
  }
  const [accepted, look] = [`DELETE /v2/deployments/${ID}`, `GET /v2/deployments/${ID}`];
  const remove = (...more: string[]) => cli.run(['deployments', 'delete', ID, '--yes', ...more]);

  it('says so when it is gone, however late that is', async () => {
    deletion(3);
    expect(await remove()).toEqual({ code: 0, out: `Deleted ${ID}.\n`, err: '' });
    expect(double.seen).toEqual([accepted, look, look, look, look]);
  });

  it('ends with 3 when it is not gone in time', async () => {
    deletion(Infinity);
    const err = `Error: ${ID} is still being deleted after 2 s.\n`;
    expect(await remove('--timeout', '2')).toEqual({ code: 3, out: '', err });
    const { answer } = double;
    double.answer = (request, response) => {
      if (request.method === 'DELETE') answer(request, response);
    };
    expect(await remove('--timeout', '2')).toEqual({ code: 3, out: '', err });
  });

  it('waits for nothing with --no-wait', async () => {
    deletion(Infinity);
    expect(await remove('--no-wait')).toEqual({ code: 0, out: `${ID} is being deleted.\n`, err: '' });
    expect(double.seen).toEqual([accepted]);
  });
});

it('reads list after list until there are enough', async () => {
  double.answer = (request, response) => {
    const { searchParams: query } = new URL(request.url!, 'http://service');
    const [limit, offset] = [Number(query.get('limit')), Number(query.get('offset'))];
    const text = Array.from({ length: Math.min(limit, 250 - offset) }, (_, i) => `{"n":${offset + i}.0}`).join(',');
    response.setHeader('content-type', 'application/json').end(`[${text}]`);
  };
  const list = async (...args: string[]) => (await cli.run(['datasets', 'list', '--json', ...args])).out;
  expect(await list('--all')).toMatch(/^\[\{"n":0\.0\},.*\{"n":249\.0\}\]\n$/);
  expect(JSON.parse(await list('--limit', '120'))).toHaveLength(120);
  expect(double.seen.map((seen) => seen.replace(/.*limit=/, ''))).toEqual([
    ...['100&offset=0', '100&offset=100', '100&offset=200'],
    ...['100&offset=0', '20&offset=100'],
  ]);
  expect((await cli.run(['datasets', 'list'])).err).toContain('The first 50; --all shows all.');
});

it('says nothing when its reader stops early', async () => {
  const deployment = { id: ID, name: 'x'.repeat(200), status: 'READY', source: 's', source_revision_config: {} };
  double.answer = (_, response) => json(response, 200, { resources: Array(99).fill(deployment), offset: 99 });
  const ended = await cli.shell('for i in 1 2 3; do $FAIRLEAD deployments list --json | head -c 10 >/dev/null; done');
  expect(ended).toEqual({ code: 0, out: '', err: '' });
});

it('tells that it is not built', () => {
  mkdirSync(join(cli.folder, 'bin'));
  const copy = join(cli.folder, 'bin/fairlead.js');
  copyFileSync(join(__dirname, '../bin/fairlead.js'), copy);
  const { status, stdout, stderr } = spawnSync(process.execPath, [copy, 'key', 'list'], { encoding: 'utf8' });
  expect([status, stdout, stderr]).toEqual([
    1,
    '',
    expect.stringMatching(/^fairlead is not built yet: run "npm start".*\n$/),
  ]);
});

describe('A large upload', () => {
  const MIB = 1024 * 1024;
  const SPARE = 100 * MIB;

  /** Takes uploads in; answers what came, and how much memory the program took for it at most. */
  async function upload(args: readonly string[]): Promise<{ bytes: number; rows: number; peak: number }> {
    let [bytes, rows] = [0, 0];
    double.answer = (request, response) => {
      if (request.method === 'GET') return json(response, 200, { ...SESSION, run_count: 1 });
      const body = request.headers['content-encoding'] ? request.pipe(createGunzip()) : request;
      body.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        rows += chunk.toString('latin1').split('"row_id"').length - 1;
      });
      body.on('end', () => json(response, 200, { dataset: { name: 'd' }, experiment: SESSION }));
    };
    const report = "process.on('exit',()=>require('fs').writeFileSync('peak',String(process.resourceUsage().maxRSS)))";
    const NODE_OPTIONS = `-r ${cli.file('report.cjs', report)}`;
    const { code, err } = await cli.run(['experiments', 'upload', ...args], { env: { NODE_OPTIONS } });
    if (code !== 0) throw new Error(err);
    return { bytes, rows, peak: Number(cli.read('peak')) * 1024 };
  }

  function fill(name: string, text: string, times: number, end = ''): string {
    const path = cli.file(name, '');
    const file = openSync(path, 'a');
    const block = text.repeat(1000);
    for (let i = 0; i < times / 1000; i++) writeSync(file, block);
    writeSync(file, end);
    closeSync(file);
    return path;
  }

  it('takes no more memory than a small one', async () => {
    const row = '"a question, asked ""often""",an answer,0.5,2026-01-01T00:00:00Z\r\n';
    const header = 'inputs.question,actual_outputs.answer,scores.correct,start_time\r\n';
    const small = await upload([cli.file('small.csv', header + row), '--dataset', 'd']);
    expect(small.rows).toBe(1);
    const csv = fill('large.csv', row, 100_000);
    // The first row is the header then.
    const map = ['a question, asked "often"=inputs.q', 'an answer=actual_outputs.a', '0.5=scores.correct'];
    const large = await upload([csv, '--dataset', 'd', ...map.flatMap((each) => ['--map', each])]);
    expect(large.rows).toBeGreaterThan(99_000);
    expect(large.peak - small.peak).toBeLessThan(SPARE);
    const json = fill('large.json', `{"filler":"${'x'.repeat(1000)}"},\n`, 220_000);
    const whole = await upload([json, '--no-gzip']);
    expect(whole.bytes).toBe(statSync(json).size);
    expect(whole.bytes).toBeGreaterThan(2 * SPARE);
    expect(whole.peak - small.peak).toBeLessThan(SPARE);
  });
});

describe('A name', () => {
  const named = (...statuses: string[]): void => {
    const found = statuses.map((status, index) => ({ id: ID.slice(0, -1) + (index + 1), name: 'a', status }));
    double.answer = (request, response) => {
      const id = request.url!.match(/deployments\/([\da-f-]{36})/)?.[1];
      json(response, 200, id === undefined ? { resources: found } : found.find((each) => each.id === id));
    };
  };

  it('means the deployment that is not being deleted', async () => {
    named('AWAITING_DELETE', 'READY', 'AWAITING_DELETE');
    expect(JSON.parse((await cli.run(['deployments', 'get', 'a', '--json'])).out)).toMatchObject({ status: 'READY' });
    named('AWAITING_DELETE');
    const { out } = await cli.run(['deployments', 'get', 'a', '--json']);
    expect(JSON.parse(out)).toMatchObject({ status: 'AWAITING_DELETE' });
  });

  it('that several others have is refused with their ids', async () => {
    named('READY', 'AWAITING_DELETE', 'UNKNOWN');
    const { code, err } = await cli.run(['deployments', 'get', 'a']);
    expect([code, err]).toEqual([2, expect.stringContaining(`(${ID}, ${ID.slice(0, -1)}3)`)]);
  });
});

describe('The command line', () => {
  it('shows its help when nothing is said, and that of a command by its words', async () => {
    expect(await cli.run([])).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Exit codes:') });
    const { code, out } = await cli.run(['help', 'deployments', 'patch']);
    expect([code, out]).toEqual([0, expect.stringContaining('Usage: fairlead deployments patch')]);
    expect(await cli.run(['help', 'deployments', 'pach'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no command deployments pach'),
    });
  });

  it.each([
    ['deployments list --status REDY', '--status'],
    ['deployments list --limit many', '--limit'],
    ['deployments get a --at yesterday', '--at'],
    ['deployments get a --at-version one', '--at-version'],
    ['deployments history a --after x', '--after'],
    ['revisions list a --status DEPLOYED,DONE', '--status'],
    ['audit log --since soon', '--since'],
    ['key create --expires-at never', '--expires-at'],
  ])('names the option whose value is wrong, and asks nobody: %s', async (line, option) => {
    const { code, err } = await cli.run(line.split(' '));
    expect([code, err]).toEqual([2, expect.stringContaining(`option '${option} `)]);
    expect(double.seen).toEqual([]);
  });
});
