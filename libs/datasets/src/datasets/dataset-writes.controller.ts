import {
  Answers,
  Area,
  asText,
  Body,
  CommandContext,
  Context,
  Describe,
  Idempotency,
  Idempotent,
  Scope,
  validate,
  validateRequest,
} from '@fairlead/api';
import { multipartParts, type Part, utf8 } from '@fairlead/blobs';
import {
  anyObject,
  BadRequest,
  datetime,
  type Infer,
  note,
  object,
  optional,
  requireSame,
  str,
  union,
  uuid,
} from '@fairlead/schema';
import { Controller, Header, HttpCode, Patch, Post, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { v4 as newId } from 'uuid';
import {
  digestOf,
  EXPERIMENTS_VIEWS,
  found,
  Id,
  idPath,
  JSON_TEXT,
  notOffered,
  type OpaqueBody,
  readBytes,
  readOpaqueBody,
} from '@fairlead/runs';
import type { DatasetChanges } from './dataset';
import { dataset, datasetBaseline, removed } from './datasets.answers.schema';
import { createdJson, findDataset } from './datasets.queries';
import { newMetadata } from '../examples/example-metadata';
import type { ChangedExample } from '../examples/example-rows';
import type { SentExample } from '../examples/examples-body';
import { ExamplesThread } from '../examples/examples-thread.service';
import { versionAt } from './dataset-versions.queries';
import { type CsvFields, csvFields, datasetCreate, datasetUpdate } from './datasets-body';
import { DatasetCommands } from './datasets.commands';

const MOST_BYTES = 24 * 1024 * 1024;
const MOST_PARTS = 5000;
const LISTS = new Set(['input_keys', 'output_keys', 'metadata_keys']);
const datasetPath = idPath('dataset_id');
const tagBody = object('DatasetTag', {
  as_of: note(union(datetime(), str({ min: 1 })), 'Version that gets the tag: a time, another tag, or `latest`.'),
  tag: note(str({ min: 1, max: 200 }), 'The tag; a version that had it loses it.'),
});

const baselineBody = object(
  'DatasetBaselineRequest',
  { experiment_id: note(optional(uuid()), 'Experiment on the dataset; null for none.') },
  { closed: true },
);

@Area('Datasets')
@Controller('api/v1/datasets')
export class DatasetWritesController {
  constructor(
    private readonly pool: Pool,
    private readonly datasets: DatasetCommands,
    private readonly thread: ExamplesThread,
    private readonly idempotency: Idempotency,
  ) {}

  @Post()
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Create a dataset',
    description:
      'It has no examples yet, and uploads of experiments do not fill it. Its schemas are kept and given back; examples are not checked against them.',
    body: datasetCreate,
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({
    200: asText(dataset),
    409: 'There is a dataset of this name or id.',
    501: 'It names transformations or tag values.',
  })
  async create(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { body: given } = validateRequest(request, { body: datasetCreate });
    refuseOthers(given);
    const { name, description = null, data_type } = given;
    const data = { name, description, data_type, ...definitionsIn(sent), externally_managed: false };
    const create = () => this.add(context, given.id ?? idFor(context), data, []);
    return this.idempotency.run(request, reply, create, digestOf(request, sent.bytes));
  }

  @Post('upload')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Create a dataset from a CSV file',
    description:
      'A form with the fields `file`, `input_keys`, `output_keys` and `metadata_keys` (columns, each repeated), `name` (that of the file without its ending when left out), `description`, `data_type` and `id`. Every row is an example, every value a text. All of it is UTF-8: other text is answered 400.',
    body: { content: { 'multipart/form-data': anyObject() } },
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({ 200: asText(dataset), 409: 'There is a dataset of this name or id.' })
  async upload(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const bytes = await readBytes(request, MOST_BYTES);
    const form = formOf(bytes, request.headers['content-type'] ?? '');
    const create = () => this.createFrom(context, form);
    return this.idempotency.run(request, reply, create, digestOf(request, bytes));
  }

  private async createFrom(context: CommandContext, { file, fields }: Form): Promise<string> {
    const id = fields.id ?? idFor(context);
    const { description = null, data_type, input_keys: inputs, output_keys: outputs, metadata_keys: metadata } = fields;
    const name = fields.name ?? file.fileName?.replace(/\.csv$/i, '') ?? `dataset-${id.slice(0, 8)}`;
    const asked = JSON.stringify({ inputs, outputs, metadata, dataset: id });
    const { examples: rows } = await this.thread.read(context.tenantId, 'csv', file.data, asked);
    const examples = rows.map((row) => exampleOf(row, name));
    const data = { name, description, data_type, externally_managed: false };
    return this.add(context, id, data, examples);
  }

  private async add(...[context, id, data, examples]: Parameters<DatasetCommands['create']>): Promise<string> {
    return createdJson(id, context.tenantId, await this.datasets.create(context, id, data, examples), examples.length);
  }

  @Patch(':dataset_id')
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Change a dataset',
    description: 'Members that are left out or null stay as they are.',
    path: datasetPath,
    body: datasetUpdate,
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({
    200: asText(dataset),
    400: 'The baseline is no experiment on the dataset.',
    409: 'There is a dataset of this name.',
    501: 'It names transformations.',
  })
  async update(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const sent = await readOpaqueBody(request);
    const { path, body } = validateRequest(request, { path: datasetPath, body: datasetUpdate });
    refuseOthers(body);
    const update = () => this.change(context, path.dataset_id, sent, body);
    return this.idempotency.run(request, reply, update, digestOf(request, sent.bytes));
  }

  private async change(
    context: CommandContext,
    id: string,
    sent: OpaqueBody,
    given: Infer<typeof datasetUpdate>,
  ): Promise<string> {
    const { baseline_experiment_id: baseline, data_type, externally_managed } = given;
    const { state } = await this.datasets.find(context.tenantId, id);
    const present = { id, data_type: state.dataType, externally_managed: state.externallyManaged };
    requireSame({ id: given.id, data_type, externally_managed }, present);
    await this.datasets.patch(context, id, changesIn(sent, given), baseline);
    return found(await findDataset(this.pool, context.tenantId, id), 'Dataset ID', id);
  }

  @Put(':dataset_id/baseline')
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Idempotent()
  @Describe({
    summary: 'Choose the baseline of a dataset',
    description: 'The experiment that the others on the dataset are compared with, or null for none.',
    takes: ['x-reason'],
  })
  @Answers({ 200: datasetBaseline, 400: 'It is no experiment on the dataset.' })
  async setBaseline(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Body(baselineBody) given: Infer<typeof baselineBody>,
  ) {
    const experiment_id = given.experiment_id ?? null;
    await this.datasets.patch(context, id, {}, experiment_id);
    return { experiment_id };
  }

  @Put(':dataset_id/tags')
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Idempotent()
  @Describe({
    summary: 'Tag a version of a dataset',
    description:
      'A tag that another version has moves to this one. `as_of` is a time, at which the version was current, or one of its tags.',
    takes: ['x-reason'],
  })
  @Answers({
    200: removed,
    400: 'The tag is `latest`, which the newest version always has.',
    404: 'There is no such version.',
  })
  async tag(
    @Context() context: CommandContext,
    @Id('dataset_id') id: string,
    @Body(tagBody) given: Infer<typeof tagBody>,
  ) {
    const { tenantId } = context;
    if (given.tag === 'latest') throw new BadRequest("The tag 'latest' always belongs to the newest version.");
    const asOf = typeof given.as_of === 'string' ? given.as_of : given.as_of.iso;
    const time = asOf === 'latest' ? undefined : await versionAt(this.pool, tenantId, asOf, { dataset: id });
    await this.datasets.tag(context, id, given.tag, time);
    return { message: `Tag ${given.tag} updated` };
  }
}

interface Form {
  readonly file: Part;
  readonly fields: CsvFields;
}

function idFor({ command }: CommandContext): string {
  return command?.idFor('dataset') ?? newId();
}

function definitionsIn(sent: OpaqueBody) {
  const members = sent.members();
  return {
    metadata: members.get('metadata') ?? sent.members('extra').get('metadata') ?? null,
    inputs_schema: members.get('inputs_schema_definition') ?? null,
    outputs_schema: members.get('outputs_schema_definition') ?? null,
  };
}

function changesIn(sent: OpaqueBody, { name, description }: Infer<typeof datasetUpdate>): DatasetChanges {
  const definitions = Object.entries(definitionsIn(sent)).filter(([, value]) => value !== null);
  return { name, description, ...Object.fromEntries(definitions) };
}

/** Refuses members that would otherwise be left out in silence. @throws HttpProblem 501 when any is given */
function refuseOthers(given: Partial<Record<'transformations' | 'tag_value_ids', readonly unknown[]>>): void {
  if (given.transformations?.length) throw notOffered('Transformations of datasets are not part of Fairlead.');
  if (given.tag_value_ids?.length) throw notOffered('Tags of resources (tag_value_ids) are not part of Fairlead.');
}

function exampleOf({ id = '', inputs, outputs, metadata }: SentExample, dataset: string): ChangedExample {
  const name = `#${id.slice(0, 4)} @ ${dataset}`;
  return { id, name, inputs, outputs, metadata: newMetadata(metadata, undefined) };
}

function formOf(bytes: Buffer, contentType: string): Form {
  const parts = multipartParts(bytes, contentType, MOST_PARTS);
  const sent = new Map<string, string | string[]>();
  for (const { name, data } of parts) {
    if (name === 'file') continue;
    const text = utf8(data, `The field ${name.slice(0, 100)}`);
    const known = sent.get(name);
    if (Array.isArray(known)) known.push(text);
    else sent.set(name, LISTS.has(name) ? [text] : text);
  }
  const fields = validate(csvFields, Object.fromEntries(sent), 'body');
  const file = parts.find(({ name }) => name === 'file');
  if (!file) throw new BadRequest('The form has no field named file.');
  return { file, fields };
}
