import { canonicalUuid, datetime, INVALID, ParseContext, type Schema } from '@fairlead/http';
import { elementSlices, memberSlices, present, stringValue } from './json-slices';
import { scoreSchema } from './upload-schema';

/** One element of `results`, its opaque members as the bytes that were sent. Times in microseconds since 1970. */
export interface StoredRow {
  readonly id: string;
  readonly name: string | null;
  readonly start: number;
  readonly end: number;
  readonly inputs: Buffer;
  readonly expectedOutputs: Buffer | null;
  readonly actualOutputs: Buffer | null;
  readonly error: Buffer | null;
  /** True when there is an error text that is not empty. */
  readonly failed: boolean;
  readonly extra: Buffer | null;
  readonly scores: readonly StoredScore[];
}

/** One feedback object; opaque members as the bytes that were sent, times null when left out. */
export interface StoredScore {
  readonly key: string;
  readonly score: number | null;
  readonly value: Buffer | null;
  readonly comment: Buffer | null;
  readonly correction: Buffer | null;
  readonly sourceType: string;
  readonly sourceMetadata: Buffer | null;
  readonly extra: Buffer | null;
  readonly config: Buffer | null;
  readonly createdAt: number | null;
  readonly modifiedAt: number | null;
}

type Members = ReadonlyMap<string, Buffer>;

const TIME = datetime();
const METADATA = [Buffer.from('{"metadata":'), Buffer.from('}')] as const;

/** Reads a row that has been found valid; its slices share the memory of `json`. */
export function readRow(json: Buffer): StoredRow {
  const members = memberSlices(json);
  const error = raw(members, 'error');
  const scores = raw(members, 'evaluation_scores');
  const metadata = raw(members, 'run_metadata');
  return {
    id: canonicalUuid(text(members, 'row_id') ?? '') ?? '',
    name: text(members, 'run_name'),
    start: time(members, 'start_time') ?? 0,
    end: time(members, 'end_time') ?? 0,
    inputs: raw(members, 'inputs') ?? Buffer.from('{}'),
    expectedOutputs: raw(members, 'expected_outputs'),
    actualOutputs: raw(members, 'actual_outputs'),
    error,
    failed: error !== null && error.length > 2,
    extra: metadata && Buffer.concat([METADATA[0], metadata, METADATA[1]]),
    scores: scores ? elementSlices(scores).map(readScore) : [],
  };
}

/** Reads a feedback object that has been found valid. */
export function readScore(json: Buffer): StoredScore {
  const members = memberSlices(json);
  const source = raw(members, 'feedback_source');
  const sourceMembers: Members = source ? memberSlices(source) : new Map<string, Buffer>();
  return {
    key: text(members, 'key') ?? '',
    score: score(members, 'score'),
    value: raw(members, 'value'),
    comment: raw(members, 'comment'),
    correction: raw(members, 'correction'),
    sourceType: text(sourceMembers, 'type') ?? 'api',
    sourceMetadata: raw(sourceMembers, 'metadata'),
    extra: raw(members, 'extra'),
    config: raw(members, 'feedback_config'),
    createdAt: time(members, 'created_at'),
    modifiedAt: time(members, 'modified_at'),
  };
}

function raw(members: Members, name: string): Buffer | null {
  return present(members.get(name)) ?? null;
}

function value(members: Members, name: string): unknown {
  const slice = members.get(name);
  if (slice === undefined) return null;
  return slice[0] === 0x22 ? stringValue(slice) : JSON.parse(slice.toString());
}

function text(members: Members, name: string): string | null {
  const found = value(members, name);
  return typeof found === 'string' ? found : null;
}

function score(members: Members, name: string): number | null {
  const found = parsed(members, name, scoreSchema);
  return found === null ? null : Number(found);
}

function time(members: Members, name: string): number | null {
  return parsed(members, name, TIME)?.micros ?? null;
}

function parsed<T>(members: Members, name: string, schema: Schema<T>): T | null {
  const found = value(members, name);
  if (found === null) return null;
  const result = schema.parse(found, new ParseContext([]));
  return result === INVALID ? null : result;
}
