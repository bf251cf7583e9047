import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { BenchServer } from './bench-server';
import { type Figure, seconds, shown } from './figure';
import { copyOut, EVENTS, fillLog } from './log.figures';

const ROOT = join(__dirname, '../../..');
/** The npm scripts, so that a tool is started as users start it. */
const { scripts: SCRIPTS } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};
const EVENTS_OF_A_SEAL = 10_000;
/** Between two requests of the client that the service has while a tool runs. */
const PAUSE_MS = 50;

interface Run {
  readonly seconds: number;
  /** Resident memory at most. */
  readonly megabytes: number;
}

/**
 * `npm run replay` and `npm run audit` over every read model of a million events while the service runs and is asked
 * for pages. `pool` is on a database of its own, at `url`.
 */
export async function toolsFigures(pool: Pool, url: string, folder: string): Promise<Figure[]> {
  // The tables of the whole service, and its followers' checkpoints.
  await (await BenchServer.start(url, folder)).stop();
  await fillLog(pool);
  // What consumers do about new deployments is not to be measured.
  await pool.query(
    `update checkpoints set "position" = (select max("position") from events) where name like 'standalone.%'`,
  );
  const copied = await seconds(() => copyOut(url));
  const seals = join(folder, 'seals.jsonl');
  const server = await BenchServer.start(url, folder, '', { SEAL_FILE: seals });
  try {
    await sealed(seals);
    const keys = join(folder, 'audit-keys.json');
    writeFileSync(keys, JSON.stringify(await server.send('GET', '/v1/audit/keys')));
    const client = new PatientClient(server);
    const replay = await run('replay', [], url, folder);
    // Without keys and seals from outside, the audit cannot check everything and says so with its exit code.
    const audit = await run('audit', ['--keys', keys, '--head', seals], url, folder);
    const answers = await client.stop();
    return [...figures('replay', replay, copied, answers), ...figures('audit', audit, copied, answers)];
  } finally {
    await server.stop();
  }
}

/** Resolves when the file has the seals of all events. @throws Error when it does not within two minutes */
async function sealed(file: string): Promise<void> {
  for (const end = Date.now() + 120_000; Date.now() < end; await delay(200)) {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
    if (lines >= EVENTS / EVENTS_OF_A_SEAL) return;
  }
  throw new Error('The events are not sealed.');
}

function figures(tool: string, { seconds, megabytes }: Run, copied: number, answers: number): Figure[] {
  const name = `npm run ${tool} of every read model, ${EVENTS.toLocaleString('en')} events, while the service runs`;
  const detail = `${shown(seconds)} s, ${shown(EVENTS / seconds)} events/s; COPY TO ${shown(copied)} s`;
  return [
    { name: `${name}, against COPY TO of the events`, value: copied / seconds, unit: '', detail },
    {
      name: 'the same: resident memory',
      value: megabytes,
      unit: 'MB',
      detail: `${answers} pages meanwhile, no failure`,
    },
  ];
}

/** Asks for a page again and again. */
class PatientClient {
  private readonly stopping = new AbortController();
  private readonly asking: Promise<number>;

  constructor(server: BenchServer) {
    this.asking = this.ask(server);
    // Told by `stop`.
    this.asking.catch(() => undefined);
  }

  /** Stops asking and returns the number of pages that came. @throws Error when one did not */
  stop(): Promise<number> {
    this.stopping.abort();
    return this.asking;
  }

  private async ask(server: BenchServer): Promise<number> {
    let answers = 0;
    while (!this.stopping.signal.aborted) {
      await server.send('GET', '/v2/deployments?limit=20');
      answers += 1;
      await delay(PAUSE_MS);
    }
    return answers;
  }
}

/** Runs a tool of the project to its end. @throws Error when it fails */
async function run(tool: string, args: readonly string[], url: string, folder: string): Promise<Run> {
  const env = { ...process.env, DATABASE_URL: url, FAIRLEAD_DATA_DIR: folder };
  const start = performance.now();
  const [, ...words] = SCRIPTS[tool]!.split(' ');
  const child = spawn(process.execPath, [...words, ...args], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4000)));
  }
  let megabytes = 0;
  const watch = setInterval(() => (megabytes = Math.max(megabytes, most(child.pid!))), 100);
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve));
  clearInterval(watch);
  if (code !== 0) throw new Error(`npm run ${tool} ended with ${code}: ${said}`);
  return { seconds: (performance.now() - start) / 1000, megabytes };
}

/** The most resident memory that a process has had so far in megabytes, 0 once it has ended. */
function most(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
