import { check, type Infer, INVALID, ParseContext, type Problem, Problems, type Schema } from '@fairlead/schema';
import { JsonScanner, JsonSyntaxError, type JsonVisitor, parseJson } from './json-scanner';
import type { ExperimentLimits } from './experiment-limits';
import { LimitExceeded, type LimitName } from './upload.errors';
import { feedbackSchema, type Header, headerMembers, headerSchema, rowSchema, uploadSchema } from './upload-schema';
import { readRow } from './stored-row';
import { FillRowList, type FillRows, RowContents } from './row-contents';
import { RowTimes } from './row-times';

export interface CheckedUpload {
  readonly header: Header;
  readonly metadata: string | null;
  readonly rows: number;
  readonly summaryScores: number;
  readonly otherInputs: { readonly count: number; readonly row: number; readonly first: number };
  readonly fill?: FillRows;
}

/** The outcome of checking a body; plain data, so that it can come from another thread. */
export type Verdict =
  | { readonly kind: 'valid'; readonly upload: CheckedUpload }
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[]; readonly total: number }
  | { readonly kind: 'limit'; readonly limit: LimitName; readonly allowed: number };

const ROWS = 'results';
const SCORES = 'summary_experiment_scores';

/** Rows that one fill may have. */
const MOST_FILLED = 100_000;

/**
 * Checks the body of an upload that arrives in blocks: JSON, schema, that every row lies in the experiment's time, and
 * that rows with the same `row_id` have the same expected outputs. Holds one row at a time, and about 100 bytes per row.
 */
export class UploadCheck implements JsonVisitor {
  private readonly scanner: JsonScanner;
  private readonly header: Record<string, unknown> = {};
  private readonly times = new RowTimes();
  private readonly scores = new ListCheck(SCORES, feedbackSchema);
  private readonly rows = new ListCheck(ROWS, rowSchema);
  private readonly repeated = new Problems();
  private headerBytes = 0;
  private metadata: string | null = null;
  private readonly contents = new RowContents();
  private readonly contradictions = new Problems();
  private readonly fillRows: FillRowList | undefined;
  private otherInputs = { count: 0, row: 0, first: 0 };
  private foreign: unknown;
  private broken: Verdict | undefined;

  /** `fills` is true when the rows are to fill an experiment. */
  constructor(
    private readonly limits: ExperimentLimits,
    fills = false,
  ) {
    if (fills) this.fillRows = new FillRowList();
    const scannerLimits = { valueBytes: limits.maxRowBytes, depth: limits.maxDepth };
    this.scanner = new JsonScanner(new Set([ROWS, SCORES]), scannerLimits, this);
  }

  /** Takes the next block; answers false when the verdict is certain and further blocks are not needed. */
  push(block: Buffer): boolean {
    if (!this.broken) this.broken = this.attempt(() => this.scanner.push(block));
    return !this.broken;
  }

  finish(): Verdict {
    let any = true;
    this.broken ??= this.attempt(() => (any = this.scanner.end()));
    if (this.broken) return this.broken;
    const problems = any ? this.problems() : missingBody();
    if (problems.total > 0) return { kind: 'invalid', problems: problems.kept, total: problems.total };
    const header = headerSchema.parse(this.header, new ParseContext(['body'])) as Header;
    const counts = { rows: this.rows.count, summaryScores: this.scores.count, otherInputs: this.otherInputs };
    const fill = this.fillRows?.rows();
    return { kind: 'valid', upload: { header, metadata: this.metadata, ...counts, ...(fill && { fill }) } };
  }

  member(key: string, slice: Buffer, offset: number): void {
    const value = parseJson(slice, offset);
    if (key === ROWS || key === SCORES) this.listSeen(key);
    if (!(key in bodyMembers)) return;
    this.headerBytes += slice.length;
    if (this.headerBytes > this.limits.maxHeaderBytes) {
      throw new LimitExceeded('header bytes', this.limits.maxHeaderBytes);
    }
    this.header[key] = value;
    if (key === 'experiment_metadata') this.metadata = value === null ? null : slice.toString();
  }

  array(key: string): void {
    this.listSeen(key);
    this.header[key] = [];
  }

