import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import type { BenchServer } from './bench-server';
import { experimentBody } from './experiment-body';
import { type Figure, median, seconds, shown } from './figure';
import { psql } from './programs';

const ROUNDS = 3;
const ROWS = 10_000;
const SCORES_PER_ROW = 3;
const UPLOAD = '/api/v1/datasets/upload-experiment';

/** An upload of 10,000 rows: time to the answer, rate of storing, and time until its statistics can be read. */
export async function uploadFigures(server: BenchServer, databaseUrl: string, folder: string): Promise<Figure[]> {
  await uploaded(server, experimentBody(1000, `warm ${uuid()}`));
  const answers: number[] = [];
  const stores: number[] = [];
  const readable: number[] = [];
  const details = { answer: [] as string[], store: [] as string[] };
  let size = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const body = experimentBody(ROWS, `bench ${uuid()}`);
    size = body.length;
    // What the server gets are bytes too; parsing a text that is ready is told beside it.
    const text = body.toString();
    const ready = await seconds(() => JSON.parse(text) as unknown);
    const parsed = await seconds(() => JSON.parse(body.toString()) as unknown);
    const { answered, stored, session } = await uploaded(server, body);
    const copied = await copyTime(databaseUrl, folder, {
      runs: await runsOf(databaseUrl, session),
      feedback: `select * from feedback where session_id = '${session}'`,
    });
    const rows = ROWS * (1 + SCORES_PER_ROW);
    answers.push(answered / parsed);
    stores.push(copied / stored);
    readable.push(stored);
    details.answer.push(
      `${shown(answered * 1000)} ms, JSON.parse ${shown(parsed * 1000)} ms (of a decoded text ${shown(ready * 1000)} ms)`,
    );
    details.store.push(`${shown(rows / stored)}/s of ${shown(rows / copied)}/s`);
  }
  const upload = `upload of ${ROWS.toLocaleString('en')} rows (${Math.round(size / 1e6)} MB)`;
  return [
    {
      name: `${upload}: time to the answer, against JSON.parse of the same body`,
      value: median(answers),
      unit: '',
      goal: { atMost: 3 },
      detail: details.answer.join('; '),
    },
    {
      name: 'the same: runs and scores stored per second, against COPY of the same rows by psql',
      value: median(stores),
      unit: '',
      goal: { atLeast: 0.6 },
      detail: details.store.join(', '),
    },
    {
      name: 'the same: statistics readable after the answer',
      value: median(readable),
      unit: 's',
      goal: { atMost: 3 },
      detail: readable.map((value) => `${shown(value)} s`).join(', '),
    },
  ];
}

/** An upload of 100,000 rows: how much memory grows, and how slow other requests get meanwhile. */
export async function largeUploadFigures(server: BenchServer): Promise<Figure[]> {
  const body = experimentBody(100_000, `large ${uuid()}`);
  for (let n = 0; n < 200; n++) await server.send('GET', '/v2/deployments?limit=1');
  const before = server.residentMegabytes();
  let most = before;
  let done = false;
  const waits: number[] = [];
  const watching = (async () => {
    while (!done) {
      waits.push(await seconds(() => server.send('GET', '/v2/deployments?limit=1')));
      most = Math.max(most, server.residentMegabytes());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const { answered, stored } = await uploaded(server, body);
  done = true;
  await watching;
  const p99 = waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.99)]! * 1000;
  const upload = `upload of 100,000 rows (${Math.round(body.length / 1e6)} MB)`;
  return [
    {
      name: `${upload}: growth of resident memory`,
      value: most - before,
      unit: 'MB',
      goal: { atMost: 200 },
      detail: `${shown(before)} MB before, ${shown(most)} MB at most; answered after ${shown(answered)} s, stored after ${shown(stored)} s more`,
    },
    {
      name: 'the same: p99 of a GET meanwhile',
      value: p99,
      unit: 'ms',
      goal: { atMost: 100 },
      detail: `${waits.length} requests, slowest ${shown(waits.at(-1)! * 1000)} ms`,
    },
  ];
}

interface Uploaded {
  /** Seconds to the answer. */
  readonly answered: number;
  /** Seconds from the answer until the statistics could be read. */
  readonly stored: number;
  readonly session: string;
}

/** Uploads a body and waits until its statistics can be read. */
export async function uploaded(server: BenchServer, body: Buffer): Promise<Uploaded> {
  let session = '';
  const answered = await seconds(async () => {
    const { experiment } = await server.post<{ experiment: { id: string } }>(UPLOAD, body);
    session = experiment.id;
  });
  const stored = await seconds(async () => {
    while (
      (await server.send<{ latency_p50: number | null }>('GET', `/api/v1/sessions/${session}`)).latency_p50 === null
    ) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  });
  return { answered, stored, session };
}

/** Returns a query for runs as a reader sees them: a run whose inputs are those of its example holds them once more. */
async function runsOf(databaseUrl: string, session: string): Promise<string> {
  const columns = await psql(
    databaseUrl,
    `select string_agg(case column_name when 'inputs' then 'coalesce(r.inputs, e.inputs)' else 'r.' || column_name end,
       ', ' order by ordinal_position) from information_schema.columns where table_name = 'runs'`,
  );
  return `select ${columns.trim()} from runs r join examples e on e.id = r.example_id and e.dataset_id = r.dataset_id
    and e.valid_from = r.example_from where r.session_id = '${session}'`.replaceAll('\n', ' ');
}

/** Seconds psql takes to COPY the rows of queries into tables with the same columns and indexes; `rows` is by the table. */
export async function copyTime(
  databaseUrl: string,
  folder: string,
  rows: Readonly<Record<string, string>>,
): Promise<number> {
  const tables = Object.keys(rows);
  const file = (table: string) => join(folder, `${table}.copy`);
  for (const table of tables) {
    await psql(
      databaseUrl,
      `drop table if exists bench_${table}`,
      `create table bench_${table} (like ${table} including all)`,
      `\\copy (${rows[table]}) to '${file(table)}'`,
    );
  }
  const took = await seconds(async () => {
    for (const table of tables) await psql(databaseUrl, `\\copy bench_${table} from '${file(table)}'`);
  });
  for (const table of tables) {
    await psql(databaseUrl, `drop table bench_${table}`);
    rmSync(file(table));
  }
  return took;
}
