import { hash } from 'node:crypto';
import { CopyRows, encodedFields, uuidBytes } from '@fairlead/blobs';
import { copyAtOnce } from '@fairlead/postgres';
import type { PoolClient } from 'pg';
import { exampleId, numberedIds } from '../common/ids';
import { usageInBytes, USAGE_MEMBERS } from '../common/run-usage';
import type { NumberedPlace } from './fill-targets.queries';
import { readRow, readScore, type StoredRow, type StoredScore } from '../bodies/stored-row';

export interface UploadFacts {
  readonly experiment: string;
  readonly tenant: string;
  readonly dataset: string;
  readonly name: string;
  /** Seed from which the ids of runs and feedback are derived. */
  readonly idSeed: string;
  /** When the upload was recorded, ISO 8601. */
  readonly time: string;
  /** Where the rows of a fill go, by their place; absent for an upload, which makes examples of its rows. */
  readonly places?: readonly NumberedPlace[];
}

export interface PreparedRows {
  readonly rows: readonly StoredRow[];
  readonly first: number;
  readonly feedback: CopyRows;
}

/** A version of an example that runs refer to. */
interface Version {
  readonly id: Buffer;
  /** Since when it is valid, microseconds since 1970. */
  readonly from: number;
  /** The inputs, or the MD5 (hex) of those that are stored. */
  readonly inputs: Buffer | string;
}

interface Current {
  readonly id: string;
  readonly mine: boolean;
  readonly from: string;
  readonly created: string;
  readonly sequence: number;
  readonly inputs: string;
  readonly outputs: string | null;
  readonly named: boolean;
}

const EXAMPLES =
  'examples (id, dataset_id, tenant_id, valid_from, created_at, sequence, name, inputs, outputs, metadata)';
const RUNS = `runs (id, tenant_id, session_id, dataset_id, example_id, example_from, name, run_type, start_time, end_time,
  status, error, inputs, outputs, extra, row_number, ${USAGE_MEMBERS.join(', ')})`;
const FEEDBACK = `feedback (id, tenant_id, session_id, run_id, key, score, value, comment, correction, source_type,
  source_metadata, extra, created_at, modified_at, score_sent)`;
type Ids = [Buffer, Buffer, Buffer];

/** Configurations kept of one upload. */
const MOST_CONFIGS = 1000;
const CHAIN = Buffer.from('chain');
const SUCCESS = Buffer.from('success');
const ERROR = Buffer.from('error');
/** Fields of the usage of a run that says nothing of it: each is SQL NULL. */
const NO_USAGE = Buffer.alloc(4 * USAGE_MEMBERS.length, 0xff);

/**
 * Stores the rows of one upload as examples, runs and feedback, batch by batch, on two connections side by side.
 * Repeating it on the same examples gives the same rows.
 */
export class RunWriter {
  private readonly runId: (number: number) => Buffer;
  private readonly feedbackId: (number: number) => Buffer;
  /** Fields that follow one another in every row of a table. */
  private readonly owners: { readonly run: Buffer; readonly feedback: Buffer; readonly example: Buffer };
  private readonly time: number;
  private readonly name: Buffer;
  /** Memory that has been stored and can be filled again. */
  private readonly spare: CopyRows[] = [];
  private readonly configs = new Map<string, string>();
  private storing: Promise<void> = Promise.resolve();
  private runs = 0;
  private scores = 0;

  constructor(
    private readonly examplesClient: PoolClient,
    private readonly runsClient: PoolClient,
    private readonly facts: UploadFacts,
  ) {
    this.runId = numberedIds(facts.idSeed, 'run');
    this.feedbackId = numberedIds(facts.idSeed, 'feedback');
    const [tenant, session, dataset] = [facts.tenant, facts.experiment, facts.dataset].map(uuidBytes) as Ids;
    this.owners = {
      run: encodedFields(tenant, session, dataset),
      feedback: encodedFields(tenant, session),
      example: encodedFields(dataset, tenant),
    };
    this.name = Buffer.from(facts.name);
    this.time = Date.parse(facts.time) * 1000;
  }

  /** Reads the next rows of `results`, so that they can be stored when those before them are. */
  prepare(slices: readonly Buffer[]): PreparedRows {
    const rows = slices.map(readRow);
    // In the order of the rows, in which they are not written: the last one of a key holds.
    for (const { scores } of rows) this.configure(scores);
    const feedback = this.empty();
    const first = this.runs;
    this.runs += rows.length;
    const numbers = rows.map(({ scores }) => (this.scores += scores.length) - scores.length);
    for (const index of spread(rows.length)) {
      const id = this.runId(first + index);
      let number = numbers[index]!;
      for (const score of rows[index]!.scores) this.feedback(feedback, score, number++, id);
    }
    return { rows, first, feedback };
  }

