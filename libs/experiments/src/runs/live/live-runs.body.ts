import { createHash } from 'node:crypto';
import { validate } from '@fairlead/api';
import {
  BadRequest,
  canonicalUuid,
  datetime,
  type Infer,
  list,
  literal,
  note,
  object,
  optional,
  parseJson,
  PayloadTooLarge,
  rawDict,
  str,
  union,
  Unprocessable,
  uuid,
} from '@fairlead/schema';
import type { RunAttachment, RunChange } from '../../sessions/experiment';
import { feedbackBody, feedbackData, ignoredFeedback } from '../../feedback/feedback.body';
import { elementSlices, isNothing, memberSlices, present } from '../../upload/json-slices';
import type { SentFeedback } from '../../feedback/live-feedback.commands';
import { MalformedMultipart, multipartParts, type Part } from '../../upload/multipart';
import { OpaqueBody } from '../../opaque.body';
import { RUN_TYPES } from '../run-json';

/** One run that was sent, and the session that it says it belongs to. */
export interface SentRun {
  readonly change: RunChange;
  readonly sessionId?: string;
  readonly sessionName?: string;
  /** Members that were sent and are not kept. */
  readonly ignored: readonly string[];
}

/** What the parts of a multipart body are. */
export interface SentParts {
  readonly runs: readonly SentRun[];
  readonly feedback: readonly SentFeedback[];
  /** Contents of the attachments that the runs name, by their SHA-256 (hex). */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly ignored: readonly string[];
}

/** Attachments of one request. */
const MOST_ATTACHMENTS = 1000;
const MOST_NAME = 200;
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;
/** Members and elements of a body, most of them in the inputs and outputs of runs. */
const MOST_VALUES = 1_000_000;
/** Members that are kept as the JSON text that was sent. */
const OPAQUE = ['error', 'inputs', 'outputs', 'extra', 'tags', 'events', 'serialized'] as const;
const PART = /^(post|patch|attachment|feedback)\.([0-9a-f-]{36})(?:\.(.+))?$/i;

const anyText = () => str({ anyText: true });
const members = {
  name: note(optional(str({ min: 1 })), 'Name of the run.'),
  run_type: note(optional(literal(RUN_TYPES)), 'Kind of step. Default for a new run: `chain`.'),
  start_time: note(optional(datetime()), 'Start of the run; default for a new run: the time of the request.'),
  end_time: note(optional(datetime()), 'End of the run; until it is sent the run is `pending`.'),
  parent_run_id: note(optional(uuid()), 'Run that this run is a step of; absent: a root run.'),
  trace_id: note(optional(uuid()), 'Root run of the trace.'),
  dotted_order: note(
    optional(str()),
    'Path of the run in its trace: time and identifier of each run from the root on.',
  ),
  session_id: note(optional(uuid()), 'Session that the run belongs to (404 when there is none).'),
  session_name: note(
    optional(str({ min: 1, max: 512 })),
    'Name of the session that the run belongs to; an unknown one is made. Default: `default`.',
  ),
  reference_example_id: note(optional(uuid()), 'Example that the run was made for, in an experiment.'),
  error: note(optional(anyText()), 'Why the run failed.'),
  inputs: note(optional(rawDict()), 'Input; any members, given back byte for byte.'),
  outputs: note(optional(union(rawDict(), anyText(), list(rawDict()))), 'Output; given back byte for byte.'),
  extra: note(optional(rawDict()), 'Further facts; the member `metadata` can be filtered by. Any members.'),
  tags: note(optional(list(anyText())), 'Labels; filters find runs by them.'),
  events: note(
    optional(list(union(rawDict(), anyText()))),
    'What happened during the run, such as tokens that were streamed; given back as it was sent.',
  ),
  serialized: note(optional(rawDict()), 'How the step is configured; given back as it was sent.'),
};
const KNOWN: ReadonlySet<string> = new Set(['id', ...Object.keys(members)]);
/** Body of PATCH /runs/{run_id}. */
export const runChange = object(members, 'RunUpdate');
/** Body of POST /runs. */
export const runBody = object(
  { id: note(uuid(), 'Identifier of the run, chosen by the client.'), ...members },
  'RunCreate',
);
/** Body of POST /runs/batch. */
export const batchBody = object(
  {
    post: note(optional(list(runBody), []), 'New runs.'),
    patch: note(optional(list(runBody), []), 'Changes of runs, which may be among the new ones.'),
  },
  'RunBatch',
);

/** One run from the text of a JSON object of at most `depth` levels; `id` when the path names it. @throws Unprocessable */
export function readRun(
  json: Buffer,
  depth: number,
  id?: string,
  loc: readonly (string | number)[] = ['body'],
): SentRun {
  const value = parseJson(json, depth, MOST_VALUES);
  const given = id === undefined ? validate(runBody, value, [...loc]) : { id, ...validate(runChange, value, [...loc]) };
  return sentRun(given, memberSlices(json));
}

/** The runs of `{"post": […], "patch": […]}`, the created ones first. @throws Unprocessable */
export function readBatch(json: Buffer, depth: number): SentRun[] {
  const given = validate(batchBody, parseJson(json, depth, MOST_VALUES), 'body');
  const slices = memberSlices(json);
  return (['post', 'patch'] as const).flatMap((name) => {
    const runs = elementSlices(present(slices.get(name)) ?? Buffer.from('[]'));
    return given[name].map((run, index) => sentRun(run, memberSlices(runs[index]!)));
  });
}

