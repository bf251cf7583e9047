import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { BenchServer } from './bench-server';
import { smallBody } from './disk.figures';
import { uploaded } from './experiments.figures';
import { type Figure, median, seconds, shown } from './figure';
import { readable, send } from './live.figures';
import { psql } from './programs';

/** Runs of the project, and rows of the experiment. */
const { BENCH_GROW_RUNS = '5000000', BENCH_GROW_ROWS = '500000' } = process.env;
const [RUNS, ROWS] = [Number(BENCH_GROW_RUNS), Number(BENCH_GROW_ROWS)];
const RUNS_OF_TRACE = 8;
const DELETED = Math.min(RUNS, 1_000_000);
const LARGE_TEXTS = 100;
const LIST_MS = 100;
const CLIENTS = 4;
const SECONDS = 5;

/** Reports lists, batches and deletions where one project, one experiment or single texts are large, each when it is known. */
export async function growFigures(
  database: string,
  folder: string,
  report: (figures: Figure | Figure[]) => void,
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const server = await BenchServer.start(database, folder, '', { UPLOAD_MAX_BYTES: String(2 ** 30) });
  try {
    const one = await project(server, 'large');
    const small = await send(server, 'small', SECONDS, CLIENTS);
    await psql(database, ...fill(one, RUNS), 'vacuum analyze runs');
    const name = `a project of ${shown(RUNS)} runs`;
    report(await recounted(server, database, one, name));
    for (const [list, query] of Object.entries(lists()))
      report(await times(server, `${name}: ${list}`, `/v1/projects/${one}/traces${query}`));
    report(await times(server, `${name}: all projects with their counts`, '/v1/projects'));
    const large = await send(server, 'large', SECONDS, CLIENTS);
    await Promise.all(large.last.map((id) => readable(server, id)));
    report({
      name: `${name}: a further batch of 32 runs, against one of a small project`,
      value: median(large.times) / median(small.times),
      unit: '',
      detail: `medians ${shown(median(large.times))} and ${shown(median(small.times))} ms, ${CLIENTS} clients`,
    });
    report(await deletion(server, database, one));
    report(await largeExperiment(server));
    report(await largeTexts(server));
  } finally {
    await server.stop();
  }
}

/** Makes a project by sending it a run; returns its id. */
async function project(server: BenchServer, name: string): Promise<string> {
  const id = randomUUID();
  await server.send('POST', '/api/v1/runs', { id, name: 'first', session_name: name });
  await readable(server, id);
  const [{ id: session }] = await server.send<[{ id: string }]>('GET', `/api/v1/sessions?name=${name}`);
  return session;
}

/** Statements that add traces of eight runs, half a second apart, of which every 10,000th fails or has another name. */
function fill(session: string, runs: number): string[] {
  const trace = `md5('${session} ' || n / ${RUNS_OF_TRACE})::uuid`;
  const isRoot = `n % ${RUNS_OF_TRACE} = 0`;
  const nth = `n / ${RUNS_OF_TRACE}`;
  return [
    `insert into runs (id, tenant_id, session_id, name, run_type, start_time, end_time, status, error, inputs, outputs,
       extra, parent_run_id, trace_id, total_tokens, row_number)
     select case when ${isRoot} then ${trace} else gen_random_uuid() end, s.tenant_id, s.id,
       case when ${isRoot} and ${nth} % 10000 = 1 then 'rare' when ${isRoot} then 'agent' else 'step' end,
       case when ${isRoot} then 'chain' else 'llm' end, start, start + (n % 900) * interval '1 ms',
       case when ${nth} % 10000 = 0 then 'error' else 'success' end,
       case when ${nth} % 10000 = 0 then '"it failed"' end,
       '{"question":"' || repeat(md5(n::text), 4) || '"}', '{"answer":"' || repeat(md5(n::text), 4) || '"}',
       '{"metadata":{"thread_id":"' || ${nth} / 5 || '"}}', case when not ${isRoot} then ${trace} end, ${trace},
       case when not ${isRoot} then 100 end, 0
     from sessions s cross join generate_series(0, ${runs - 1}) n
       cross join lateral (select timestamptz '2026-01-01' + ${nth} * interval '4 s' + n % ${RUNS_OF_TRACE} * interval '10 ms' as start) t
     where s.id = '${session}'`,
  ];
}

/** Time until a large project of a version that kept no counts has them, while a batch to another one is stored. */
async function recounted(server: BenchServer, database: string, session: string, name: string): Promise<Figure> {
  await psql(database, `update sessions set run_count = ${RUNS / RUNS_OF_TRACE} where id = '${session}'`);
  const waits: number[] = [];
  const took = await seconds(async () => {
    await server.send('POST', '/api/v1/runs', { id: randomUUID(), name: 'next', session_name: 'large' });
    for (;;) {
      const id = randomUUID();
      waits.push(
        await seconds(async () => {
          await server.send('POST', '/api/v1/runs', { id, name: 'other', session_name: 'small' });
          await readable(server, id);
        }),
      );
      const left = 'select count(*) from trace_recounts';
      if (waits.length > 3 && (await psql(database, left)).trim() === '0') return;
    }
  });
  return {
    name: `${name}: counted anew, while runs of another project are sent`,
    value: took,
    unit: 's',
    detail: `a run of the other one can be read after ${shown(Math.max(...waits) * 1000)} ms at most`,
  };
}

