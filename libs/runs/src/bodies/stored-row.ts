import { elementSlices, MemberNames, type NamedMembers } from '@fairlead/blobs';
import { canonicalUuid, datetime, INVALID, ParseContext, type Schema } from '@fairlead/schema';
import { sentScore } from './sent-score';
import { scoreSchema } from './upload-schema';

/** One element of `results`, its opaque members as the bytes that were sent. Times in microseconds since 1970. */
export interface StoredRow {
  readonly id: string;
  readonly name: Buffer | null;
  /** The row's own name and, as JSON text, the metadata of its example that have it. */
  readonly rowName: { readonly characters: Buffer; readonly metadata: Buffer } | null;
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
  readonly key: Buffer;
  readonly score: number | null;
  /** JSON text of the score where the number does not give it back. */
  readonly scoreSent: Buffer | null;
  readonly value: Buffer | null;
  readonly comment: Buffer | null;
  readonly correction: Buffer | null;
  readonly sourceType: Buffer;
  readonly sourceMetadata: Buffer | null;
  readonly extra: Buffer | null;
  readonly config: Buffer | null;
  readonly createdAt: number | null;
  readonly modifiedAt: number | null;
}

const ROW = new MemberNames([
  ...([
    'row_id',
    'row_name',
    'run_name',
    'start_time',
    'end_time',
    'inputs',
    'expected_outputs',
    'actual_outputs',
  ] as const),
  ...(['error', 'run_metadata', 'evaluation_scores'] as const),
]);
const SCORE = new MemberNames([
  ...(['key', 'score', 'value', 'comment', 'correction', 'feedback_source', 'extra', 'feedback_config'] as const),
  ...(['created_at', 'modified_at'] as const),
]);
const SOURCE = new MemberNames(['type', 'metadata']);
const TIME = datetime();
const METADATA = [Buffer.from('{"metadata":'), Buffer.from('}')] as const;
const ROW_ID = [Buffer.from('{"row_id":'), Buffer.from('}')] as const;
const API = Buffer.from('api');
const NO_INPUTS = Buffer.from('{}');
const NOTHING = Buffer.alloc(0);
/** Context of values that have been found valid: no problem is ever added to it. */
const VALID = new ParseContext([]);

/** Reads a row that has been found valid; its slices share the memory of `json`. */
export function readRow(json: Buffer): StoredRow {
  const members = ROW.of(json);
  const error = members.raw('error');
  const scores = members.raw('evaluation_scores');
  const metadata = members.raw('run_metadata');
  return {
    id: canonicalUuid(String(members.value('row_id'))) ?? '',
    name: notEmpty(members.characters('run_name')),
    rowName: rowName(members),
    start: parsed(members, 'start_time', TIME)?.micros ?? 0,
    end: parsed(members, 'end_time', TIME)?.micros ?? 0,
    inputs: members.raw('inputs') ?? NO_INPUTS,
    expectedOutputs: members.raw('expected_outputs'),
    actualOutputs: members.raw('actual_outputs'),
    error,
    failed: error !== null && error.length > 2,
    extra: metadata && Buffer.concat([METADATA[0], metadata, METADATA[1]]),
    scores: scores ? elementSlices(scores).map(readScore) : [],
  };
}

export function readScore(json: Buffer): StoredScore {
  const members = SCORE.of(json);
  const source = members.raw('feedback_source');
  const sourceMembers = source && SOURCE.of(source);
  const score = parsed(members, 'score', scoreSchema);
  return {
    key: members.characters('key') ?? NOTHING,
    score: score === null ? null : Number(score),
    scoreSent: sentBytes(score, members),
    value: members.raw('value'),
    comment: members.raw('comment'),
    correction: members.raw('correction'),
    sourceType: sourceMembers?.characters('type') ?? API,
    sourceMetadata: sourceMembers?.raw('metadata') ?? null,
    extra: members.raw('extra'),
    config: members.raw('feedback_config'),
    createdAt: parsed(members, 'created_at', TIME)?.micros ?? null,
    modifiedAt: parsed(members, 'modified_at', TIME)?.micros ?? null,
  };
}

function sentBytes(score: number | boolean | null, members: NamedMembers<'score'>): Buffer | null {
  if (score === null) return null;
  const sent = sentScore(score, members.raw('score')!.toString('latin1'));
  return sent === null ? null : Buffer.from(sent);
}

function rowName(members: NamedMembers<'row_name'>): StoredRow['rowName'] {
  const [json, characters] = [members.raw('row_name'), members.characters('row_name')];
  return json && characters && { characters, metadata: Buffer.concat([ROW_ID[0], json, ROW_ID[1]]) };
}

function notEmpty(characters: Buffer | null): Buffer | null {
  return characters?.length === 0 ? null : characters;
}

function parsed<Name extends string, T>(members: NamedMembers<Name>, name: Name, schema: Schema<T>): T | null {
  const found = members.value(name);
  if (found === null) return null;
  const result = schema.parse(found, VALID);
  return result === INVALID ? null : result;
}
