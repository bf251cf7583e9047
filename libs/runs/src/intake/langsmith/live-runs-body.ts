import { createHash } from 'node:crypto';
import { validate } from '@fairlead/api';
import {
  elementSlices,
  isNothing,
  type LargePart,
  MalformedMultipart,
  memberSlices,
  multipartParts,
  type Part,
  present,
} from '@fairlead/blobs';
import {
  BadRequest,
  canonicalUuid,
  datetime,
  fixed,
  type Infer,
  int,
  list,
  type Loc,
  note,
  object,
  optional,
  parseJson,
  PayloadTooLarge,
  rawDict,
  requireSame,
  str,
  union,
  Unprocessable,
  uuid,
} from '@fairlead/schema';
import type { RunAttachment, RunChange } from '../../run/run-change';
import { feedbackBody, feedbackData, ignoredFeedback, type SentFeedback } from '../../feedback/feedback-body';
import { type Refusal, refusal } from '../../refused/refusal';
import { OpaqueBody } from '../../common/opaque-body.schema';
import { RUN_TYPES } from '../../run/run-json';

export interface SentRun {
  readonly change: RunChange;
  readonly loc: Loc;
  readonly sessionId?: string;
  readonly sessionName?: string;
  readonly ignored: readonly string[];
}

export interface SentParts {
  readonly runs: readonly SentRun[];
  readonly feedback: readonly SentFeedback[];
  /** Contents of the attachments that the runs name, by their SHA-256 (hex). */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly refused: readonly Refusal[];
}

/** As told to clients, which cut their batches by it, and the frames around the parts. */
export const MOST_BYTES = 24 * 1024 * 1024;
/** Bytes of one member of a run; a larger one is left out. */
export const MOST_MEMBER_BYTES = 20 * 1024 * 1024;
/** Attachments of one request. */
const MOST_ATTACHMENTS = 1000;
const MOST_NAME = 200;
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;
/** Members and elements of a body, most of them in the inputs and outputs of runs. */
const MOST_VALUES = 1_000_000;
/** Members that are kept as the JSON text that was sent. */
const OPAQUE = ['error', 'inputs', 'outputs', 'extra', 'tags', 'events', 'serialized'] as const;
const PART = /^(post|patch|attachment|feedback)\.([0-9a-f-]{36})(?:\.(.+))?$/i;

