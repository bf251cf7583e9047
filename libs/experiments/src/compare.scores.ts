import type { Pool } from 'pg';

/** Scores of one key in one experiment: the mean per row, NaN where there is none. */
export interface KeyScores {
  readonly means: Float64Array;
  /** True when every single score is 0 or 1. */
  readonly passFail: boolean;
  readonly least: number;
  readonly most: number;
  /** The first and the last, by name, of the kinds of source that scores come from. */
  readonly sources: readonly string[];
}

/** What is compared of one experiment; arrays are by row of the `ScoreTable`. */
export interface ExperimentScores {
  readonly id: string;
  readonly name: string;
  /** False while rows of an upload are still being stored. */
  readonly persisted: boolean;
  readonly runCount: number;
  readonly errorCount: number;
  /** Runs by row. */
  readonly runs: Uint16Array;
  /** Failed runs by row. */
  readonly failed: Uint16Array;
  /** The version of the example that was run, as seconds since 1970 by row; NaN where it is not known. */
  readonly versions: Float64Array;
  /** Seconds, ascending. */
  readonly latencies: Float64Array;
  readonly keys: ReadonlyMap<string, KeyScores>;
}

/** Scores of several experiments over the union of their rows. */
export interface ScoreTable {
  readonly rows: number;
  /** Ids of the examples, 16 bytes each. */
  readonly ids: Buffer;
  readonly experiments: readonly ExperimentScores[];
}

/** An experiment to compare, as its session row gives it. */
export interface Compared {
  readonly id: string;
  readonly name: string;
  readonly persisted: boolean;
}

interface Packed {
  readonly key: string | null;
  readonly data: Buffer | null;
  readonly least_source: string | null;
  readonly most_source: string | null;
}

const RUN_BYTES = 33;
const SCORE_BYTES = 12;
const GROWTH = 2;

/** Runs and scores of one experiment, each packed into one value: hundreds of thousands of rows would take seconds. */
const STATEMENT = `
  with run as materialized (
    select id, example_id, example_from, extract(epoch from end_time - start_time)::float8 as latency, status,
      row_number() over (order by id) - 1 as number
    from runs where session_id = $1 and example_id is not null and parent_run_id is null
  )
  select null as key, null as least_source, null as most_source,
    string_agg(uuid_send(example_id) || float8send(coalesce(extract(epoch from example_from)::float8, 'NaN'))
      || float8send(coalesce(latency, 'NaN')) || case status when 'error' then '\\x01'::bytea else '\\x00' end,
      ''::bytea order by number) as data
  from run
  union all
  select f.key, min(f.source_type), max(f.source_type),
    string_agg(int4send(run.number::int) || float8send(f.score), ''::bytea)
  from feedback f join run on run.id = f.run_id
  where f.session_id = $1 and f.score is not null and f.comparative_experiment_id is null
    and ($2::text[] is null or f.key = any($2))
  group by f.key`;

/** Reads the scores of the experiments, in their order; `keys` undefined for all. */
export async function loadScores(
  pool: Pool,
  experiments: readonly Compared[],
  keys: readonly string[] | undefined,
): Promise<ScoreTable> {
  const index = new RowIndex();
  const packed = await Promise.all(
    experiments.map(({ id }) =>
      pool.query<Packed>({ name: 'compare scores', text: STATEMENT, values: [id, keys ?? null] }),
    ),
  );
  // In the order of the experiments, so that the same comparison always numbers its rows alike.
  const unpacked = packed.map(({ rows }) => new Unpacked(rows, index));
  const tables = unpacked.map((one, place) => one.finish(experiments[place]!, index.size));
  return { rows: index.size, ids: index.ids(), experiments: tables };
}

/** Gives each example the number of a row. */
class RowIndex {
  private readonly numbers = new Map<string, number>();
  private bytes = Buffer.alloc(16 * 1024);

  get size(): number {
    return this.numbers.size;
  }

  row(data: Buffer, offset: number): number {
    const id = data.toString('latin1', offset, offset + 16);
    let number = this.numbers.get(id);
    if (number === undefined) {
      number = this.numbers.size;
      this.numbers.set(id, number);
      if ((number + 1) * 16 > this.bytes.length) this.bytes = Buffer.concat([this.bytes], this.bytes.length * GROWTH);
      data.copy(this.bytes, number * 16, offset, offset + 16);
    }
    return number;
  }

  ids(): Buffer {
    return this.bytes.subarray(0, this.size * 16);
  }
}

/** Runs and scores of one experiment, before the number of rows of all of them is known. */
class Unpacked {
  private readonly rowOfRun: Int32Array;
  private readonly runs: Buffer;

  constructor(
    private readonly packed: readonly Packed[],
    index: RowIndex,
  ) {
    this.runs = packed.find(({ key }) => key === null)?.data ?? Buffer.alloc(0);
    this.rowOfRun = new Int32Array(this.runs.length / RUN_BYTES);
    for (let run = 0; run < this.rowOfRun.length; run++) this.rowOfRun[run] = index.row(this.runs, run * RUN_BYTES);
  }

  finish({ id, name, persisted }: Compared, rows: number): ExperimentScores {
    const runCount = this.rowOfRun.length;
    const runs = new Uint16Array(rows);
    const failed = new Uint16Array(rows);
    const versions = new Float64Array(rows).fill(NaN);
    const latencies: number[] = [];
    let errorCount = 0;
    for (let run = 0; run < runCount; run++) {
      const row = this.rowOfRun[run]!;
      const offset = run * RUN_BYTES;
      runs[row]!++;
      versions[row] = this.runs.readDoubleBE(offset + 16);
      const latency = this.runs.readDoubleBE(offset + 24);
      if (!Number.isNaN(latency)) latencies.push(latency);
      if (this.runs[offset + 32]) {
        failed[row]!++;
        errorCount++;
      }
    }
    const keys = new Map<string, KeyScores>();
    for (const { key, data, least_source: least, most_source: most } of this.packed) {
      if (key === null || data === null) continue;
      keys.set(key, this.scores(data, rows, [...new Set([least ?? '', most ?? ''])]));
    }
    const sorted = Float64Array.from(latencies).sort();
    return { id, name, persisted, runCount, errorCount, runs, failed, versions, latencies: sorted, keys };
  }

  private scores(data: Buffer, rows: number, sources: readonly string[]): KeyScores {
    const sums = new Float64Array(rows);
    const counts = new Uint32Array(rows);
    let passFail = true;
    let [least, most] = [Infinity, -Infinity];
    for (let offset = 0; offset < data.length; offset += SCORE_BYTES) {
      const row = this.rowOfRun[data.readInt32BE(offset)]!;
      const score = data.readDoubleBE(offset + 4);
      sums[row]! += score;
      counts[row]!++;
      if (score !== 0 && score !== 1) passFail = false;
      if (score < least) least = score;
      if (score > most) most = score;
    }
    for (let row = 0; row < rows; row++) sums[row] = counts[row] ? sums[row]! / counts[row]! : NaN;
    return { means: sums, passFail, least, most, sources };
  }
}

/** The id of a row as text. */
export function exampleIdAt({ ids }: ScoreTable, row: number): string {
  return uuidText(ids.toString('hex', row * 16, row * 16 + 16));
}

function uuidText(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
