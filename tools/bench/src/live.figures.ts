import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import { BenchServer } from './bench-server';
import { sizes, words } from './disk.figures';
import { copyTime } from './experiments.figures';
import { type Figure, median, seconds, shown } from './figure';
import { psql } from './programs';

const CLIENTS = 8;
const TRACES = 4;
const RUNS_OF_TRACE = 8;
const RUNS = TRACES * RUNS_OF_TRACE;
const ROUNDS = 3;
const SECONDS = 5;
const GOAL_RATE = 8000;
const GOAL_P99_MS = 100;
const GOAL_READABLE_S = 2;
/** Bytes of a run beside twice its compressed text. */
const GOAL_BYTES = 600;

/** One version of the service with a database of its own. */
interface Version {
  readonly name: string;
  readonly server: BenchServer;
  readonly database: string;
  readonly rounds: Round[];
}

interface Round {
  readonly runs: number;
  /** Runs per second from the first request until the last run could be read. */
  readonly rate: number;
  /** 99th percentile of the time to the answer (ms). */
  readonly p99: number;
  /** Seconds from the last answer until all runs could be read. */
  readonly readable: number;
  /** Runs per second that psql copies. */
  readonly copied: number;
}

/**
 * Live runs of 2 KB, sent by eight clients in batches of four traces of eight runs: rate, time to the answer and until
 * they can be read, and bytes on the disk. `BENCH_AGAINST` names the folder of another version that has been built: its
 * rounds are measured between those of this one.
 */
export async function liveFigures(databases: (name: string) => Promise<string>, folder: string): Promise<Figure[]> {
  const { BENCH_AGAINST: other } = process.env;
  const versions: Version[] = [];
  try {
    for (const [name, checkout] of [['ours', undefined] as const, ...(other ? [['other', other] as const] : [])]) {
      const database = await databases(`bench_live_${name}`);
      const own = join(folder, name);
      mkdirSync(own, { recursive: true });
      const server = await BenchServer.start(database, own, '', {}, checkout);
      versions.push({ name, server, database, rounds: [] });
    }
    for (const { server } of versions) await send(server, 'warm', 1);
    for (let round = 0; round < ROUNDS; round++)
      for (const version of versions) version.rounds.push(await measure(version, `live ${round}`, folder));
  } finally {
    for (const { server } of versions) await server.stop();
  }
  return (await Promise.all(versions.map(figuresOf))).flat();
}

async function measure({ server, database }: Version, session: string, folder: string): Promise<Round> {
  const start = performance.now();
  const { times, last } = await send(server, session, SECONDS);
  const answered = performance.now();
  for (const id of last) await readable(server, id);
  const end = performance.now();
  const [{ id }] = await server.send<[{ id: string }]>('GET', `/api/v1/sessions?name=${encodeURIComponent(session)}`);
  const runs = times.length * RUNS;
  const copied = await copyTime(database, folder, { runs: `select * from runs where session_id = '${id}'` });
  return {
    runs,
    rate: runs / ((end - start) / 1000),
    p99: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!,
    readable: (end - answered) / 1000,
    copied: runs / copied,
  };
}

/** Sends batches for some seconds; returns the time that each answer took (ms), and the last run of each client. */
export async function send(server: BenchServer, session: string, duration: number, clients = CLIENTS) {
  const times: number[] = [];
  const end = performance.now() + duration * 1000;
  const client = async () => {
    for (;;) {
      const { body, id } = batch(session);
      times.push(1000 * (await seconds(() => server.post('/api/v1/runs/batch', body))));
      if (performance.now() > end) return id;
    }
  };
  const last = await Promise.all(Array.from({ length: clients }, client));
  return { times, last };
}