const KINDS = RUN_TYPES.map((type) => `\`${type}\``).join(', ');
const anyText = () => str({ anyText: true });
const members = {
  name: note(optional(str({ max: 10_000 })), 'Name of the run, which can be empty.'),
  run_type: note(
    optional(str({ max: 200 })),
    `Kind of step: ${KINDS}, or a kind of your own. Default for a new run: \`chain\`.`,
  ),
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
export const runChange = object('RunUpdate', {
  id: fixed(uuid()),
  ...members,
  session_id: fixed(uuid()),
  session_name: fixed(str()),
});
export const runBody = object('RunCreate', {
  id: note(uuid(), 'Identifier of the run, chosen by the client.'),
  ...members,
});
export const batchBody = object('RunBatch', {
  post: note(optional(list(runBody), []), 'New runs.'),
  patch: note(optional(list(runBody), []), 'Changes of runs, which may be among the new ones.'),
});
const LISTS = ['post', 'patch'] as const;
const LARGE_OF_RUN = /^((?:post|patch)\.\d+)(?:\.(.*))?$/s;
const batchOutline = object({ post: optional(list(int()), []), patch: optional(list(int()), []) });

/** Returns the limit on the bytes of a part: that of a member of a run, or that of a request for all other parts. */
export function mostOfPart(name: string): number {
  const [, method = '', , member] = PART.exec(name) ?? [];
  return member !== undefined && /^(?:post|patch)$/i.test(method) ? MOST_MEMBER_BYTES : MOST_BYTES;
}

/** One run from the text of a JSON object of at most `depth` levels; `id` when the path names it. @throws Unprocessable */
export function readRun(json: Buffer, depth: number, id?: string, loc: Loc = ['body']): SentRun {
  const value = parseJson(json, depth, MOST_VALUES);
  if (id === undefined) return sentRun(validate(runBody, value, [...loc]), memberSlices(json), loc);
  const given = validate(runChange, value, [...loc]);
  requireSame({ id: given.id }, { id });
  return sentRun({ ...given, id }, memberSlices(json), loc);
}

/**
 * The runs of `{"post": […], "patch": […]}`, the created ones first. Each is read by itself, so that one that is not
 * valid leaves the others. @throws Unprocessable for a body that is no such object
 */
export function readBatch(json: Buffer, depth: number, large: readonly LargePart[] = []): SentParts {
  const items = listItems(json);
  const cut = new Map<string, LargePart[]>();
  for (const part of large) {
    const [, run = '', name = ''] = LARGE_OF_RUN.exec(part.name) ?? [];
    addTo(cut, run, { ...part, name });
  }
  validate(batchOutline, parseJson(outline(json, items), depth, MOST_VALUES), 'body');
  const runs: SentRun[] = [];
  const refused: Refusal[] = [];
  for (const { bytes, loc } of items) {
    try {
      const left = cut.get(loc.slice(1).join('.')) ?? [];
      const run = withoutMembers(() => readRun(bytes, depth, undefined, loc), left);
      runs.push(run);
      refused.push(...left.map((part) => leftOut(run, part)));
    } catch (error) {
      refused.push(refusal({ kind: 'run', loc, ...said(bytes) }, error));
    }
  }
  return { runs, refused, feedback: [], contents: new Map() };
}

/**
 * Returns a run that says which members were left out of it. Members without a name are the run.
 * @throws PayloadTooLarge when nothing else is there, or when it would seem to be well without its error; Unprocessable
 */
function withoutMembers(read: () => SentRun, left: readonly LargePart[]): SentRun {
  const needed = left.find(({ name }) => name === '' || name === 'error');
  if (needed) throw tooLarge(needed);
  const run = read();
  const [first] = left;
  if (!first) return run;
  if (Object.values(run.change).filter((value) => value !== undefined).length === 1) {
    throw tooLarge(first);
  }
  return {
    ...run,
    change: { ...run.change, left_out: left.map(({ name }) => name).filter((name) => KNOWN.has(name)) },
  };
}

interface ListItem {
  readonly bytes: Buffer;
  readonly loc: Loc;
}

/** Text that seems to be an element of a list of the body: the outline decides if the lists are JSON. */
function listItems(json: Buffer): ListItem[] {
  const members = slicesOf(json);
  return LISTS.flatMap((list) => {
    const slice = members.get(list);
    const elements = slice?.[0] === 0x5b ? elementSlices(slice) : [];
    return elements.map((bytes, at) => ({ bytes, loc: ['body', list, at] }));
  });
}

function slicesOf(json: Buffer): ReadonlyMap<string, Buffer> {
  try {
    return memberSlices(json);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return new Map();
  }
}

function outline(json: Buffer, items: readonly ListItem[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  const places = items.map(({ bytes }) => [bytes.byteOffset - json.byteOffset, bytes.length] as const);
  for (const [start, length] of places.sort(([one], [other]) => one - other)) {
    parts.push(json.subarray(at, start), Buffer.from('0'));
    at = start + length;
  }
  return Buffer.concat([...parts, json.subarray(at)]);
}

export function said(json: Buffer): Pick<Refusal, 'id' | 'sessionId' | 'sessionName' | 'runId'> {
  const slices = slicesOf(json);
  const member = (name: string) => {
    const slice = slices.get(name);
    if (slice?.[0] !== 0x22) return undefined;
    try {
      return JSON.parse(slice.toString()) as string;
    } catch {
      return undefined;
    }
  };
  const sessionId = canonicalUuid(member('session_id') ?? '') ?? undefined;
  const runId = member('run_id') ?? member('trace_id');
  return { id: member('id') ?? null, sessionId, sessionName: member('session_name'), runId };
}

/**
 * The runs and the feedback of a multipart body: the part `post.<id>` or `patch.<id>` is a run, `post.<id>.inputs` and
 * the like are its members, `feedback.<id>` is a feedback, and `attachment.<id>.<name>` adds to a run, which need
 * not be in the body. An item that is not valid leaves the others; `large` has the parts that were left out of the body.
 * @throws BadRequest
 */
export function readMultipart(
  body: Buffer,
  depth: number,
  contentType: string,
  large: readonly LargePart[] = [],
): SentParts {
  const parts = new MultipartItems(depth);
  for (const part of large) parts.leaveOut(part);
  for (const part of partsOf(body, contentType)) parts.add(part);
  return parts.read();
}

function leftOut({ change, loc, sessionId, sessionName }: SentRun, { name, bytes, most }: LargePart): Refusal {
  const error = tooLarge({ name, bytes, most }, `\`${name}\` was left out of the run`);
  const [place, part, ...more] = loc;
  const own = typeof part === 'string' && more.length === 0 ? [place!, `${part}.${name}`] : [...loc, name];
  return refusal({ kind: 'part', id: change.id, loc: own, sessionId, sessionName }, error);
}

export function tooLarge({ name, bytes, most }: LargePart, what?: string): PayloadTooLarge {
  const left = what ?? (name === '' ? 'The run was left out' : `\`${name}\` was left out`);
  const why =
    bytes > most
      ? `it has ${bytes} bytes, and at most ${most} are stored`
      : 'the rest of the request had taken all room';
  return new PayloadTooLarge(`${left}: ${why}.`);
}

function addTo(lists: Map<string, LargePart[]>, key: string, part: LargePart): void {
  const list = lists.get(key);
  if (list) list.push(part);
  else lists.set(key, [part]);
}

interface RunParts {
  readonly members: Map<string, Buffer>;
  error?: Error;
}

class MultipartItems {
  private readonly runs = new Map<string, RunParts>();
  private readonly feedback = new Map<string, SentFeedback>();
  private readonly attached = new Map<string, Map<string, RunAttachment>>();
  private readonly contents = new Map<string, Uint8Array>();
  private readonly refused: Refusal[] = [];
  private readonly refusedRuns = new Set<string>();
  /** Members that were left out, by the run; without its error, a run would seem to be well. */
  private readonly leftOut = new Map<string, LargePart[]>();
  private attachments = 0;

  constructor(private readonly depth: number) {}

  add(part: Part): void {
    const loc = ['body', part.name];
    const [, method, id, member] = PART.exec(part.name) ?? [];
    const kind = method === 'feedback' || method === 'attachment' ? method : 'run';
    try {
      if (method === undefined || id === undefined) throw Unprocessable.at(loc, 'is not the name of a part');
      if (method === 'feedback') this.addFeedback(part, id);
      else if (method === 'attachment') this.addAttachment(part, id, member);
      else this.addRunPart(part, `${method}.${id}`, member);
    } catch (error) {
      this.refused.push(refusal({ ...(kind === 'feedback' && said(part.data)), kind, id: id ?? null, loc }, error));
    }
  }

  /** Notes a part that is not in the body, because it is too large. */
  leaveOut(part: LargePart): void {
    const { name } = part;
    const [, method, id, member] = PART.exec(name) ?? [];
    const error = tooLarge(part, 'The part was left out');
    if (id === undefined || method === 'feedback' || method === 'attachment') {
      const kind = method === 'feedback' || method === 'attachment' ? method : 'run';
      this.refused.push(refusal({ kind, id: id ?? null, loc: ['body', name] }, error));
      return;
    }
    const key = `${method}.${id}`;
    const run = this.runs.get(key) ?? { members: new Map<string, Buffer>() };
    this.runs.set(key, run);
    if (member === undefined) run.error = error;
    else addTo(this.leftOut, key, { ...part, name: member });
  }

  read(): SentParts {
    const runs: SentRun[] = [];
    for (const [key, { members, error: broken }] of this.runs) {
      const loc = ['body', key];
      const json = joined(members);
      try {
        if (broken) throw broken;
        const left = this.leftOut.get(key) ?? [];
        const run = withoutMembers(() => readRun(json, this.depth, undefined, loc), left);
        if (memberSlices(json).size !== members.size) throw Unprocessable.at(loc, 'has a part that is not JSON');
        runs.push(run);
        this.refused.push(...left.map((part) => leftOut(run, part)));
      } catch (error) {
        const id = key.slice(key.indexOf('.') + 1);
        this.refusedRuns.add(canonicalUuid(id) ?? id);
        this.refused.push(refusal({ ...said(json), kind: 'run', id, loc }, error));
      }
    }
    const { contents } = this;
    // What is attached to a run belongs to its project.
    const projects = new Map(runs.map(({ change, sessionId, sessionName }) => [change.id, { sessionId, sessionName }]));
    const refused = this.refused.map((one) =>
      one.kind === 'attachment' ? { ...one, ...projects.get(canonicalUuid(one.id ?? '') ?? '') } : one,
    );
    return { runs: this.withAttachments(runs), feedback: [...this.feedback.values()], contents, refused };
  }

  private addFeedback({ name, data }: Part, id: string): void {
    const key = id.toLowerCase();
    if (this.feedback.has(key)) throw Unprocessable.at(['body', name], 'occurs twice');
    this.feedback.set(key, readFeedback(data, this.depth, id, name));
  }

  private addAttachment({ name, type, data }: Part, id: string, member: string | undefined): void {
    if (++this.attachments > MOST_ATTACHMENTS)
      throw new PayloadTooLarge(`The request holds more than ${MOST_ATTACHMENTS} attachments.`);
    const run = canonicalUuid(id);
    if (!run || !isName(member)) throw Unprocessable.at(['body', name], 'is not the name of an attachment');
    const own = this.attached.get(run) ?? new Map<string, RunAttachment>();
    if (own.has(member)) throw Unprocessable.at(['body', name], 'occurs twice');
    const attachment = attachmentOf(member, type, data);
    this.attached.set(run, own.set(member, attachment));
    this.contents.set(attachment.sha256, data);
  }

  private addRunPart({ name, data }: Part, key: string, member: string | undefined): void {
    const parts = this.runs.get(key) ?? { members: new Map<string, Buffer>() };
    this.runs.set(key, parts);
    if (member !== undefined) {
      parts.members.set(member, data);
      return;
    }
    try {
      validate(rawDict(), parseJson(data, this.depth, MOST_VALUES), ['body', name]);
      memberSlices(data).forEach((slice, own) => parts.members.set(own, slice));
    } catch (error) {
      parts.error = error as Error;
    }
  }

  /** Each run's attachments with its first part; those of other runs as changes of their own. */
  private withAttachments(runs: readonly SentRun[]): SentRun[] {
    const { attached } = this;
    const added = (id: string) => {
      const attachments = [...(attached.get(id)?.values() ?? [])];
      attached.delete(id);
      return attachments.length > 0 ? { attachments } : {};
    };
    const known = runs.map((run) => ({ ...run, change: { ...run.change, ...added(run.change.id) } }));
    // What is attached to a run that is refused goes with it.
    const others = [...attached.keys()].filter((id) => !this.refusedRuns.has(id));
    const loc = ['body'];
    return [...known, ...others.map((id) => ({ change: { id, ...added(id) }, loc, ignored: [] }))];
  }
}

/** True when an attachment may have this name: without control characters, which a table cannot hold. */
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
  return { data, loc: ['body', part], sessionId: given.session_id, ignored: ignoredFeedback(sent) };
}

function joined(parts: ReadonlyMap<string, Buffer>): Buffer {
  return Buffer.from(`{${[...parts].map(([name, json]) => `${JSON.stringify(name)}:${json.toString()}`).join(',')}}`);
}

function sentRun(given: Infer<typeof runBody>, slices: ReadonlyMap<string, Buffer>, loc: Loc): SentRun {
  const { session_id: sessionId, session_name: sessionName } = given;
  const opaque = OPAQUE.flatMap((name) => {
    const slice = present(slices.get(name));
    return slice ? [[name, slice.toString('utf8')] as const] : [];
  });
  const { id, name, run_type, parent_run_id, trace_id, dotted_order, reference_example_id } = given;
  const plain = { id, name, run_type, parent_run_id, trace_id, dotted_order, reference_example_id };
  const times = { start_time: given.start_time?.iso, end_time: given.end_time?.iso };
  const ignored = [...slices].flatMap(([member, slice]) => (KNOWN.has(member) || isNothing(slice) ? [] : member));
  return { change: { ...plain, ...times, ...Object.fromEntries(opaque) }, loc, sessionId, sessionName, ignored };
}
