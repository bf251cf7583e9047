import {
  BadRequest,
  datetime,
  type Infer,
  list,
  literal,
  object,
  optional,
  parseJson,
  rawDict,
  str,
  union,
  Unprocessable,
  uuid,
  validate,
} from '@fairlead/http';
import type { RunChange } from './experiment';
import { elementSlices, memberSlices, present } from './json-slices';
import { RUN_TYPES } from './run-json';

/** One run that was sent, and the session that it says it belongs to. */
export interface SentRun {
  readonly change: RunChange;
  readonly sessionId?: string;
  readonly sessionName?: string;
}

const MOST_DEPTH = 100;
/** Members that are kept as the JSON text that was sent. */
const OPAQUE = ['error', 'inputs', 'outputs', 'extra', 'tags', 'events'] as const;
const PART = /^(post|patch|attachment|feedback)\.([0-9a-f-]{36})(?:\.(.+))?$/i;

const anyText = () => str({ anyText: true });
const members = {
  name: optional(str({ min: 1 })),
  run_type: optional(literal(RUN_TYPES)),
  start_time: optional(datetime()),
  end_time: optional(datetime()),
  parent_run_id: optional(uuid()),
  trace_id: optional(uuid()),
  dotted_order: optional(str()),
  session_id: optional(uuid()),
  session_name: optional(str({ min: 1, max: 512 })),
  reference_example_id: optional(uuid()),
  error: optional(anyText()),
  inputs: optional(rawDict()),
  outputs: optional(union(rawDict(), anyText(), list(rawDict()))),
  extra: optional(rawDict()),
  tags: optional(list(anyText())),
  events: optional(list(union(rawDict(), anyText()))),
};
/** Body of PATCH /runs/{run_id}. */
export const runChange = object(members, 'RunUpdate');
/** Body of POST /runs. */
export const runBody = object({ id: uuid(), ...members }, 'RunCreate');
/** Body of POST /runs/batch. */
export const batchBody = object({ post: optional(list(runBody), []), patch: optional(list(runBody), []) }, 'RunBatch');

/** One run from the text of a JSON object; `id` when the path names it. @throws Unprocessable */
export function readRun(json: Buffer, id?: string, loc: readonly (string | number)[] = ['body']): SentRun {
  const value = parseJson(json, MOST_DEPTH);
  const given = id === undefined ? validate(runBody, value, [...loc]) : { id, ...validate(runChange, value, [...loc]) };
  return sentRun(given, memberSlices(json));
}

/** The runs of `{"post": […], "patch": […]}`, the created ones first. @throws Unprocessable */
export function readBatch(json: Buffer): SentRun[] {
  const given = validate(batchBody, parseJson(json, MOST_DEPTH), 'body');
  const slices = memberSlices(json);
  return (['post', 'patch'] as const).flatMap((name) => {
    const runs = elementSlices(present(slices.get(name)) ?? Buffer.from('[]'));
    return given[name].map((run, index) => sentRun(run, memberSlices(runs[index]!)));
  });
}

/**
 * The runs of a multipart body: the part `post.<id>` or `patch.<id>` is the run, `post.<id>.inputs` and the like are its
 * members. Attachments are left out. @throws BadRequest, Unprocessable
 */
export async function readMultipart(body: Buffer, contentType: string): Promise<SentRun[]> {
  const runs = new Map<string, Map<string, Buffer>>();
  for (const [name, text] of await readParts(body, contentType)) {
    const [, method, id, member] = PART.exec(name) ?? [];
    if (method === undefined || id === undefined) throw Unprocessable.at(['body', name], 'is not the name of a part');
    if (method !== 'post' && method !== 'patch') continue;
    const key = `${method}.${id}`;
    const parts = runs.get(key) ?? new Map<string, Buffer>();
    const bytes = Buffer.from(text);
    if (member !== undefined) parts.set(member, bytes);
    else if (typeof parseJson(bytes, MOST_DEPTH) === 'object')
      memberSlices(bytes).forEach((slice, own) => parts.set(own, slice));
    runs.set(key, parts);
  }
  return [...runs].map(([key, parts]) => readRun(joined(parts), undefined, ['body', key]));
}

async function readParts(body: Buffer, contentType: string): Promise<[string, string][]> {
  try {
    const response = new Response(new Uint8Array(body), { headers: { 'content-type': contentType } });
    const parts: [string, string][] = [];
    for (const [name, value] of await response.formData()) {
      parts.push([name, typeof value === 'string' ? value : await value.text()]);
    }
    return parts;
  } catch {
    throw new BadRequest('The body is not well-formed multipart/form-data.');
  }
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
  return { change: { ...plain, ...times, ...Object.fromEntries(opaque) }, sessionId, sessionName };
}
