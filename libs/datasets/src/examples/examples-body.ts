import { createHash } from 'node:crypto';
import { validate } from '@fairlead/api';
import { elementSlices, memberSlices, multipartParts, present } from '@fairlead/blobs';
import {
  bool,
  canonicalUuid,
  datetime,
  fixed,
  type Infer,
  list,
  note,
  object,
  optional,
  parseJson,
  PayloadTooLarge,
  rawDict,
  record,
  str,
  union,
  Unprocessable,
  uuid,
} from '@fairlead/schema';
import type { AttachmentOperations } from './example-attachments';
import type { ExampleAttachment } from './example-rows';

export interface SentExample {
  readonly id?: string;
  readonly dataset?: string;
  readonly created_at?: string;
  readonly inputs?: string;
  readonly outputs?: string;
  readonly metadata?: string;
  readonly splits?: readonly string[];
  readonly sourceRun?: string;
  /** True when inputs, outputs and attachments are those of the source run. */
  readonly useSourceRun: boolean;
  /** Names of attachments of the source run that the example gets. */
  readonly sourceAttachments: readonly string[];
  readonly attachments: readonly ExampleAttachment[];
  readonly operations?: AttachmentOperations;
}

export interface SentExamples {
  readonly examples: readonly SentExample[];
  /** Contents of the attachments by their SHA-256 (hex). */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

export const MOST_EXAMPLES = 25_000;
const MOST_PARTS = 4 * MOST_EXAMPLES;
const MOST_ATTACHMENTS = 1000;
export const MOST_OWN_ATTACHMENTS = 100;
const MOST_SPLITS = 100;
const MOST_NAME = 200;
const MOST_VALUES = 1_000_000;
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;
const PART = /^([0-9a-f-]{36})(?:\.(inputs|outputs|attachments_operations|attachment\.(.+)))?$/i;

export const splitName = () => str({ min: 1, max: MOST_NAME });
const attachmentName = () => str({ min: 1, max: MOST_NAME, pattern: /^\P{Cc}*$/u });
const operations = object('AttachmentsOperations', {
  rename: note(optional(record(attachmentName()), {}), 'New names of attachments by their present names.'),
  retain: note(
    optional(list(attachmentName(), { max: MOST_OWN_ATTACHMENTS }), []),
    'Attachments that stay under their names; all others are taken away.',
  ),
});
const content = {
  inputs: note(optional(rawDict()), 'Input; any members, given back byte for byte.'),
  outputs: note(optional(rawDict()), 'Expected output; any members.'),
  metadata: note(
    optional(rawDict()),
    'Further facts; replaces the earlier ones, but splits stay until others are named.',
  ),
  split: note(
    optional(union(splitName(), list(splitName(), { max: MOST_SPLITS }))),
    'Split or splits that the example belongs to; in no other it belongs to `base`.',
  ),
};
const createMembers = {
  ...content,
  created_at: note(optional(datetime()), 'When the example was created. Default: the time of the request.'),
  source_run_id: note(optional(uuid()), 'Run that the example is made from.'),
  use_source_run_io: note(
    optional(bool(), false),
    'True: inputs, outputs and attachments are those of the source run.',
  ),
  use_source_run_attachments: note(
    optional(list(attachmentName(), { max: MOST_OWN_ATTACHMENTS }), []),
    'Names of attachments of the source run that the example gets.',
  ),
};
export const exampleCreate = object('ExampleCreate', {
  dataset_id: note(uuid(), 'Dataset that gets the example; clients must write its examples, not uploads.'),
  id: note(optional(uuid()), 'Identifier that the example gets, unused so far (409); absent: the service makes one.'),
  ...createMembers,
});
export const examplesCreate = list(exampleCreate, { max: MOST_EXAMPLES });
const ONLY_NEW = 'Only for new examples: here anything but false or an empty list is answered 400.';
const updateMembers = {
  ...content,
  dataset_id: note(optional(uuid()), 'Dataset of the example; it cannot move to another one.'),
  attachments_operations: note(
    optional(operations),
    'What becomes of the attachments; absent: they stay, and those that are sent are added.',
  ),
  created_at: fixed(datetime()),
  source_run_id: fixed(uuid()),
  use_source_run_io: note(optional(bool(), false), ONLY_NEW),
  use_source_run_attachments: note(optional(list(attachmentName(), { max: MOST_OWN_ATTACHMENTS }), []), ONLY_NEW),
};
export const exampleUpdate = object('ExampleUpdate', { id: fixed(uuid()), ...updateMembers });
export const examplesUpdate = list(
  object('ExampleUpdateWithId', { id: note(uuid(), 'The example to change.'), ...updateMembers }),
  {
    max: MOST_EXAMPLES,
  },
);
const partMembers = object('ExamplePart', { ...updateMembers, ...createMembers });

type Given = Partial<Infer<typeof partMembers>>;

const JSON_BODIES = {
  create: exampleCreate,
  createMany: examplesCreate,
  update: exampleUpdate,
  updateMany: examplesUpdate,
};
export type JsonBody = keyof typeof JSON_BODIES;

export function readJsonExamples(json: Buffer, kind: JsonBody, depth: number): SentExamples {
  const given = validate<unknown>(JSON_BODIES[kind], parseJson(json, depth, MOST_VALUES), 'body');
  const many = Array.isArray(given) ? (given as Given[]) : [given as Given];
  const slices = Array.isArray(given) ? elementSlices(json) : [json];
  const examples = many.map((one, index) => sentExample(one, memberSlices(slices[index]!)));
  requireDifferent(examples);
  return { examples, contents: new Map() };
}

/**
 * The examples of a multipart body: the part `<id>` is an example, `<id>.inputs`, `<id>.outputs` and
 * `<id>.attachments_operations` are members of it, and `<id>.attachment.<name>` is attached to it.
 * @throws PayloadTooLarge, BadRequest, Unprocessable
 */
export function readMultipartExamples(body: Buffer, contentType: string, depth: number): SentExamples {
  const members = new Map<string, Map<string, Buffer>>();
  const attached = new Map<string, Map<string, ExampleAttachment>>();
  const contents = new Map<string, Uint8Array>();
  let count = 0;
  for (const { name, type, data } of multipartParts(body, contentType, MOST_PARTS)) {
    const [, written, member, attachment] = PART.exec(name) ?? [];
    const id = written === undefined ? undefined : canonicalUuid(written);
    if (id === undefined) throw Unprocessable.at(['body', name], 'is not the name of a part');
    const own = members.get(id) ?? new Map<string, Buffer>();
    if (!members.has(id)) members.set(id, own);
    if (members.size > MOST_EXAMPLES) throw tooMany();
    if (attachment !== undefined) {
      if (++count > MOST_ATTACHMENTS) {
        throw new PayloadTooLarge(`The request holds more than ${MOST_ATTACHMENTS} attachments.`);
      }
      const others = attached.get(id) ?? new Map<string, ExampleAttachment>();
      validate(attachmentName(), attachment, ['body', name]);
      if (others.has(attachment)) throw Unprocessable.at(['body', name], 'occurs twice');
      const sha256 = createHash('sha256').update(data).digest('hex');
      const known = MEDIA_TYPE.test(type) ? type : 'application/octet-stream';
      attached.set(id, others.set(attachment, { name: attachment, type: known, sha256, bytes: data.length }));
      contents.set(sha256, data);
      continue;
    }
    const key = member ?? '';
    if (own.has(key)) throw Unprocessable.at(['body', name], 'occurs twice');
    own.set(key, data);
  }
  const examples = [...members].map(([id, parts]) => {
    const own = [...(attached.get(id)?.values() ?? [])];
    return { ...readParts(id, parts, depth), attachments: own };
  });
  return { examples, contents };
}

function tooMany(): PayloadTooLarge {
  return new PayloadTooLarge(`The request holds more than ${MOST_EXAMPLES} examples.`);
}

function readParts(id: string, parts: ReadonlyMap<string, Buffer>, depth: number): SentExample {
  const slices = new Map<string, Buffer>();
  const value: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, json] of parts) {
    const parsed = parseJson(json, depth, MOST_VALUES);
    if (name !== '') {
      value[name] = parsed;
      slices.set(name, json);
    } else if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
      Object.assign(value, parsed);
      memberSlices(json).forEach((slice, member) => slices.set(member, slice));
    } else throw Unprocessable.at(['body', id], 'is not a JSON object');
  }
  return { ...sentExample(validate(partMembers, value, ['body', id]), slices), id };
}

function sentExample(given: Given & { id?: string }, slices: ReadonlyMap<string, Buffer>): SentExample {
  const opaque = (name: string) => present(slices.get(name))?.toString('utf8');
  const { split } = given;
  return {
    id: given.id,
    dataset: given.dataset_id,
    created_at: given.created_at?.iso,
    inputs: opaque('inputs'),
    outputs: opaque('outputs'),
    metadata: opaque('metadata'),
    splits: typeof split === 'string' ? [split] : split,
    sourceRun: given.source_run_id,
    useSourceRun: given.use_source_run_io ?? false,
    sourceAttachments: given.use_source_run_attachments ?? [],
    attachments: [],
    operations: given.attachments_operations,
  };
}

function requireDifferent(examples: readonly SentExample[]): void {
  const ids = new Set<string>();
  examples.forEach(({ id }, index) => {
    if (id === undefined) return;
    if (ids.has(id)) throw Unprocessable.at(['body', index, 'id'], 'occurs twice', id);
    ids.add(id);
  });
}
