import {
  EventStore,
  handle,
  load,
  type Metadata,
  nameStream,
  NameTaken,
  Quotas,
  release,
  reserve,
  streamName,
} from '@fairlead/eventing';
import {
  Access,
  Area,
  Describe,
  etag,
  Idempotency,
  ifMatch,
  linkNext,
  metadataOf,
  paging,
  toWire,
  validateRequest,
} from '@fairlead/api';
import { list, literal, object, optional, str, uuid } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { v7 as newId } from 'uuid';
import {
  createListener,
  deleteListener,
  type Listener,
  type ListenerEvent,
  listenerModel,
  listenerRecord,
  ListenerTaken,
  ownListener,
  patchListener,
} from './listener';
import { listener, listeners } from './listener.answers.schema';
import { LISTENERS_VIEW, ListenersView } from './listener.view';
import { both } from '../deployment/spelling.schema';

const text = str({ max: 255 });
const computeConfig = object(
  both({ cluster_namespaces: optional(list(str({ min: 1, max: 63 }), { max: 1000 })) }),
  'ListenerComputeConfig',
);
const createRequest = object(
  {
    version: optional(text),
    compute_type: literal(['k8s']),
    compute_id: str({ min: 1, max: 255 }),
    compute_config: computeConfig,
  },
  'ListenerCreateRequest',
);
const patchRequest = object(
  { version: optional(text), compute_config: optional(computeConfig) },
  'ListenerPatchRequest',
);
const listenerPath = object({ listener_id: uuid() });
const listQuery = object(paging);

@Area('Listeners')
@Controller('v2/listeners')
export class ListenersController {
  constructor(
    private readonly store: EventStore,
    private readonly quotas: Quotas,
    private readonly view: ListenersView,
    private readonly idempotency: Idempotency,
  ) {}

  @Get()
  @Access('read', { views: [LISTENERS_VIEW] })
  @Describe({ summary: 'List listeners', query: listQuery, answers: { 200: listeners }, gives: ['Link'] })
  async list(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { query } = validateRequest(request, { query: listQuery });
    const { items, more } = await this.view.list(request.actor.tenantId, query);
    const offset = query.offset + items.length;
    if (more) linkNext(request, reply, offset);
    return { resources: items.map((listener) => spelled(request, listenerRecord(listener))), offset };
  }

  @Post()
  @Access('write')
  @Describe({
    summary: 'Create a listener',
    body: createRequest,
    answers: { 201: listener, 409: 'The workspace has one for this compute.' },
    takes: ['Idempotency-Key', 'x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(201)
  async create(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { body } = validateRequest(request, { body: createRequest });
    const answer = await this.idempotency.run(request, reply, async () => {
      const { tenantId } = request.actor;
      const id = newId();
      const stream = streamName('listener', id);
      const metadata = metadataOf(request);
      const handled = await this.quotas.within('listeners', tenantId, id, async () => {
        await this.reserve(tenantId, body.compute_id, stream, metadata);
        return handle(this.store, listenerModel, stream, createListener(id, tenantId, body), metadata);
      });
      return this.shown(reply, handled);
    });
    return spelled(request, answer);
  }

  @Get(':listener_id')
  @Access('read')
  @Describe({ summary: 'Get a listener', path: listenerPath, answers: { 200: listener }, gives: ['ETag'] })
  async find(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path } = validateRequest(request, { path: listenerPath });
    const { state, version } = await load(this.store, listenerModel, streamName('listener', path.listener_id));
    const listener = ownListener(request.actor.tenantId, path.listener_id, (found) => found)(state);
    reply.header('etag', etag(version));
    return spelled(request, listenerRecord(listener));
  }

  @Patch(':listener_id')
  @Access('write')
  @Describe({
    summary: 'Change a listener',
    path: listenerPath,
    body: patchRequest,
    answers: { 200: listener },
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  async patch(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path, body } = validateRequest(request, { path: listenerPath, body: patchRequest });
    const answer = await this.idempotency.run(request, reply, async () =>
      this.shown(reply, await this.change(request, path.listener_id, patchListener(body))),
    );
    return spelled(request, answer);
  }

  @Delete(':listener_id')
  @Access('write')
  @Describe({
    summary: 'Delete a listener',
    path: listenerPath,
    answers: { 204: null },
    takes: ['If-Match', 'x-reason'],
  })
  @HttpCode(204)
  async remove(@Req() request: FastifyRequest): Promise<void> {
    const { path } = validateRequest(request, { path: listenerPath });
    const { state } = await this.change(request, path.listener_id, deleteListener);
    const stream = streamName('listener', path.listener_id);
    await release(this.store, nameOf(request.actor.tenantId, state!.compute_id), stream, metadataOf(request));
  }

  /** @throws ListenerTaken */
  private async reserve(tenantId: string, computeId: string, stream: string, metadata: Metadata): Promise<void> {
    const isGone = async (owner: string) => (await load(this.store, listenerModel, owner)).state?.deleted === true;
    try {
      await reserve(this.store, nameOf(tenantId, computeId), stream, metadata, isGone);
    } catch (error) {
      throw error instanceof NameTaken ? new ListenerTaken(tenantId, computeId) : error;
    }
  }

  private change(request: FastifyRequest, id: string, decide: (state: Listener) => ListenerEvent[]) {
    const decideOwn = ownListener(request.actor.tenantId, id, decide);
    const stream = streamName('listener', id);
    return handle(this.store, listenerModel, stream, decideOwn, metadataOf(request), ifMatch(request));
  }

  private shown(reply: FastifyReply, { state, version }: Awaited<ReturnType<ListenersController['change']>>) {
    reply.header('etag', etag(version));
    return listenerRecord(state!);
  }
}

function nameOf(tenantId: string, computeId: string): string {
  return nameStream('listenerName', tenantId, computeId);
}

function spelled<T>(request: FastifyRequest, record: T): T {
  return request.dialect === 'wire' ? toWire(record) : record;
}