  /** Stores prepared rows; returns when their examples are, while runs and feedback may still be on their way. */
  async store(prepared: PreparedRows): Promise<void> {
    const { rows, first, feedback } = prepared;
    if (this.facts.places) return this.storeFill(prepared, this.facts.places);
    const current = await this.currentVersions(rows);
    const examples = this.empty();
    const runs = this.empty();
    const changed: string[] = [];
    const versions = new Map<string, Version>();
    const written = new Map<string, Version>();
    for (const [index, row] of rows.entries()) {
      if (versions.has(row.id)) continue;
      versions.set(row.id, this.version(row, first + index, current.get(row.id), examples, changed, written));
    }
    for (const index of spread(rows.length)) {
      const row = rows[index]!;
      this.run(runs, row, first + index, versions.get(row.id)!);
    }
    await this.copyRuns(runs, feedback);
    await this.storeExamples(examples, changed);
  }

  private async storeFill({ rows, first, feedback }: PreparedRows, places: readonly NumberedPlace[]): Promise<void> {
    const runs = this.empty();
    const examples = this.empty();
    const lost = rows.filter((_, index) => !places[first + index]!.example);
    const current = lost.length > 0 ? await this.currentVersions(lost) : new Map<string, Current>();
    const changed: string[] = [];
    const written = new Map<string, Version>();
    for (const index of spread(rows.length)) {
      const row = rows[index]!;
      const { example, rowNumber } = places[first + index]!;
      const version: Version = example
        ? { id: uuidBytes(example.id), from: example.from, inputs: example.inputs }
        : this.version(row, rowNumber, current.get(row.id), examples, changed, written);
      this.run(runs, row, first + index, version, rowNumber);
    }
    await this.copyRuns(runs, feedback);
    await this.storing;
    await this.storeExamples(examples, changed);
  }

  private async copyRuns(runs: CopyRows, feedback: CopyRows): Promise<void> {
    await this.storing;
    this.storing = this.copy(this.runsClient, [RUNS, runs], [FEEDBACK, feedback]);
    // Thrown by the next call, or by finish.
    this.storing.catch(() => undefined);
  }

  async storeSummary(slices: readonly Buffer[]): Promise<void> {
    const feedback = this.empty();
    const scores = slices.map(readScore);
    this.configure(scores);
    for (const score of scores) this.feedback(feedback, score, this.scores++, null);
    await this.storing;
    await this.copy(this.runsClient, [FEEDBACK, feedback]);
  }

  /** Ends the upload: the newest configuration of each feedback key becomes the tenant's. */
  async finish(): Promise<void> {
    await this.storing;
    await this.runsClient.query(
      `insert into feedback_configs (tenant_id, key, config)
         select $1, key, config from unnest($2::text[], $3::text[]) as given (key, config) order by key
       on conflict (tenant_id, key) do update set config = excluded.config`,
      [this.facts.tenant, [...this.configs.keys()], [...this.configs.values()]],
    );
  }

  /**
   * The example of each row as it stands: the dataset's own, else one of another dataset, which keeps the row's id for
   * itself.
   */
  private async currentVersions(rows: readonly StoredRow[]): Promise<Map<string, Current>> {
    const found = await this.lookUp([...new Set(rows.map((row) => row.id))]);
    const foreign = [...found.values()].filter((example) => !example.mine).map(({ id }) => id);
    if (foreign.length === 0) return found;
    const renamed = await this.lookUp(foreign.map((id) => exampleId(this.facts.dataset, id)));
    for (const id of foreign) {
      const own = renamed.get(exampleId(this.facts.dataset, id));
      if (own) found.set(id, own);
    }
    return found;
  }

  private async lookUp(ids: readonly string[]): Promise<Map<string, Current>> {
    const { rows } = await this.examplesClient.query<Current>({
      name: 'current examples',
      text: `select id, dataset_id = $3 as mine, (extract(epoch from valid_from) * 1000000)::bigint as from,
               (extract(epoch from created_at) * 1000000)::bigint as created, sequence,
               replace(inputs_md5::text, '-', '') as inputs, replace(outputs_md5::text, '-', '') as outputs,
               metadata is not null as named
             from examples where id = any($1::uuid[]) and tenant_id = $2 and valid_to is null
             order by dataset_id = $3`,
      values: [ids, this.facts.tenant, this.facts.dataset],
    });
    return new Map(rows.map((row) => [row.id, row]));
  }

