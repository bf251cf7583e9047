import { ID_BYTES, IdTable } from '@fairlead/runs';
import { type GivenLabels, givenLabels, isWhole, labelsOfRows } from './labels';
import { boundsOf, columnOf, meansOf } from './score-columns';
import type { Compared, ExperimentScores, KeyLabels, KeyScores, LabelValues, Measure } from './score-table';

/** Ids of run and example, version, latency, failed. */
const RUN_BYTES = 2 * ID_BYTES + 17;
/** Id of the run, score. */
const SCORE_BYTES = ID_BYTES + 8;
/** Numbers that a row takes for its score, its labels and its objects of a key, eight bytes each. */
const [SCORE_CELLS, LABEL_CELLS, STRUCTURE_CELLS] = [1, 3, 1];

interface PackedScores {
  readonly key: string;
  readonly sources: readonly string[];
  readonly data: Buffer;
  /** Values that are no scores. */
  readonly labels: Buffer;
  /** Ids of runs with values that are objects or lists. */
  readonly structures: Buffer;
}

/** A measure by run, in the form of scores. */
interface PackedMeasure extends Pick<PackedScores, 'data'> {
  readonly measure: Measure;
}

function* listsIn(bytes: Buffer): Iterable<PackedScores | PackedMeasure> {
  let at = 0;
  const next = () => {
    const start = at + 4;
    at = start + bytes.readInt32BE(at);
    return bytes.subarray(start, at);
  };
  while (at < bytes.length) {
    const about = JSON.parse(next().toString()) as [string, string, string] | { measure: Measure };
    const packed = { data: next(), labels: next(), structures: next() };
    if (!Array.isArray(about)) yield { ...about, data: packed.data };
    else yield { key: about[0], sources: [...new Set(about.slice(1))], ...packed };
  }
}

/** Runs and scores of one experiment, before the number of rows of all of them is known. */
export class Unpacked {
  private readonly rowOfRun: Int32Array;
  private readonly runIds = new IdTable();
  private readonly lists: readonly PackedScores[];
  private readonly used: readonly PackedMeasure[];

  constructor(
    private readonly runs: Buffer,
    scores: Buffer,
    rows: IdTable,
  ) {
    const lists = [...listsIn(scores)];
    this.lists = lists.filter((list) => 'key' in list);
    this.used = lists.filter((list) => 'measure' in list);
    this.rowOfRun = new Int32Array(runs.length / RUN_BYTES);
    for (let offset = 0; offset < runs.length; offset += RUN_BYTES) {
      this.rowOfRun[this.runIds.add(runs, offset)] = rows.add(runs, offset + ID_BYTES);
    }
  }

  cells(): Map<string, number> {
    return new Map(
      this.lists.map(({ key, data, labels, structures }) => [
        key,
        SCORE_CELLS * Number(data.length > 0) +
          LABEL_CELLS * Number(labels.length > 0) +
          STRUCTURE_CELLS * Number(structures.length > 0),
      ]),
    );
  }

  /** Numbers that a row takes for what its runs used. */
  usedCells(): number {
    return this.used.length;
  }

  labelledKeys(): string[] {
    return this.lists.flatMap(({ key, labels }) => (labels.length > 0 ? key : []));
  }

  finish(
    { id, name, persisted }: Compared,
    rows: number,
    unread: ReadonlySet<string>,
    labelValues: ReadonlyMap<string, LabelValues>,
  ): ExperimentScores {
    const runCount = this.rowOfRun.length;
    const runs = new Uint16Array(rows);
    const failed = new Uint16Array(rows);
    const versions = new Float64Array(rows).fill(NaN);
    const latencies = new Float64Array(runCount);
    const timed = new Int32Array(runCount);
    let ended = 0;
    let errorCount = 0;
    for (let run = 0; run < runCount; run++) {
      const row = this.rowOfRun[run]!;
      const offset = run * RUN_BYTES + 2 * ID_BYTES;
      runs[row]!++;
      versions[row] = this.runs.readDoubleBE(offset);
      const latency = this.runs.readDoubleBE(offset + 8);
      if (!Number.isNaN(latency)) {
        latencies[ended] = latency;
        timed[ended++] = row;
      }
      if (this.runs[offset + 16]) {
        failed[row]!++;
        errorCount++;
      }
    }
    const keys = new Map<string, KeyScores>();
    const labels = new Map<string, KeyLabels>();
    const structures = new Map<string, ReadonlySet<number>>();
    for (const list of this.lists) {
      if (unread.has(list.key)) continue;
      const given = this.givenLabels(list.labels);
      const scores = this.keyScores(list, given, rows, labelValues.get(list.key));
      if (scores) keys.set(list.key, scores);
      const ofRows = labelsOfRows(given, this.rowOfRun, rows);
      if (ofRows) labels.set(list.key, ofRows);
      const structured = this.rowsWith(list.structures);
      if (structured.size > 0) structures.set(list.key, structured);
    }
    const measures = new Map<Measure, KeyScores>();
    const taken = latencies.subarray(0, ended);
    if (ended > 0) measures.set('latency', columnOf(timed.subarray(0, ended), taken, rows));
    for (const { measure, data } of this.used) {
      const column = this.usedColumn(data, rows);
      if (column) measures.set(measure, column);
    }
    const counted = { id, name, persisted, runCount, errorCount, runs, failed, versions };
    return { ...counted, latencies: taken.sort(), measures, keys, labels, structures };
  }

