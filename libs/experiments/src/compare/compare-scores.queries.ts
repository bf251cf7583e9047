import { escapeLiteral, type Pool } from 'pg';
import { to } from 'pg-copy-streams';
import { BadRequest } from '@fairlead/schema';
import { copiedFields } from '../storage/copy-rows';
import { ID_BYTES, IdTable } from '../storage/id-table';
import { unquoted } from '../platform-json';
import { latencyOf, storable } from '../sql';

/** Scores of one key in one experiment: the mean per row, NaN where there is none. */
export interface KeyScores {
  readonly means: Float64Array;
  /** Number of runs with a score. */
  readonly runs: number;
  /** Number of scores: more than runs where one has several. */
  readonly scores: number;
  /** The mean standard deviation of the runs of a row, over rows with several that are scored; undefined without any. */
  readonly spread?: number;
  /** True when every single score is 0 or 1. */
  readonly passFail: boolean;
  readonly least: number;
  readonly most: number;
  /** The first and the last, by name, of the kinds of source that scores come from. */
  readonly sources: readonly string[];
}

/** Values of one key in one experiment that are no scores, such as `friendly`. */
export interface KeyValues {
  readonly labels: readonly string[];
  /** Place in `labels` by row, -1 where there is none. Of a row that was run several times the most frequent value. */
  readonly codes: Int32Array;
  /** Rows whose runs have different values. */
  readonly mixed: ReadonlySet<number>;
}

/** The compared values of one experiment; arrays are by row of the `ScoreTable`. */
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
  /** Mean seconds of the runs by row; NaN where none has ended. */
  readonly rowLatencies: Float64Array;
  readonly keys: ReadonlyMap<string, KeyScores>;
  readonly categories: ReadonlyMap<string, KeyValues>;
}

/** Scores of several experiments over the union of their rows. */
export interface ScoreTable {
  readonly rows: number;
  /** Ids of the examples, 16 bytes each. */
  readonly ids: Buffer;
  readonly experiments: readonly ExperimentScores[];
  /** Keys that were left out because they do not fit into memory or time with the others. */
  readonly unread: readonly string[];
}

/** An experiment to compare, as its session row gives it. */
export interface Compared {
  readonly id: string;
  readonly name: string;
  readonly persisted: boolean;
}

/** Ids of run and example, version, latency, failed. */
const RUN_BYTES = 2 * ID_BYTES + 17;
/** Id of the run, score. */
const SCORE_BYTES = ID_BYTES + 8;
/** Characters that are read of the JSON of a value. */
export const VALUE_CHARACTERS = 100;
/** Different values of a key that are told apart; texts of which each is another one are no categories. */
const MOST_LABELS = 1000;
/** Label of all values beyond MOST_LABELS. */
export const FURTHER = '…';
/** Scores and values of all rows, keys and experiments together; each takes eight bytes of memory. */
const MOST_CELLS = 32_000_000;
/** Pairs of scores of all keys that are resampled, of tests with so many rows at most. */
const MOST_PAIRS = 4_000_000;
const MOST_RESAMPLED_ROWS = 4000;
/** Experiments read side by side, with two connections each: one comparison must leave some to others. */
const AT_A_TIME = 2;

/** Runs of an experiment packed into one value: hundreds of thousands of rows would take seconds. */
const runsOf = (session: string) => `
  select string_agg(uuid_send(id) || uuid_send(example_id)
    || float8send(coalesce(extract(epoch from example_from)::float8, 'NaN'))
    || float8send(coalesce(${latencyOf('')}, 'NaN'))
    || case status when 'error' then '\\x01'::bytea else '\\x00' end, ''::bytea order by id)
  from runs where session_id = ${session} and example_id is not null and parent_run_id is null`;

/**
 * Likewise scores and values by key: the JSON that tells of the key, its scores and its values, each after its length. They
 * are joined here: the planner knows nothing yet of what has just been stored. Objects and lists are no categories.
 */
const scoresOf = (session: string, keys: string) => `
  select int4send(octet_length(about)) || about || int4send(coalesce(octet_length(scores), 0)) || coalesce(scores, '')
    || int4send(coalesce(octet_length(labels), 0)) || coalesce(labels, '')
  from (
    select convert_to(json_build_array(key collate "C", min(source_type), max(source_type))::text, 'UTF8') as about,
      string_agg(uuid_send(run_id) || float8send(score), ''::bytea) filter (where score is not null) as scores,
      string_agg(uuid_send(run_id) || int4send(octet_length(left(value, ${VALUE_CHARACTERS})))
        || convert_to(left(value, ${VALUE_CHARACTERS}), 'UTF8'), ''::bytea)
        filter (where score is null and left(value, 1) not in ('{', '[')) as labels
    from feedback
    where session_id = ${session} and run_id is not null and (score is not null or value is not null)
      and comparative_experiment_id is null and (${keys}::text[] is null or key = any(${keys}))
    group by key collate "C"
  ) as lists`;

/**
 * Reads the scores of the experiments, in their order; `keys` undefined for all. With `first`, every key that fits is read,
 * these before the others, and the rest is named in `unread`.
 * @throws BadRequest without `first`, when they are more than fit into memory
 */
