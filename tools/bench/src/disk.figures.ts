import { v7 as uuid } from 'uuid';
import { BenchServer } from './bench-server';
import { uploaded } from './experiments.figures';
import type { Figure } from './figure';
import { psql } from './programs';

const EXPERIMENTS = 20;
const ROWS = 2_500;
const RUNS = EXPERIMENTS * ROWS;
/** Tables that a run and its feedback cannot do without. */
const NEEDED = ['runs', 'feedback'];

const WORDS = (
  'a an and answer are agent is it in of on or the to that this with when where which who not no yes may must can city river ' +
  'country capital large small north south before after because between under over year month invoice order customer ' +
  'refund delivery account password reset number email address contact support ticket payment card late early'
).split(' ');

/** Bytes that one run takes, with its part of all that is stored beside it, against run and feedback stored by themselves. */
export async function diskFigures(url: string, folder: string): Promise<Figure> {
  const server = await BenchServer.start(url, folder);
  try {
    for (let n = 0; n < EXPERIMENTS; n++) await uploaded(server, smallBody(n));
  } finally {
    await server.stop();
  }
  const stored = await sizes(url);
  for (const name of NEEDED) {
    await psql(
      url,
      `create table least_${name} (like ${name} including all)`,
      `insert into least_${name} select * from ${name} order by id`,
      `reindex table least_${name}`,
    );
  }
  const least = (await sizes(url)).filter(({ table }) => table.startsWith('least_'));
  const sum = (relations: readonly Relation[]) => relations.reduce((total, { bytes }) => total + bytes, 0) / RUNS;
  const [all, floor] = [sum(stored), sum(least)];
  console.log(['table or index', 'bytes a run', 'at least'].join('\t'));
  for (const { table, name, bytes } of stored.filter((relation) => relation.bytes / RUNS >= 1)) {
    const same = least.find((relation) => relation.table === `least_${table}` && relation.columns === columnsOf(name));
    console.log([name === table ? table : `${table}: ${name}`, per(bytes), same ? per(same.bytes) : ''].join('\t'));
  }
  return {
    name: `bytes on the disk for each run of 300 bytes of JSON with two scores, against run and feedback by themselves`,
    value: all / floor,
    unit: '',
    goal: { atMost: 1.3 },
    detail: `${all.toFixed(0)} of ${floor.toFixed(0)} bytes; ${EXPERIMENTS} experiments of ${ROWS.toLocaleString('en')} rows on one dataset, with examples, uploaded bodies and the log`,
  };

  function columnsOf(name: string): string {
    return stored.find((relation) => relation.name === name)!.columns;
  }
}

interface Relation {
  readonly table: string;
  readonly name: string;
  /** Columns of an index. */
  readonly columns: string;
  readonly bytes: number;
  /** Bytes of its large values, which are a part of `bytes`. */
  readonly toast: number;
}

function per(bytes: number): string {
  return (bytes / RUNS).toFixed(0);
}

/** Every table and index of the database with its size, large ones first. */
export async function sizes(url: string): Promise<Relation[]> {
  const text = await psql(
    url,
    `select coalesce(json_agg(found order by found.bytes desc), '[]') from (
       select t.relname as table, t.relname as name, '' as columns,
         pg_table_size(t.oid) as bytes, coalesce(pg_table_size(nullif(t.reltoastrelid, 0)), 0) as toast
       from pg_class t where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace
       union all
       select t.relname, i.relname, regexp_replace(pg_get_indexdef(i.oid), '^.* USING ', ''), pg_relation_size(i.oid), 0
       from pg_index x join pg_class t on t.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
       where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace
     ) found`,
  );
  return JSON.parse(text) as Relation[];
}

/** Returns a function that makes texts of so many words, in an order that looks random: they compress as other texts do. */
export function words(): (count: number) => string {
  let seed = 1;
  return (count) =>
    Array.from({ length: count }, () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return WORDS[(seed >>> 16) % WORDS.length]!;
    }).join(' ');
}

/** The body of one experiment: about 300 bytes of inputs and outputs in a row, and two scores. */
export function smallBody(experiment: number, rows = ROWS): Buffer {
  const text = words();
  const results = Array.from({ length: rows }, (_, n) => {
    const start = Date.UTC(2026, 0, 1) + n * 1000;
    return {
      row_id: `20000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`,
      inputs: { question: text(18) },
      expected_outputs: { answer: text(10) },
      actual_outputs: { answer: text(16) },
      start_time: new Date(start).toISOString(),
      end_time: new Date(start + 100 + (n % 900)).toISOString(),
      evaluation_scores: [
        { key: 'correct', score: (n + experiment) % 3 ? 1 : 0 },
        { key: 'similarity', score: ((n * 7 + experiment) % 100) / 100 },
      ],
    };
  });
  return Buffer.from(
    JSON.stringify({
      experiment_name: `small ${experiment} ${uuid()}`,
      dataset_name: `small ${rows}`,
      experiment_start_time: '2026-01-01T00:00:00Z',
      experiment_end_time: new Date(Date.UTC(2026, 0, 3) + rows * 1000).toISOString(),
      results,
    }),
  );
}
