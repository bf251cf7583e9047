import type { Found } from '@fairlead/eventing';
import {
  answerPage,
  Answers,
  Area,
  Body,
  CommandContext,
  Context,
  Describe,
  etag,
  Idempotent,
  paging,
  Path,
  Query,
  Scope,
  spelled,
  Spelling,
} from '@fairlead/api';
import {
  BadRequest,
  fixed,
  type Infer,
  isNamespace,
  list,
  literal,
  NAMESPACE,
  note,
  object,
  optional,
  str,
  uuid,
} from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Patch, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { v7 as newId } from 'uuid';
import { type Listener, listenerRecord, patchListener } from './listener';
import { ListenerCommands } from './listener.commands';
import { listener, listeners } from './listener.answers.schema';
import { LISTENERS_VIEW, ListenersView } from './listener.projection';
import { both } from '../model/spelling.schema';
import { DeploymentsOptions } from '../model/deployments.options';

const text = str({ max: 255 });
const computeConfig = object(
  'ListenerComputeConfig',
  both({
    cluster_namespaces: note(
      optional(list(str({ min: 1, max: 63 }), { max: 1000 })),
      'Namespaces of the cluster that deployments may use.',
    ),
  }),
);
const createRequest = object('ListenerCreateRequest', {
  version: note(optional(text), 'Version of the listener software; kept and answered.'),
  compute_type: note(literal(['k8s']), 'Kind of cluster: Kubernetes.'),
  compute_id: note(str({ min: 1, max: 255 }), 'Name of the cluster, unique in the workspace (409); it cannot change.'),
  compute_config: note(computeConfig, 'What the listener offers of its cluster.'),
});
const patchRequest = object('ListenerPatchRequest', {
  version: note(optional(text), 'Version of the listener software.'),
  compute_config: note(optional(computeConfig), 'Replaces the whole configuration.'),
  compute_type: fixed(literal(['k8s'])),
  compute_id: fixed(str()),
});
const listenerPath = object({ listener_id: note(uuid(), 'The `id` of a listener of this workspace.') });
const listQuery = object(paging);

@Area('Listeners')
@Controller('v2/listeners')
export class ListenersController {
  constructor(
    private readonly commands: ListenerCommands,
    private readonly view: ListenersView,
    private readonly options: DeploymentsOptions,
  ) {}

  @Get()
  @Scope('read', { views: [LISTENERS_VIEW] })
  @Describe({ summary: 'List listeners', gives: ['Link'] })
  @Answers({ 200: listeners })
  async list(
    @Context() context: CommandContext,
    @Query(listQuery) query: Infer<typeof listQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return answerPage(reply, query, await this.view.list(context.tenantId, query), (listener) =>
      spelled(context, listenerRecord(listener)),
    );
  }

  @Post()
  @Scope('write')
  @Idempotent(Spelling)
  @Describe({ summary: 'Create a listener', takes: ['x-reason'], gives: ['ETag'] })
  @Answers({ 201: listener, 409: 'The workspace has one for this compute.' })
  @HttpCode(201)
  async create(
    @Context() context: CommandContext,
    @Body(createRequest) body: Infer<typeof createRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.checkNamespaces(context, body.compute_config.cluster_namespaces);
    return shown(reply, await this.commands.add(context, context.command?.idFor('listener') ?? newId(), body));
  }

  @Get(':listener_id')
  @Scope('read')
  @Describe({ summary: 'Get a listener', gives: ['ETag'] })
  @Answers({ 200: listener })
  async find(
    @Context() context: CommandContext,
    @Path(listenerPath) path: Infer<typeof listenerPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return spelled(context, shown(reply, await this.commands.find(context.tenantId, path.listener_id)));
  }

  @Patch(':listener_id')
  @Scope('write')
  @Idempotent(Spelling)
  @Describe({ summary: 'Change a listener', takes: ['If-Match', 'x-reason'], gives: ['ETag'] })
  @Answers({ 200: listener })
  async patch(
    @Context() context: CommandContext,
    @Path(listenerPath) path: Infer<typeof listenerPath>,
    @Body(patchRequest) body: Infer<typeof patchRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.checkNamespaces(context, body.compute_config?.cluster_namespaces);
    return shown(reply, await this.commands.change(context, path.listener_id, patchListener(body)));
  }

  @Delete(':listener_id')
  @Scope('write')
  @Idempotent()
  @Describe({ summary: 'Delete a listener', takes: ['If-Match', 'x-reason'] })
  @Answers({ 204: null })
  @HttpCode(204)
  async remove(
    @Context() context: CommandContext,
    @Path(listenerPath) path: Infer<typeof listenerPath>,
  ): Promise<void> {
    await this.commands.remove(context, path.listener_id);
  }

  /** @throws BadRequest for a namespace that deployments of the workspace could not use */
  private checkNamespaces({ tenantId }: CommandContext, namespaces: readonly string[] = []): void {
    for (const namespace of namespaces) {
      if (!isNamespace(namespace)) throw new BadRequest(`cluster_namespaces: '${namespace}' ${NAMESPACE}`);
      const refusal = this.options.plans?.namespaceRefusal(tenantId, namespace);
      if (refusal !== undefined) throw new BadRequest(refusal);
    }
  }
}

function shown(reply: FastifyReply, { state, edition }: Found<Listener>) {
  reply.header('etag', etag(edition));
  return listenerRecord(state);
}