/** Queries of lists by what they are of. */
function lists(): Record<string, string> {
  const middle = new Date(Date.UTC(2026, 0, 1) + (RUNS / RUNS_OF_TRACE / 2) * 4000).toISOString();
  return {
    'the newest traces': '?limit=50',
    'the traces before a time in the middle': `?limit=50&to=${middle}`,
    'failed traces, one of 10,000': '?limit=50&status=error',
    'one thread': '?limit=50&thread_id=7',
    'a name that one of 10,000 has, a page': '?limit=50&name=rare',
    'a name that none has, a page': '?limit=50&name=none',
    'a text that none has, a page': '?limit=50&text=none',
  };
}

async function times(server: BenchServer, name: string, path: string): Promise<Figure> {
  const waits: number[] = [];
  for (let n = 0; n < 20; n++) waits.push(1000 * (await seconds(() => server.send('GET', path))));
  const [first, ...others] = waits;
  return {
    name,
    value: Math.max(...others),
    unit: 'ms',
    goal: { atMost: LIST_MS },
    detail: `the slowest of ${others.length}; median ${shown(median(others))} ms, the first ${shown(first!)} ms`,
  };
}

/** Deletes a project of a million runs while another one is read and written. */
async function deletion(server: BenchServer, database: string, read: string): Promise<Figure[]> {
  const deleted = await project(server, 'deleted');
  await psql(database, ...fill(deleted, DELETED), 'vacuum analyze runs');
  let done = false;
  const reads: number[] = [];
  const writes: number[] = [];
  const reading = (async () => {
    while (!done) {
      const path = `/v1/projects/${read}/traces?limit=50`;
      reads.push(1000 * (await seconds(() => server.send('GET', path))));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  const writing = (async () => {
    while (!done) {
      const id = randomUUID();
      const body = { id, name: 'beside', session_name: 'small' };
      writes.push(
        1000 *
          (await seconds(async () => {
            await server.send('POST', '/api/v1/runs', body);
            await readable(server, id);
          })),
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const gone = await seconds(async () => {
    await server.send('DELETE', `/api/v1/sessions/${deleted}`);
    while ((await fetch(`${server.url}/api/v1/sessions/${deleted}`, { headers: server.headers })).status !== 404);
  });
  const left = `select count(*) from (select 1 from runs where session_id = '${deleted}' limit 1) r`;
  const empty = await seconds(async () => {
    while ((await psql(database, left)).trim() !== '0') await new Promise((resolve) => setTimeout(resolve, 200));
  });
  done = true;
  await Promise.all([reading, writing]);
  const name = `deletion of a project of ${shown(DELETED)} runs`;
  const p99 = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length * 0.99)]!;
  return [
    {
      name: `${name}: until nobody sees it`,
      value: gone,
      unit: 's',
      goal: { atMost: 1 },
      detail: `its rows are gone after ${shown(empty)} s more`,
    },
    {
      name: 'the same: p99 of the newest traces of another project meanwhile',
      value: p99(reads),
      unit: 'ms',
      goal: { atMost: LIST_MS },
      detail: `${reads.length} requests, median ${shown(median(reads))} ms, slowest ${shown(Math.max(...reads))} ms`,
    },
    {
      name: 'the same: p99 of a run of another project, until it can be read',
      value: p99(writes),
      unit: 'ms',
      detail: `${writes.length} runs, median ${shown(median(writes))} ms, slowest ${shown(Math.max(...writes))} ms`,
    },
  ];
}

async function largeExperiment(server: BenchServer): Promise<Figure[]> {
  const { answered, stored, session } = await uploaded(server, smallBody(0, ROWS));
  const name = `an experiment of ${shown(ROWS)} rows`;
  return [
    {
      name: `${name}: stored after the answer`,
      value: stored,
      unit: 's',
      detail: `answered after ${shown(answered)} s; ${shown(ROWS / stored)} rows a second`,
    },
    await times(server, `${name}: the list of experiments`, '/api/v1/sessions?limit=20'),
    await times(server, `${name}: its newest traces`, `/v1/projects/${session}/traces?limit=50`),
  ];
}

async function largeTexts(server: BenchServer): Promise<Figure[]> {
  const text = smallBody(1, 3000).toString().slice(0, 1_000_000);
  const session_name = 'large texts';
  const took: number[] = [];
  let id = '';
  for (let n = 0; n < LARGE_TEXTS; n++) {
    id = randomUUID();
    const body = { id, name: 'large', session_name, inputs: { text }, outputs: { text: `${n}` } };
    took.push(1000 * (await seconds(() => server.send('POST', '/api/v1/runs', body))));
  }
  const shownAfter = await seconds(() => readable(server, id));
  const [{ id: session }] = await server.send<[{ id: string }]>('GET', '/api/v1/sessions?name=large%20texts');
  const name = `${LARGE_TEXTS} runs with a text of 1 MB`;
  return [
    {
      name: `${name}: time to the answer of each`,
      value: median(took),
      unit: 'ms',
      detail: `one after the other, the slowest ${shown(Math.max(...took))} ms; all can be read ${shown(shownAfter)} s after the last`,
    },
    await times(server, `${name}: the list of their traces`, `/v1/projects/${session}/traces?limit=50`),
  ];
}
