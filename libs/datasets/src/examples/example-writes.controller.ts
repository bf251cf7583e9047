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
  Query,
  Scope,
  validateRequest,
} from '@fairlead/api';
import {
  anyObject,
  BadRequest,
  bool,
  type Infer,
  list,
  literal,
  note,
  object,
  optional,
  requireSame,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Delete, Header, HttpCode, Patch, Post, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import {
  Attachments,
  digestOf,
  EXPERIMENTS_VIEWS,
  found,
  Id,
  idPath,
  JSON_TEXT,
  notOffered,
  oneOrMany,
  readBytes,
  readJson,
} from '@fairlead/runs';
import { changedExamples, example, removed } from '../datasets/datasets.answers.schema';
import { DatasetCommands } from '../datasets/datasets.commands';
import { requireDataset } from '../datasets/datasets.queries';
import { findExample } from './examples.queries';
import { ExamplesThread } from './examples-thread.service';
import { findDatasetsOf } from './example-lookups.queries';
import {
  exampleCreate,
  examplesCreate,
  examplesUpdate,
  exampleUpdate,
  type SentExample,
  splitName,
} from './examples-body';
import { changeLists, createExamples, createShown, deleteExamples, updateExamples } from './examples.commands';
import type { ExamplesKind } from './read-examples';

const MOST_BYTES = 24 * 1024 * 1024;
/** Ids that the metadata of one request may name, as many as the SDK for Python sends. */
const MOST_NAMED = 10_000;
const examplePath = idPath('example_id');
const namedQuery = object({ example_ids: note(oneOrMany(uuid()), 'The examples to delete; repeatable.') });
const deletion = object('ExamplesDeletion', {
  example_ids: note(list(uuid(), { min: 1, max: MOST_NAMED }), 'The examples to delete.'),
  hard_delete: note(optional(bool(), false), 'Not supported: true is answered 501.'),
});
const splitBody = object('DatasetSplitUpdate', {
  split_name: note(splitName(), 'Split that is changed; it begins to exist with its first example.'),
  examples: note(list(uuid(), { max: MOST_NAMED }), 'Examples that are put into the split, or taken out of it.'),
  remove: note(optional(bool(), false), 'True: take the examples out of the split.'),
});
const OPERATIONS = ['array_add', 'array_remove'] as const;
const operation = object({
  key: note(str({ min: 1, max: 200 }), 'Member of the metadata, which is a list of texts.'),
  operation: note(
    literal(OPERATIONS, { aliases: { ARRAY_ADD: 'array_add', ARRAY_REMOVE: 'array_remove' } }),
    '`array_add` adds the values to the list, `array_remove` takes them out of it.',
  ),
  values: note(list(str({ min: 1, max: 200 }), { max: 100 }), 'Texts that are added or taken out.'),
});
const metadataBody = object('ExamplesMetadataUpdate', {
  example_ids: note(list(uuid(), { max: MOST_NAMED }), 'The examples to change.'),
  operations: note(
    list(operation, { min: 1, max: 10 }),
    'What is done to the metadata of each example, in this order.',
  ),
});
const createdExample = object('CreatedExample', {
  id: note(uuid(), 'Identifier of the example.'),
  dataset_id: note(uuid(), 'Dataset that the example belongs to.'),
});
const FORM = {
  body: { content: { 'multipart/form-data': anyObject() } },
  takes: ['x-reason', 'Idempotency-Key'] as const,
};
const PARTS =
  'The part `<id>` is an example, a JSON object; `<id>.inputs` and `<id>.outputs` are members of it, `<id>.attachment.<name>` is attached to it. All of it is done or nothing.';

@Area('Datasets')
@Controller('api/v1')
export class ExampleWritesController {
  constructor(
    private readonly pool: Pool,
    private readonly datasets: DatasetCommands,
    private readonly thread: ExamplesThread,
    private readonly attachments: Attachments,
    private readonly idempotency: Idempotency,
  ) {}

  @Post('examples')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Create an example', body: exampleCreate, takes: ['x-reason', 'Idempotency-Key'] })
  @Answers({ 200: asText(example), 404: 'There is no such dataset or run.', 409: 'The id is in use.' })
  async create(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const { sent, digest } = await this.read(request, 'create');
    const dataset = sent.examples[0]!.dataset!;
    const create = () => createShown(this.datasets, context, dataset, sent);
    const { ids, asOf } = await this.idempotency.run(request, reply, create, digest);
    // Addresses of attachments are made for each answer.
    const urls = this.attachments.urls(context);
    const shown = await findExample(this.pool, context.tenantId, { id: ids, dataset, asOf }, urls);
    return found(shown, 'Example ID', ids[0]!);
  }

  @Post('examples/bulk')
  @HttpCode(200)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Create examples of one dataset',
    description: 'All of them or none.',
    body: examplesCreate,
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({
    200: list(createdExample),
    404: 'There is no such dataset or run.',
    409: 'An id is in use.',
  })
  async createMany(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { sent, digest } = await this.read(request, 'createMany');
    if (sent.examples.length === 0) return [];
    const dataset = onlyDataset(sent.examples)!;
    const create = async () => {
      const { ids } = await createExamples(this.datasets, context, dataset, sent);
      return ids.map((id) => ({ id, dataset_id: dataset }));
    };
    return this.idempotency.run(request, reply, create, digest);
  }

  @Post('platform/datasets/:dataset_id/examples')
  @HttpCode(201)
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({ summary: 'Create examples in parts', description: PARTS, ...FORM })
  @Answers({ 201: changedExamples, 404: 'There is no such dataset or run.', 409: 'An id is in use.' })
  async createParts(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Id('dataset_id') dataset: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { sent, digest } = await this.readParts(request, context.tenantId, dataset);
    const named = onlyDataset(sent.examples) ?? dataset;
    if (named !== dataset) throw new BadRequest(`dataset_id is ${named}, but the path names the dataset ${dataset}.`);
    const create = async () => {
      const { ids, asOf } = await createExamples(this.datasets, context, dataset, sent);
      return { count: ids.length, example_ids: ids, as_of: asOf };
    };
    return this.idempotency.run(request, reply, create, digest);
  }

  @Patch('platform/datasets/:dataset_id/examples')
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Change examples in parts',
    description: `${PARTS} \`<id>.attachments_operations\` names attachments to \`rename\` and to \`retain\`; others are taken away.`,
    ...FORM,
  })
  @Answers({ 200: changedExamples })
  async updateParts(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Id('dataset_id') dataset: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { sent, digest } = await this.readParts(request, context.tenantId, dataset);
    const update = async () => {
      const { asOf } = await updateExamples(this.datasets, context, dataset, sent);
      const ids = sent.examples.map(({ id }) => id!);
      return { count: ids.length, example_ids: ids, as_of: asOf };
    };
    return this.idempotency.run(request, reply, update, digest);
  }

  @Patch('platform/datasets/:dataset_id/examples/metadata')
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Idempotent()
  @Describe({
    summary: 'Change lists in the metadata of examples',
    description: 'Splits are the list `dataset_split`. A list that loses its last value is left out.',
    takes: ['x-reason'],
  })
  @Answers({ 200: changedExamples })
  async metadata(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Body(metadataBody) body: Infer<typeof metadataBody>,
  ) {
    const { example_ids: ids, operations } = body;
    const change = await changeLists(this.datasets, context, datasetId, ids, operations);
    return { count: ids.length, example_ids: ids, as_of: change.asOf };
  }

  @Put('datasets/:dataset_id/splits')
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Idempotent()
  @Describe({ summary: 'Put examples into a split of a dataset, or take them out', takes: ['x-reason'] })
  @Answers({ 200: removed })
  async split(
    @Context() context: CommandContext,
    @Id('dataset_id') datasetId: string,
    @Body(splitBody) body: Infer<typeof splitBody>,
  ) {
    const operation = body.remove ? OPERATIONS[1] : OPERATIONS[0];
    const change = { key: 'dataset_split', operation, values: [body.split_name] };
    await changeLists(this.datasets, context, datasetId, body.examples, [change]);
    return { message: `Split ${body.split_name} updated` };
  }

  @Patch('examples/bulk')
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Change examples of one dataset',
    description: 'All of them or none.',
    body: examplesUpdate,
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({ 200: removed, 404: 'There is no such example.' })
  async updateMany(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { sent, digest } = await this.read(request, 'updateMany');
    return this.idempotency.run(request, reply, () => this.update(context, sent.examples), digest);
  }

  @Patch('examples/:example_id')
  @Scope('write', { stream: true, views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Change an example',
    description: 'Members that are left out or null stay as they are.',
    path: examplePath,
    body: exampleUpdate,
    takes: ['x-reason', 'Idempotency-Key'],
  })
  @Answers({ 200: removed })
  async updateOne(
    @Context() context: CommandContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { sent, digest } = await this.read(request, 'update');
    const { example_id: id } = validateRequest(request, { path: examplePath }).path;
    const [example] = sent.examples;
    requireSame({ id: example!.id }, { id });
    return this.idempotency.run(request, reply, () => this.update(context, [{ ...example!, id }]), digest);
  }

  @Delete('examples')
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Delete examples',
    description: 'Later versions do not have them; those of one dataset go together.',
    takes: ['x-reason'],
  })
  @Answers({ 200: removed, 404: 'There is no such example.' })
  async deleteMany(
    @Context() context: CommandContext,
    @Query(namedQuery) { example_ids: ids }: Infer<typeof namedQuery>,
  ) {
    await deleteExamples(this.datasets, context, ids);
    return { message: `${ids.length} examples deleted` };
  }

  @Post('platform/datasets/examples/delete')
  @HttpCode(200)
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Delete examples that a body names',
    description: 'As DELETE /examples. Earlier versions cannot be taken away.',
    takes: ['x-reason'],
  })
  @Answers({ 200: removed, 404: 'There is no such example.', 501: 'It says `hard_delete`.' })
  async deleteNamed(
    @Context() context: CommandContext,
    @Body(deletion) { example_ids: ids, hard_delete: hard }: Infer<typeof deletion>,
  ) {
    await findDatasetsOf(this.pool, context.tenantId, ids);
    if (hard) throw notOffered('Taking examples out of earlier versions is not part of Fairlead.');
    await deleteExamples(this.datasets, context, ids);
    return { message: `${ids.length} examples deleted` };
  }

  @Delete('examples/:example_id')
  @Scope('write', { views: EXPERIMENTS_VIEWS })
  @Describe({
    summary: 'Delete an example',
    description: 'Later versions of its dataset do not have it.',
    takes: ['x-reason'],
  })
  @Answers({ 200: removed })
  async deleteOne(@Context() context: CommandContext, @Id('example_id') id: string) {
    await deleteExamples(this.datasets, context, [id]);
    return { message: `Example ${id} deleted` };
  }

  /** A body for a dataset that is not there is not looked into. */
  private async readParts(request: FastifyRequest, tenantId: string, dataset: string) {
    await requireDataset(this.pool, tenantId, dataset);
    const bytes = await readBytes(request, MOST_BYTES);
    const digest = digestOf(request, bytes);
    const type = request.headers['content-type'] ?? '';
    return { digest, sent: await this.thread.read(tenantId, 'multipart', bytes, type) };
  }

  private async read(request: FastifyRequest, kind: ExamplesKind) {
    const bytes = await readJson(request, MOST_BYTES);
    const digest = digestOf(request, bytes);
    return { digest, sent: await this.thread.read(request.actor.tenantId, kind, bytes) };
  }

  private async update(context: CommandContext, examples: readonly SentExample[]) {
    if (examples.length === 0) return { message: '0 examples updated' };
    const ids = examples.map(({ id }) => id!);
    const datasets = await findDatasetsOf(this.pool, context.tenantId, ids);
    const dataset = onlyDataset(examples) ?? datasets.get(ids[0]!)!;
    await updateExamples(this.datasets, context, dataset, { examples, contents: new Map() });
    return { message: `${ids.length} examples updated` };
  }
}

/** The dataset that examples name, if they do. @throws BadRequest when that is more than one */
function onlyDataset(examples: readonly SentExample[]): string | undefined {
  const named = new Set(examples.flatMap(({ dataset }) => dataset ?? []));
  if (named.size > 1) throw new BadRequest('The examples of one request belong to one dataset.');
  return [...named][0];
}