  element(key: string, slice: Buffer, offset: number): void {
    const value = parseJson(slice, offset);
    if (key === SCORES) {
      this.scores.add(value);
      return;
    }
    const row = this.rows.add(value);
    if (!row) return;
    const place = this.rows.count - 1;
    this.times.add(place, row.start_time.micros, row.end_time.micros);
    this.compare(place, row);
    if (!this.fillRows) return;
    if (this.rows.count > MOST_FILLED) throw new LimitExceeded('filled rows', MOST_FILLED);
    const { inputs, expectedOutputs: expected } = readRow(slice);
    this.fillRows.add(row.row_id, { inputs, expected }, { inputs: row.inputs, expected: row.expected_outputs });
  }

  private compare(place: number, { row_id, inputs, expected_outputs: expected }: Infer<typeof rowSchema>): void {
    const found = this.contents.add(place, row_id, inputs, expected);
    if (found?.member === 'expected_outputs') {
      const error = `a row_id has one reference: results.${found.first} has the same row_id and other expected_outputs, or none`;
      this.contradictions.add(broken(['body', ROWS, place, found.member], error, row_id));
    } else if (found && this.otherInputs.count++ === 0) this.otherInputs = { count: 1, row: place, first: found.first };
  }

  root(slice: Buffer, offset: number): void {
    this.foreign = parseJson(slice, offset);
  }

  private listSeen(key: string): void {
    if (key in this.header) this.repeated.add(broken(['body', key], 'this member may occur only once', null));
  }

  private attempt(step: () => void): Verdict | undefined {
    try {
      step();
      return undefined;
    } catch (error) {
      if (error instanceof LimitExceeded) return { kind: 'limit', limit: error.limit, allowed: error.allowed };
      if (!(error instanceof JsonSyntaxError)) throw error;
      const problem = jsonInvalid(error);
      return { kind: 'invalid', problems: [problem], total: 1 };
    }
  }

  private problems(): Problems {
    const problems = new Problems();
    const body = this.foreign === undefined ? this.header : this.foreign;
    const header = check(uploadSchema, body, ['body'], problems);
    for (const found of [this.repeated, this.scores.problems, this.rows.problems, this.contradictions])
      merge(problems, found);
    if (header) this.checkTogether(header, problems);
    return problems;
  }

  private checkTogether(header: Header, problems: Problems): void {
    const { experiment_start_time: start, experiment_end_time: end } = header;
    if (header.dataset_id === undefined && header.dataset_name === undefined) {
      problems.add(broken(['body'], 'either dataset_id or dataset_name must be given', {}));
    }
    if (start.micros > end.micros) {
      problems.add(broken(['body', 'experiment_end_time'], 'must not be before experiment_start_time', end.iso));
      return;
    }
    this.times.check(start, end, (row, member, error, input) =>
      problems.add(broken(['body', ROWS, row, member], error, input)),
    );
  }
}

/** Checks the elements of one list and counts them. */
class ListCheck<T> {
  readonly problems = new Problems();
  count = 0;

  constructor(
    private readonly name: string,
    private readonly schema: Schema<T>,
  ) {}

  add(input: unknown): T | undefined {
    const context = new ParseContext(['body', this.name, this.count++], this.problems);
    const value = this.schema.parse(input, context);
    return value === INVALID ? undefined : value;
  }
}

const bodyMembers: Readonly<Record<string, true>> = Object.assign(
  Object.create(null) as Record<string, true>,
  Object.fromEntries([...Object.keys(headerMembers), SCORES, ROWS].map((name) => [name, true])),
);

function broken(loc: Problem['loc'], error: string, input: unknown): Problem {
  return { type: 'value_error', loc, msg: `Value error, ${error}`, input, ctx: { error } };
}

function jsonInvalid({ message, offset }: JsonSyntaxError): Problem {
  return { type: 'json_invalid', loc: ['body', offset], msg: 'JSON decode error', input: {}, ctx: { error: message } };
}

function missingBody(): Problems {
  const problems = new Problems();
  problems.add({ type: 'missing', loc: ['body'], msg: 'Field required', input: null });
  return problems;
}

function merge(into: Problems, from: Problems): void {
  for (const problem of from.kept) into.add(problem);
  into.total += from.total - from.kept.length;
}