/** Resolves when a run can be read; a service whose views are behind says so until then. */
export async function readable(server: BenchServer, id: string): Promise<void> {
  for (;;) {
    const { status } = await fetch(`${server.url}/api/v1/runs/${id}`, { headers: server.headers });
    if (status === 200) return;
    if (status !== 503 && status !== 404) throw new Error(`GET /api/v1/runs/${id}: ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const prose = words();
/** Inputs and outputs of the runs of a batch, made once: making them takes as long as storing them. */
const TEXTS = Array.from({ length: 50 * RUNS }, () =>
  JSON.stringify({
    inputs: {
      messages: [
        { role: 'system', content: prose(60) },
        { role: 'user', content: prose(60) },
      ],
    },
    outputs: { messages: [{ role: 'assistant', content: prose(130) }] },
    extra: { metadata: { thread_id: randomUUID() }, runtime: { sdk: 'langsmith-py', sdk_version: '0.4.1' } },
    tags: ['bench', prose(1)],
  }).slice(1),
);

function batch(session: string): { readonly body: Buffer; readonly id: string } {
  const at = Math.floor(Math.random() * 50) * RUNS;
  const post: string[] = [];
  let id = '';
  for (let n = 0; n < RUNS; n++) {
    const start = new Date();
    const isRoot = n % RUNS_OF_TRACE === 0;
    const own = randomUUID();
    if (isRoot) id = own;
    const end = new Date(start.getTime() + 5 * n + 1);
    const members = {
      ...{ id: own, name: isRoot ? 'agent' : `step ${n % RUNS_OF_TRACE}`, run_type: isRoot ? 'chain' : 'llm' },
      ...{ session_name: session, trace_id: id, start_time: start.toISOString(), end_time: end.toISOString() },
      ...{ dotted_order: isRoot ? orderOf(start, own) : `${orderOf(start, id)}.${orderOf(start, own)}` },
      ...(!isRoot && { parent_run_id: id }),
    };
    post.push(`${JSON.stringify(members).slice(0, -1)},${TEXTS[at + n]!}`);
  }
  return { body: Buffer.from(`{"post":[${post.join()}]}`), id };
}

function orderOf(time: Date, id: string): string {
  return `${time.toISOString().replaceAll(/[-:.Z]/g, '')}000Z${id}`;
}

/** Bytes that `zstd` makes of inputs, outputs, extra and tags of a run, with those of its batch. */
function compressedText(): number {
  let bytes = 0;
  for (let at = 0; at < TEXTS.length; at += RUNS) {
    const input = TEXTS.slice(at, at + RUNS).join('\n');
    bytes += spawnSync('zstd', ['-qc'], { input }).stdout.length;
  }
  return bytes / TEXTS.length;
}

async function figuresOf({ name, database, rounds }: Version): Promise<Figure[]> {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const runs = Number(await psql(database, 'select count(*) from runs'));
  await psql(database, 'checkpoint');
  await psql(database, 'vacuum analyze');
  const stored = await sizes(database);
  const bytes = stored.reduce((sum, relation) => sum + relation.bytes, 0) / runs;
  const text = compressedText();
  console.log(`\n${name}: bytes on the disk for each of ${runs.toLocaleString('en')} live runs`);
  console.log(['table or index', 'bytes a run', 'large values'].join('\t'));
  for (const { table, name: own, bytes: all, toast } of stored.filter((relation) => relation.bytes / runs >= 1)) {
    const large = toast / runs >= 1 ? (toast / runs).toFixed(0) : '';
    console.log([own === table ? table : `${table}: ${own}`, (all / runs).toFixed(0), large].join('\t'));
  }
  const title = `live runs of 2 KB, ${CLIENTS} clients, batches of ${TRACES} traces of ${RUNS_OF_TRACE} runs`;
  const list = (value: (round: Round) => number, unit: string) =>
    rounds.map((round) => `${shown(value(round))}${unit}`).join(', ');
  const also = name === 'ours' ? '' : ` (${name})`;
  return [
    {
      name: `${title}${also}: stored until they can be read, against COPY of the same rows by psql`,
      value: median(rounds.map(({ rate, copied }) => rate / copied)),
      unit: '',
      detail: `${rounds.map(({ rate, copied }) => `${shown(rate)}/s of ${shown(copied)}/s`).join(', ')}; the aim is ${shown(GOAL_RATE)}/s`,
    },
    {
      name: `the same${also}: p99 of a batch`,
      value: of(({ p99 }) => p99),
      unit: 'ms',
      goal: { atMost: GOAL_P99_MS },
      detail: list(({ p99 }) => p99, ' ms'),
    },
    {
      name: `the same${also}: readable after the last answer`,
      value: of(({ readable: time }) => time),
      unit: 's',
      goal: { atMost: GOAL_READABLE_S },
      detail: list(({ readable: time }) => time, ' s'),
    },
    {
      name: `the same${also}: bytes on the disk for each run, against twice its compressed text and ${GOAL_BYTES} bytes`,
      value: bytes / (2 * text + GOAL_BYTES),
      unit: '',
      goal: { atMost: 1 },
      detail: `${bytes.toFixed(0)} bytes; the text alone has ${text.toFixed(0)} compressed by zstd`,
    },
  ];
}
