import { EventStore, Followers, StoredBytes } from '@fairlead/eventing';
import { Access, Area, body, Describe, metadataOf, path, query, shape, validateRequest } from '@fairlead/api';
import { BadRequest, bool, HttpProblem, list, literal, NotFound, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Delete, Header, HttpCode, Patch, Post, Put, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { changedExamples, example, removed } from '../datasets/datasets.answers.schema';
import { hasDataset } from '../datasets/datasets.queries';
import { findExample } from './examples.queries';
import { LiveRunsThread } from '../runs/live-runs.thread';
import { readBytes, readJson } from '../opaque.body';
import { experimentsView } from '../sessions/experiments.view';
import { PayloadStore } from '../storage/payload.store';
import { found, idPath, JSON_TEXT, oneOrMany } from '../reading.http';
import { ExampleAttachments } from './example-attachments.urls';
import { findDatasetsOf } from './example-lookups.queries';
import {
  exampleCreate,
  examplesCreate,
  examplesUpdate,
  exampleUpdate,
  type SentExample,
  splitName,
} from './examples.body';
import { changeLists, createExamples, deleteExamples, updateExamples } from './examples.commands';

/** How long the answer waits for the example that it shows, milliseconds. */
const VIEW_MS = 10_000;
const MOST_BYTES = 24 * 1024 * 1024;
/** Ids that the metadata of one request may name, as many as the SDK for Python sends. */
const MOST_NAMED = 10_000;
const examplePath = idPath('example_id');
const datasetPath = idPath('dataset_id');
const namedQuery = object({ example_ids: oneOrMany(uuid()) });
const deletion = object(
  { example_ids: list(uuid(), { min: 1, max: MOST_NAMED }), hard_delete: optional(bool(), false) },
  'ExamplesDeletion',
);
const splitBody = object(
  { split_name: splitName(), examples: list(uuid(), { max: MOST_NAMED }), remove: optional(bool(), false) },
  'DatasetSplitUpdate',
);
const OPERATIONS = ['array_add', 'array_remove'] as const;
const operation = object({
  key: str({ min: 1, max: 200 }),
  operation: literal(OPERATIONS, { aliases: { ARRAY_ADD: 'array_add', ARRAY_REMOVE: 'array_remove' } }),
  values: list(str({ min: 1, max: 200 }), { max: 100 }),
});
const metadataBody = object(
  { example_ids: list(uuid(), { max: MOST_NAMED }), operations: list(operation, { min: 1, max: 10 }) },
  'ExamplesMetadataUpdate',
);
const FORM = {
  body: { content: { 'multipart/form-data': shape.free } },
  takes: ['x-reason', 'Idempotency-Key'] as const,
};
const PARTS =
  'The part `<id>` is an example, a JSON object; `<id>.inputs` and `<id>.outputs` are members of it, `<id>.attachment.<name>` is attached to it. All of it is done or nothing.';

/** Creates, changes and deletes examples. Every change makes a new version of the dataset. */
@Area('Datasets')
@Controller('api/v1')
export class ExampleWritesController {
  constructor(
    readonly pool: Pool,
    readonly store: EventStore,
    readonly followers: Followers,
    readonly payloads: PayloadStore,
    readonly stored: StoredBytes,
    private readonly thread: LiveRunsThread,
    private readonly attachments: ExampleAttachments,
  ) {}

  @Post('examples')
  @HttpCode(200)
  @Header(...JSON_TEXT)
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Create an example',
    body: exampleCreate,
    answers: { 200: example, 404: 'There is no such dataset or run.', 409: 'The id is in use.' },
    takes: ['x-reason', 'Idempotency-Key'],
  })
  async create(@Req() request: FastifyRequest): Promise<string> {
    const { tenantId } = request.actor;
    const sent = await this.thread.readExamples(tenantId, 'create', await readJson(request, MOST_BYTES));
    const dataset = sent.examples[0]!.dataset!;
    const { ids, asOf, position } = await createExamples(this, tenantId, dataset, sent, metadataOf(request));
    await this.followers.shown(position, experimentsView.name, VIEW_MS);
    const filter = { id: ids, dataset, asOf };
    return found(await findExample(this.pool, tenantId, filter, this.attachments.urls(request)), 'Example ID', ids[0]!);
  }

  @Post('examples/bulk')
  @HttpCode(200)
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Create examples of one dataset',
    description: 'All of them or none.',
    body: examplesCreate,
    answers: {
      200: shape.list(shape.object('CreatedExample', { id: shape.uuid, dataset_id: shape.uuid })),
      404: 'There is no such dataset or run.',
      409: 'An id is in use.',
    },
    takes: ['x-reason', 'Idempotency-Key'],
  })
  async createMany(@Req() request: FastifyRequest) {
    const { tenantId } = request.actor;
    const sent = await this.thread.readExamples(tenantId, 'createMany', await readJson(request, MOST_BYTES));
    if (sent.examples.length === 0) return [];
    const dataset = onlyDataset(sent.examples)!;
    const { ids } = await createExamples(this, tenantId, dataset, sent, metadataOf(request));
    return ids.map((id) => ({ id, dataset_id: dataset }));
  }

  @Post('platform/datasets/:dataset_id/examples')
  @HttpCode(201)
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Create examples in parts',
    description: PARTS,
    path: datasetPath,
    ...FORM,
    answers: { 201: changedExamples, 404: 'There is no such dataset or run.', 409: 'An id is in use.' },
  })
  async createParts(@Req() request: FastifyRequest) {
    const { tenantId } = request.actor;
    const { dataset_id: dataset } = path(datasetPath, request);
    const sent = await this.readParts(request, dataset);
    const { ids, asOf } = await createExamples(this, tenantId, dataset, sent, metadataOf(request));
    return { count: ids.length, example_ids: ids, as_of: asOf };
  }

  @Patch('platform/datasets/:dataset_id/examples')
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Change examples in parts',
    description: `${PARTS} \`<id>.attachments_operations\` names attachments to \`rename\` and to \`retain\`; others are taken away.`,
    path: datasetPath,
    ...FORM,
    answers: { 200: changedExamples },
  })
  async updateParts(@Req() request: FastifyRequest) {
    const { tenantId } = request.actor;
    const { dataset_id: dataset } = path(datasetPath, request);
    const sent = await this.readParts(request, dataset);
    const { asOf } = await updateExamples(this, tenantId, dataset, sent, metadataOf(request));
    const ids = sent.examples.map(({ id }) => id!);
    return { count: ids.length, example_ids: ids, as_of: asOf };
  }

  @Patch('platform/datasets/:dataset_id/examples/metadata')
  @Access('write', { views: [experimentsView.name] })
  @Describe({
    summary: 'Change lists in the metadata of examples',
    description: 'Splits are the list `dataset_split`. A list that loses its last value is left out.',
    path: datasetPath,
    body: metadataBody,
    answers: { 200: changedExamples },
    takes: ['x-reason'],
  })
  async metadata(@Req() request: FastifyRequest) {
    const { tenantId } = request.actor;
    const { path, body } = validateRequest(request, { path: datasetPath, body: metadataBody });
    const { example_ids: ids, operations } = body;
    const change = await changeLists(this, tenantId, path.dataset_id, ids, operations, metadataOf(request));
    return { count: ids.length, example_ids: ids, as_of: change.asOf };
  }

  @Put('datasets/:dataset_id/splits')
  @Access('write', { views: [experimentsView.name] })
  @Describe({
    summary: 'Put examples into a split of a dataset, or take them out',
    path: datasetPath,
    body: splitBody,
    answers: { 200: removed },
    takes: ['x-reason'],
  })
  async split(@Req() request: FastifyRequest) {
    const { path, body } = validateRequest(request, { path: datasetPath, body: splitBody });
    const operation = body.remove ? OPERATIONS[1] : OPERATIONS[0];
    const change = { key: 'dataset_split', operation, values: [body.split_name] };
    const metadata = metadataOf(request);
    await changeLists(this, request.actor.tenantId, path.dataset_id, body.examples, [change], metadata);
    return { message: `Split ${body.split_name} updated` };
  }

  @Patch('examples/bulk')
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Change examples of one dataset',
    description: 'All of them or none.',
    body: examplesUpdate,
    answers: { 200: removed, 404: 'There is no such example.' },
    takes: ['x-reason', 'Idempotency-Key'],
  })
  async updateMany(@Req() request: FastifyRequest) {
    return this.update(request, await this.readUpdates(request, 'updateMany'));
  }

  @Patch('examples/:example_id')
  @Access('write', { stream: true, views: [experimentsView.name] })
  @Describe({
    summary: 'Change an example',
    description: 'Members that are left out or null stay as they are.',
    path: examplePath,
    body: exampleUpdate,
    answers: { 200: removed },
    takes: ['x-reason', 'Idempotency-Key'],
  })
  async updateOne(@Req() request: FastifyRequest) {
    const sent = await this.readUpdates(request, 'update');
    const { example_id: id } = path(examplePath, request);
    return this.update(request, [{ ...sent[0]!, id }]);
  }

  @Delete('examples')
  @Access('write', { views: [experimentsView.name] })
  @Describe({
    summary: 'Delete examples',
    description: 'Later versions do not have them; those of one dataset go together.',
    query: namedQuery,
    answers: { 200: removed, 404: 'There is no such example.' },
    takes: ['x-reason'],
  })
  async deleteMany(@Req() request: FastifyRequest) {
    const { example_ids: ids } = query(namedQuery, request);
    await deleteExamples(this, request.actor.tenantId, ids, metadataOf(request));
    return { message: `${ids.length} examples deleted` };
  }

  @Post('platform/datasets/examples/delete')
  @HttpCode(200)
  @Access('write', { views: [experimentsView.name] })
  @Describe({
    summary: 'Delete examples that a body names',
    description: 'As DELETE /examples. Earlier versions cannot be taken away.',
    body: deletion,
    answers: { 200: removed, 404: 'There is no such example.', 501: 'It says `hard_delete`.' },
    takes: ['x-reason'],
  })
  async deleteNamed(@Req() request: FastifyRequest) {
    const { example_ids: ids, hard_delete: hard } = body(deletion, request);
    const { tenantId } = request.actor;
    const datasets = await findDatasetsOf(this.pool, tenantId, ids);
    const missing = ids.find((id) => !datasets.has(id));
    if (missing !== undefined) throw new NotFound(`Example ID ${missing} not found.`);
    if (hard) {
      const headers = { 'x-should-retry': 'false' };
      throw new HttpProblem(501, 'Taking examples out of earlier versions is not part of Fairlead.', { headers });
    }
    await deleteExamples(this, tenantId, ids, metadataOf(request));
    return { message: `${ids.length} examples deleted` };
  }

  @Delete('examples/:example_id')
  @Access('write', { views: [experimentsView.name] })
  @Describe({
    summary: 'Delete an example',
    description: 'Later versions of its dataset do not have it.',
    path: examplePath,
    answers: { 200: removed },
    takes: ['x-reason'],
  })
  async deleteOne(@Req() request: FastifyRequest) {
    const { example_id: id } = path(examplePath, request);
    await deleteExamples(this, request.actor.tenantId, [id], metadataOf(request));
    return { message: `Example ${id} deleted` };
  }

  /** A body for a dataset that is not there is not looked into. */
  private async readParts(request: FastifyRequest, dataset: string) {
    await this.mustHave(request, dataset);
    const bytes = await readBytes(request, MOST_BYTES);
    return this.thread.readExamples(request.actor.tenantId, 'multipart', bytes, request.headers['content-type'] ?? '');
  }

  private async mustHave({ actor }: FastifyRequest, dataset: string): Promise<void> {
    found((await hasDataset(this.pool, actor.tenantId, dataset)) || undefined, 'Dataset ID', dataset);
  }

  private async readUpdates(request: FastifyRequest, kind: 'update' | 'updateMany'): Promise<readonly SentExample[]> {
    const bytes = await readJson(request, MOST_BYTES);
    return (await this.thread.readExamples(request.actor.tenantId, kind, bytes)).examples;
  }

  /** The examples say which dataset they are of. */
  private async update(request: FastifyRequest, examples: readonly SentExample[]) {
    const { tenantId } = request.actor;
    if (examples.length === 0) return { message: '0 examples updated' };
    const ids = examples.map(({ id }) => id!);
    const datasets = await findDatasetsOf(this.pool, tenantId, ids);
    const missing = ids.find((id) => !datasets.has(id));
    if (missing !== undefined) throw new NotFound(`Example ID ${missing} not found.`);
    const dataset = onlyDataset(examples) ?? datasets.get(ids[0]!)!;
    await updateExamples(this, tenantId, dataset, { examples, contents: new Map() }, metadataOf(request));
    return { message: `${ids.length} examples updated` };
  }
}

/** The dataset that examples name, if they do. @throws BadRequest when that is more than one */
function onlyDataset(examples: readonly SentExample[]): string | undefined {
  const named = new Set(examples.flatMap(({ dataset }) => dataset ?? []));
  if (named.size > 1) throw new BadRequest('The examples of one request belong to one dataset.');
  return [...named][0];
}