export async function loadScores(
  pool: Pool,
  experiments: readonly Compared[],
  keys: readonly string[] | undefined,
  first?: readonly string[],
): Promise<ScoreTable> {
  const wanted = keys ? `array[${keys.map((key) => escapeLiteral(storable(key))).join(',')}]::text[]` : 'null';
  const read = ({ id }: Compared) => {
    const session = `${escapeLiteral(id)}::uuid`;
    const both = Promise.all([copied(pool, runsOf(session)), copied(pool, scoresOf(session, wanted))]);
    // A failure is told where its turn comes.
    both.catch(() => undefined);
    return both;
  };
  const reading: ReturnType<typeof read>[] = [];
  const rows = new IdTable();
  const unpacked: Unpacked[] = [];
  // In the order of the experiments, so that the same comparison always numbers its rows alike.
  for (const place of experiments.keys()) {
    for (const next of experiments.slice(reading.length, place + AT_A_TIME)) reading.push(read(next));
    unpacked.push(new Unpacked(...(await reading[place]!), rows));
  }
  const lists = unpacked.reduce((sum, { lists }) => sum + lists.length, 0);
  const unread = first ? leftOut(unpacked, rows.size, first) : [];
  if (!first && lists * rows.size > MOST_CELLS) {
    throw new BadRequest(
      `The experiments have ${lists} keys together, each for ${rows.size} rows, which is too much: name keys with key, or compare fewer experiments.`,
    );
  }
  const tables = unpacked.map((one, place) => one.finish(experiments[place]!, rows.size, new Set(unread)));
  return { rows: rows.size, ids: rows.ids(), experiments: tables, unread };
}

/** Keys that are too many: what fits is filled with those of `first`, then by name. */
function leftOut(unpacked: readonly Unpacked[], rows: number, first: readonly string[]): string[] {
  const lists = new Map<string, number>();
  for (const { key } of unpacked.flatMap(({ lists }) => lists)) lists.set(key, (lists.get(key) ?? 0) + 1);
  const wanted = first.filter((key) => lists.has(key));
  const unread: string[] = [];
  let [cells, pairs] = [0, 0];
  for (const key of new Set([...wanted, ...[...lists.keys()].sort()])) {
    cells += lists.get(key)! * rows;
    if (rows <= MOST_RESAMPLED_ROWS) pairs += (unpacked.length - 1) * rows;
    if (cells > MOST_CELLS || pairs > MOST_PAIRS) unread.push(key);
  }
  return unread;
}

/** The bytes that a query answers, in one column; by COPY, since any other way they come as text of twice the size. */
async function copied(pool: Pool, query: string): Promise<Buffer> {
  const client = await pool.connect();
  let whole = false;
  try {
    const pieces: Buffer[] = [];
    const source = client.query(to(`copy (${query}) to stdout (format binary)`));
    for await (const piece of copiedFields(source)) pieces.push(piece);
    whole = true;
    return Buffer.concat(pieces);
  } finally {
    client.release(!whole);
  }
}

/** The scores of a key as they come from the database. */
interface PackedScores {
  readonly key: string;
  readonly sources: readonly string[];
  readonly data: Buffer;
  /** Values that are no scores. */
  readonly values: Buffer;
}

function* listsIn(bytes: Buffer): Iterable<PackedScores> {
  let at = 0;
  const next = () => {
    const start = at + 4;
    at = start + bytes.readInt32BE(at);
    return bytes.subarray(start, at);
  };
  while (at < bytes.length) {
    const [key, least, most] = JSON.parse(next().toString()) as [string, string, string];
    yield { key, sources: [...new Set([least, most])], data: next(), values: next() };
  }
}

/** Runs and scores of one experiment, before the number of rows of all of them is known. */
class Unpacked {
  /** Row of each run, by its number in `runIds`. */
  private readonly rowOfRun: Int32Array;
  private readonly runIds = new IdTable();
  readonly lists: readonly PackedScores[];

  constructor(
    private readonly runs: Buffer,
    scores: Buffer,
    rows: IdTable,
  ) {
    this.lists = [...listsIn(scores)];
    this.rowOfRun = new Int32Array(runs.length / RUN_BYTES);
    for (let offset = 0; offset < runs.length; offset += RUN_BYTES) {
      this.rowOfRun[this.runIds.add(runs, offset)] = rows.add(runs, offset + ID_BYTES);
    }
  }