  /**
   * The version of its example that a row refers to; written when it is new or changed. The id that one row's example
   * gets, because its own is in use elsewhere, may be that of another row of the batch: then both have one example.
   */
  private version(
    row: StoredRow,
    number: number,
    current: Current | undefined,
    examples: CopyRows,
    changed: string[],
    written: Map<string, Version>,
  ): Version {
    const own = current?.mine ? current : undefined;
    const id = own?.id ?? (current ? exampleId(this.facts.dataset, row.id) : row.id);
    if (own) {
      const from = Number(own.from);
      if (unchanged(own, row)) return { id: uuidBytes(id), from, inputs: row.inputs };
      if (from >= this.time) return { id: uuidBytes(id), from, inputs: own.inputs };
    }
    const earlier = written.get(id);
    if (earlier) return earlier;
    if (own) changed.push(id);
    const version = { id: uuidBytes(id), from: this.time, inputs: row.inputs };
    written.set(id, version);
    examples
      .row(10)
      .field(version.id)
      .encoded(this.owners.example)
      .time(this.time)
      .time(own ? Number(own.created) : this.time)
      .integer(own ? own.sequence : number)
      .field(row.rowName?.characters ?? row.name ?? Buffer.from(row.id))
      .field(row.inputs)
      .field(row.expectedOutputs)
      .field(row.rowName?.metadata ?? null);
    return version;
  }

  private run(runs: CopyRows, row: StoredRow, number: number, example: Version, rowNumber = number): void {
    runs
      .row(16 + USAGE_MEMBERS.length)
      .field(this.runId(number))
      .encoded(this.owners.run)
      .field(example.id)
      .time(example.from)
      .field(row.name ?? this.name)
      .field(CHAIN)
      .time(row.start)
      .time(row.end)
      .field(row.failed ? ERROR : SUCCESS)
      .field(row.error)
      .field(sameInputs(row, example) ? null : row.inputs)
      .field(row.actualOutputs)
      .field(row.extra)
      .integer(rowNumber);
    const usage = usageInBytes(row.actualOutputs, row.extra);
    if (usage) for (const name of USAGE_MEMBERS) runs.decimal(usage[name] === null ? null : String(usage[name]));
    else runs.encoded(NO_USAGE);
  }

  private feedback(feedback: CopyRows, score: StoredScore, number: number, run: Buffer | null): void {
    feedback
      .row(15)
      .field(this.feedbackId(number))
      .encoded(this.owners.feedback)
      .field(run)
      .field(score.key)
      .double(score.score)
      .field(score.value)
      .field(score.comment)
      .field(score.correction)
      .field(score.sourceType)
      .field(score.sourceMetadata)
      .field(score.extra)
      .time(score.createdAt ?? this.time)
      .time(score.modifiedAt ?? this.time)
      .field(score.scoreSent);
  }

  private configure(scores: readonly StoredScore[]): void {
    for (const { key: bytes, config } of scores) {
      if (!config) continue;
      const key = bytes.toString();
      if (this.configs.size < MOST_CONFIGS || this.configs.has(key)) this.configs.set(key, config.toString());
    }
  }

  private async storeExamples(examples: CopyRows, changed: readonly string[]): Promise<void> {
    if (changed.length > 0) {
      await this.examplesClient.query(
        `update examples set valid_to = $3
         where dataset_id = $1 and tenant_id = $4 and id = any($2::uuid[]) and valid_to is null`,
        [this.facts.dataset, changed, this.facts.time, this.facts.tenant],
      );
    }
    await this.copy(this.examplesClient, [EXAMPLES, examples]);
  }

  private empty(): CopyRows {
    return this.spare.pop()?.clear() ?? new CopyRows();
  }

  private async copy(client: PoolClient, ...tables: (readonly [string, CopyRows])[]): Promise<void> {
    const queries = tables
      .filter(([, { rows }]) => rows > 0)
      .map(([target, rows]) => ({ statement: `copy ${target} from stdin (format binary)`, bytes: rows.finish() }));
    if (queries.length > 0) await copyAtOnce(client, queries);
    this.spare.push(...tables.map(([, rows]) => rows));
  }
}

/**
 * The places of so many rows in the order in which they are written: five of nine, then the other four. Ascending keys in
 * the middle of an index leave its pages half full; those of the second round fill them up without another split.
 */
function spread(count: number): number[] {
  const places = Array.from({ length: count }, (_, place) => place);
  const isFirst = (place: number) => (place % 9) % 2 === 0;
  return [...places.filter(isFirst), ...places.filter((place) => !isFirst(place))];
}

function sameInputs(row: StoredRow, { inputs }: Version): boolean {
  return typeof inputs === 'string' ? inputs === md5(row.inputs) : inputs.equals(row.inputs);
}

/** Expected outputs that an upload leaves out say nothing about the example's. */
function unchanged(current: Current, row: StoredRow): boolean {
  if (current.inputs !== md5(row.inputs)) return false;
  if (row.expectedOutputs === null) return true;
  return current.outputs === md5(row.expectedOutputs) && (current.named || row.rowName === null);
}

function md5(bytes: Buffer): string {
  return hash('md5', bytes, 'hex');
}
