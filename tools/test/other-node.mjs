#!/usr/bin/env node
// Starts Fairlead with another Node, from the `node` package of the npm registry, uploads an experiment and reads it back.
// Usage: node tools/test/other-node.mjs [version], from the project's root, after `npm run build`; the version is 24 unless
// named. Ends with 0 and a message when that Node cannot be installed.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const version = process.argv[2] ?? '24';
const INSTALL_MS = 60_000;
const TRY_MS = 120_000;
const STOP_MS = 20_000;

function otherNode() {
  const said = 'process.versions.node + " " + process.execPath';
  const options = ['--yes', `--package=node@${version}`, '--', 'node', '-p', said];
  // Outside of the project, whose folder has a `node` of its own in its path otherwise.
  const how = { cwd: tmpdir(), encoding: 'utf8', timeout: INSTALL_MS, stdio: ['ignore', 'pipe', 'ignore'] };
  const [found, ...path] = execFileSync('npm', ['exec', ...options], how)
    .trim()
    .split(' ');
  // Where packages may run no scripts, the package has no program, and the one of the path answers.
  if (!`${found}.`.startsWith(`${version}.`)) throw new Error(`Node ${found} was found instead.`);
  return path.join(' ');
}

function freePort() {
  return new Promise((settle) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => settle(port));
    });
  });
}

async function works(program) {
  const deadline = Date.now() + TRY_MS;
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-node-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const env = { ...process.env, PORT: new URL(url).port, FAIRLEAD_DATA_DIR: folder, LOG_LEVEL: 'warn' };
  const server = spawn(program, [resolve('apps/standalone/dist/main.js')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((settle) => server.once('exit', settle));
  const until = async (what, found) => {
    for (;;) {
      const value = await found().catch(() => undefined);
      if (value) return value;
      if (Date.now() > deadline) throw new Error(`It took too long: ${what}.`);
      await delay(100);
    }
  };
  let running = true;
  void ended.then(() => (running = false));
  try {
    await until('the start', async () => {
      if (!running) return true;
      return (await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(TRY_MS) })).ok;
    });
    if (!running) throw new Error('The service ended at its start.');
    const key = readFileSync(join(folder, 'api-key'), 'utf8').trim();
    const ask = async (path, body) => {
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const method = body ? 'POST' : 'GET';
      const answer = await fetch(url + path, {
        ...{ method, headers, body: JSON.stringify(body) },
        signal: AbortSignal.timeout(TRY_MS),
      });
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
      return answer.json();
    };
    const [start_time, end_time] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z'];
    const { experiment } = await ask('/api/v1/datasets/upload-experiment', {
      experiment_name: `on Node ${version}`,
      dataset_name: 'other Node',
      experiment_start_time: start_time,
      experiment_end_time: end_time,
      results: [
        {
          row_id: '00000000-0000-4000-8000-000000000001',
          inputs: { question: '1 + 1?' },
          actual_outputs: { answer: '2' },
          evaluation_scores: [{ key: 'correct', score: 1 }],
          start_time,
          end_time,
        },
      ],
    });
    const read = await until('the statistics', async () => {
      const session = await ask(`/api/v1/sessions/${experiment.id}?include_stats=true`);
      return session.run_count === 1 && session;
    });
    if (read.feedback_stats.correct.avg !== 1) throw new Error(`The score was lost: ${JSON.stringify(read)}`);
  } finally {
    server.kill('SIGTERM');
    const killing = setTimeout(() => server.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(killing);
    rmSync(folder, { recursive: true, force: true });
  }
}

let program;
try {
  program = otherNode();
} catch {
  console.log(`Node ${version} could not be installed from the registry: not tried.`);
}
if (program) {
  await works(program);
  console.log(
    `Starts, takes an upload and reads it back on Node ${execFileSync(program, ['-v'], { encoding: 'utf8' }).trim()}.`,
  );
}