/**
 * The runs and the feedback of a multipart body: the part `post.<id>` or `patch.<id>` is a run, `post.<id>.inputs` and
 * the like are its members, `feedback.<id>` is a feedback, and `attachment.<id>.<name>` adds to a run, which need
 * not be in the body. @throws PayloadTooLarge, BadRequest, Unprocessable
 */
export function readMultipart(body: Buffer, depth: number, contentType: string): SentParts {
  const runs = new Map<string, Map<string, Buffer>>();
  const feedback = new Map<string, SentFeedback>();
  const attached = new Map<string, Map<string, RunAttachment>>();
  const contents = new Map<string, Uint8Array>();
  let count = 0;
  for (const { name, type, data } of partsOf(body, contentType)) {
    const [, method, id, member] = PART.exec(name) ?? [];
    if (method === undefined || id === undefined) throw Unprocessable.at(['body', name], 'is not the name of a part');
    if (method === 'feedback') {
      if (feedback.has(id)) throw Unprocessable.at(['body', name], 'occurs twice');
      feedback.set(id, readFeedback(data, depth, id, name));
      continue;
    }
    if (method === 'attachment') {
      if (++count > MOST_ATTACHMENTS) {
        throw new PayloadTooLarge(`The request holds more than ${MOST_ATTACHMENTS} attachments.`);
      }
      const run = canonicalUuid(id);
      if (!run || !isName(member)) throw Unprocessable.at(['body', name], 'is not the name of an attachment');
      const own = attached.get(run) ?? new Map<string, RunAttachment>();
      if (own.has(member)) throw Unprocessable.at(['body', name], 'occurs twice');
      const attachment = attachmentOf(member, type, data);
      attached.set(run, own.set(member, attachment));
      contents.set(attachment.sha256, data);
      continue;
    }
    const key = `${method}.${id}`;
    const parts = runs.get(key) ?? new Map<string, Buffer>();
    if (member !== undefined) parts.set(member, data);
    else if (typeof parseJson(data, depth, MOST_VALUES) === 'object')
      memberSlices(data).forEach((slice, own) => parts.set(own, slice));
    runs.set(key, parts);
  }
  const read = [...runs].map(([key, parts]) => readRun(joined(parts), depth, undefined, ['body', key]));
  return { runs: withAttachments(read, attached), feedback: [...feedback.values()], contents, ignored: [] };
}

/** Each run's attachments with its first part; those of other runs as changes of their own. */
function withAttachments(
  runs: readonly SentRun[],
  attached: ReadonlyMap<string, ReadonlyMap<string, RunAttachment>>,
): SentRun[] {
  const left = new Map(attached);
  const added = (id: string) => {
    const attachments = [...(left.get(id)?.values() ?? [])];
    left.delete(id);
    return attachments.length > 0 ? { attachments } : {};
  };
  const known = runs.map((run) => ({ ...run, change: { ...run.change, ...added(run.change.id) } }));
  return [...known, ...[...left.keys()].map((id) => ({ change: { id, ...added(id) }, ignored: [] }))];
}

/** Whether an attachment may be called so: without control characters, which a table cannot hold. */
function isName(name: string | undefined): name is string {
  return name !== undefined && name.length <= MOST_NAME && !/\p{Cc}/u.test(name);
}

function attachmentOf(name: string, type: string, data: Buffer): RunAttachment {
  const sha256 = createHash('sha256').update(data).digest('hex');
  const known = MEDIA_TYPE.test(type) ? type : 'application/octet-stream';
  return { name, type: known, sha256, bytes: data.length };
}

function partsOf(body: Buffer, contentType: string): Part[] {
  try {
    return multipartParts(body, contentType);
  } catch (error) {
    if (!(error instanceof MalformedMultipart)) throw error;
    throw new BadRequest('The body is not well-formed multipart/form-data.');
  }
}

function readFeedback(json: Buffer, depth: number, id: string, part: string): SentFeedback {
  const given = validate(feedbackBody, parseJson(json, depth, MOST_VALUES), ['body', part]);
  if (given.id !== undefined && given.id !== id) {
    throw Unprocessable.at(['body', part, 'id'], 'is not the id that the part is named by', given.id);
  }
  const runId = given.run_id ?? given.trace_id;
  if (runId === undefined && given.session_id === undefined) {
    throw Unprocessable.at(['body', part], 'needs a run_id, a trace_id or a session_id');
  }
  const sent = new OpaqueBody(json);
  const data = feedbackData(sent, given, id, runId ?? null);
  return { data, sessionId: given.session_id, ignored: ignoredFeedback(sent) };
}

function joined(parts: ReadonlyMap<string, Buffer>): Buffer {
  return Buffer.from(`{${[...parts].map(([name, json]) => `${JSON.stringify(name)}:${json.toString()}`).join(',')}}`);
}

function sentRun(given: Infer<typeof runBody>, slices: ReadonlyMap<string, Buffer>): SentRun {
  const { session_id: sessionId, session_name: sessionName } = given;
  const opaque = OPAQUE.flatMap((name) => {
    const slice = present(slices.get(name));
    return slice ? [[name, slice.toString('utf8')] as const] : [];
  });
  const { id, name, run_type, parent_run_id, trace_id, dotted_order, reference_example_id } = given;
  const plain = { id, name, run_type, parent_run_id, trace_id, dotted_order, reference_example_id };
  const times = { start_time: given.start_time?.iso, end_time: given.end_time?.iso };
  const ignored = [...slices].flatMap(([member, slice]) => (KNOWN.has(member) || isNothing(slice) ? [] : member));
  return { change: { ...plain, ...times, ...Object.fromEntries(opaque) }, sessionId, sessionName, ignored };
}