  private givenLabels(data: Buffer): GivenLabels {
    const runs: number[] = [];
    const texts: string[] = [];
    for (let offset = 0; offset < data.length;) {
      const run = this.runIds.find(data, offset);
      const start = offset + ID_BYTES + 4;
      offset = start + data.readInt32BE(start - 4);
      if (run < 0) continue;
      runs.push(run);
      texts.push(data.toString('utf8', start, offset));
    }
    return givenLabels(runs, texts);
  }

  private rowsWith(data: Buffer): Set<number> {
    const rows = new Set<number>();
    for (let offset = 0; offset < data.length; offset += ID_BYTES) {
      const run = this.runIds.find(data, offset);
      if (run >= 0) rows.add(this.rowOfRun[run]!);
    }
    return rows;
  }

  private usedColumn(data: Buffer, rows: number): KeyScores | undefined {
    const most = data.length / SCORE_BYTES;
    const [rowsOfRuns, values] = [new Int32Array(most), new Float64Array(most)];
    let count = 0;
    for (let offset = 0; offset < data.length; offset += SCORE_BYTES) {
      const run = this.runIds.find(data, offset);
      if (run < 0) continue;
      rowsOfRuns[count] = this.rowOfRun[run]!;
      values[count++] = data.readDoubleBE(offset + ID_BYTES);
    }
    return count > 0 ? columnOf(rowsOfRuns.subarray(0, count), values.subarray(0, count), rows) : undefined;
  }

  /** Undefined when none of them is a row's. A row has the mean of its runs, and a run the mean of its scores. */
  private keyScores(
    { data, sources }: PackedScores,
    given: GivenLabels,
    rows: number,
    values: LabelValues | undefined,
  ): KeyScores | undefined {
    const most = data.length / SCORE_BYTES + (values ? given.runs.length : 0);
    const [runs, scores] = [new Int32Array(most), new Float64Array(most)];
    let count = 0;
    for (let offset = 0; offset < data.length; offset += SCORE_BYTES) {
      const run = this.runIds.find(data, offset);
      if (run < 0) continue;
      runs[count] = run;
      scores[count++] = data.readDoubleBE(offset + ID_BYTES);
    }
    const valueOf = given.labels.map((label) => (isWhole(label) ? values?.get(label) : undefined));
    for (const [at, code] of given.codes.entries()) {
      if (valueOf[code] === undefined) continue;
      runs[count] = given.runs[at]!;
      scores[count++] = valueOf[code];
    }
    if (count === 0) return undefined;
    const all = scores.subarray(0, count);
    const passFail = all.every((score) => score === 0 || score === 1);
    const ofRuns = meansOf(runs.subarray(0, count), all, this.rowOfRun.length).means;
    const rowsOfRuns = new Int32Array(count);
    const scored = new Float64Array(count);
    let scoredRuns = 0;
    for (let run = 0; run < ofRuns.length; run++) {
      if (Number.isNaN(ofRuns[run]!)) continue;
      rowsOfRuns[scoredRuns] = this.rowOfRun[run]!;
      scored[scoredRuns++] = ofRuns[run]!;
    }
    const column = columnOf(rowsOfRuns.subarray(0, scoredRuns), scored.subarray(0, scoredRuns), rows);
    return { ...column, ...boundsOf(all), scores: count, passFail, sources };
  }
}