  finish({ id, name, persisted }: Compared, rows: number, unread: ReadonlySet<string>): ExperimentScores {
    const runCount = this.rowOfRun.length;
    const runs = new Uint16Array(rows);
    const failed = new Uint16Array(rows);
    const versions = new Float64Array(rows).fill(NaN);
    const latencies: number[] = [];
    const rowLatencies = new Float64Array(rows).fill(NaN);
    const timed = new Uint16Array(rows);
    let errorCount = 0;
    for (let run = 0; run < runCount; run++) {
      const row = this.rowOfRun[run]!;
      const offset = run * RUN_BYTES + 2 * ID_BYTES;
      runs[row]!++;
      versions[row] = this.runs.readDoubleBE(offset);
      const latency = this.runs.readDoubleBE(offset + 8);
      if (!Number.isNaN(latency)) {
        latencies.push(latency);
        const count = ++timed[row]!;
        const before = count === 1 ? 0 : rowLatencies[row]!;
        rowLatencies[row] = before + (latency - before) / count;
      }
      if (this.runs[offset + 16]) {
        failed[row]!++;
        errorCount++;
      }
    }
    const keys = new Map<string, KeyScores>();
    const categories = new Map<string, KeyValues>();
    for (const list of this.lists) {
      if (unread.has(list.key)) continue;
      const scores = this.keyScores(list, rows);
      if (scores) keys.set(list.key, scores);
      const values = this.keyValues(list.values, rows);
      if (values) categories.set(list.key, values);
    }
    const sorted = Float64Array.from(latencies).sort();
    const counted = { id, name, persisted, runCount, errorCount, runs, failed, versions };
    return { ...counted, latencies: sorted, rowLatencies, keys, categories };
  }

  /** Undefined when none of them is a row's. */
  private keyValues(data: Buffer, rows: number): KeyValues | undefined {
    if (data.length === 0) return undefined;
    const places = new Map<string, number>();
    const codes = new Int32Array(rows).fill(-1);
    /** Number of times that each value came, for rows that have several different ones. */
    const votes = new Map<number, Map<number, number>>();
    const seen = new Uint32Array(rows);
    for (let offset = 0; offset < data.length;) {
      const run = this.runIds.find(data, offset);
      const start = offset + ID_BYTES + 4;
      const end = start + data.readInt32BE(start - 4);
      offset = end;
      if (run < 0) continue;
      const row = this.rowOfRun[run]!;
      const text = unquoted(data.toString('utf8', start, end));
      const label = places.size < MOST_LABELS || places.has(text) ? text : FURTHER;
      const code = places.get(label) ?? places.size;
      places.set(label, code);
      const before = seen[row]!++;
      if (before === 0) codes[row] = code;
      if (before === 0 || (codes[row] === code && !votes.has(row))) continue;
      const ofRow = votes.get(row) ?? new Map<number, number>([[codes[row]!, before]]);
      votes.set(row, ofRow.set(code, (ofRow.get(code) ?? 0) + 1));
    }
    const labels = [...places.keys()];
    for (const [row, ofRow] of votes) {
      const ranked = [...ofRow].sort(([a, few], [b, many]) => many - few || (labels[a]! < labels[b]! ? -1 : 1));
      codes[row] = ranked[0]![0];
    }
    return labels.length > 0 ? { labels, codes, mixed: new Set(votes.keys()) } : undefined;
  }

  /** Undefined when none of them is a row's. A row has the mean of its runs, and a run the mean of its scores. */
  private keyScores({ data, sources }: PackedScores, rows: number): KeyScores | undefined {
    if (data.length === 0) return undefined;
    const ofRuns = new Float64Array(this.rowOfRun.length);
    const counts = new Uint32Array(this.rowOfRun.length);
    let passFail = true;
    let scores = 0;
    let [least, most] = [Infinity, -Infinity];
    for (let offset = 0; offset < data.length; offset += SCORE_BYTES) {
      const run = this.runIds.find(data, offset);
      // Of a run that is no row's: a child, or one without an example.
      if (run < 0) continue;
      const score = data.readDoubleBE(offset + ID_BYTES);
      ofRuns[run]! += score;
      counts[run]!++;
      scores++;
      if (score !== 0 && score !== 1) passFail = false;
      if (score < least) least = score;
      if (score > most) most = score;
    }
    if (least > most) return undefined;
    return { ...this.rowMeans(ofRuns, counts, rows), scores, passFail, least, most, sources };
  }

  /** Means by row of the sums and numbers of scores by run, and how far the runs of a row are apart. */
  private rowMeans(sums: Float64Array, counts: Uint32Array, rows: number) {
    const means = new Float64Array(rows);
    const squares = new Float64Array(rows);
    const runsOfRow = new Uint32Array(rows);
    let runs = 0;
    for (let run = 0; run < counts.length; run++) {
      if (!counts[run]) continue;
      runs++;
      const row = this.rowOfRun[run]!;
      const mean = sums[run]! / counts[run]!;
      const before = runsOfRow[row] ? means[row]! : 0;
      means[row] = before + (mean - before) / ++runsOfRow[row]!;
      squares[row]! += (mean - before) * (mean - means[row]);
    }
    let [repeated, apart] = [0, 0];
    for (let row = 0; row < rows; row++) {
      const count = runsOfRow[row]!;
      if (count === 0) means[row] = NaN;
      if (count < 2) continue;
      repeated++;
      apart += Math.sqrt(squares[row]! / (count - 1));
    }
    return { means, runs, spread: repeated > 0 ? apart / repeated : undefined };
  }
}

/** The id of a row as text. */
export function exampleIdAt({ ids }: ScoreTable, row: number): string {
  return uuidText(ids.toString('hex', row * ID_BYTES, (row + 1) * ID_BYTES));
}

function uuidText(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
