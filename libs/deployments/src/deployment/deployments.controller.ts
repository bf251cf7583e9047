import { KeptPages } from '@fairlead/eventing';
import {
  allows,
  Answers,
  Area,
  asText,
  Body,
  CommandContext,
  Context,
  Describe,
  etag,
  Idempotent,
  linkNext,
  Path,
  Query,
  Scope,
  spelled,
  Spelling,
  unlessKnown,
} from '@fairlead/api';
import { BadRequest, Forbidden, type Infer, union } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Patch, Post, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Addressed, DeploymentAddresses } from './deployment-addresses.service';
import { requestDeletion, tag } from '../model/deployment';
import { bulkDeletion, deployment, deployments, plan, tags } from './deployment.answers.schema';
import { DeploymentCommands } from './deployment.commands';
import { DeploymentQueries } from './deployment.queries';
import { DEPLOYMENTS_VIEW } from './deployment.projection';
import {
  bulkDeleteQuery,
  createRequest,
  deleteQuery,
  deploymentPath,
  dryRunQuery,
  listQuery,
  patchRequest,
  findQuery,
  tagsRequest,
} from './deployment.schema';
import { answerPlan, answerTried, answerWith, warn } from './record';
import { DeploymentNotFound } from '../model/deployment.errors';
import { SecretStore } from './secret.store';
import { StandingQueries } from './standing.queries';

type ListQuery = Infer<typeof listQuery>;

const ALONE = 'Send include without at, version and include_secrets: it tells how the deployment is now.';

@Area('Deployments')
@Controller('v2/deployments')
export class DeploymentsController {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly queries: DeploymentQueries,
    private readonly pages: KeptPages,
    private readonly secretStore: SecretStore,
    private readonly addresses: DeploymentAddresses,
    private readonly standings: StandingQueries,
  ) {}

  /** Secrets are always masked in lists. */
  @Get()
  @Scope('read', { views: [DEPLOYMENTS_VIEW], compressed: true })
  @Describe({
    summary: 'List deployments',
    description: 'The newest first; an exact match of `name_contains` goes before all others.',
    takes: ['If-None-Match'],
    gives: ['Link', 'ETag'],
  })
  @Answers({ 200: asText(deployments), 304: null })
  async list(
    @Context() context: CommandContext,
    @Query(listQuery) query: ListQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const read = () => this.page(context, query);
    const key = JSON.stringify([context.dialect, query]);
    // Addresses depend on what runs, not on the view.
    const isKept = this.addresses.base(context) === undefined;
    const { body, next, more } = await (isKept
      ? this.pages.get(context.tenantId, DEPLOYMENTS_VIEW, key, read)
      : read());
    if (more) linkNext(reply, next);
    return unlessKnown(reply, json(reply, body));
  }

  @Post()
  @Scope('write')
  @Idempotent(Spelling)
  @Describe({
    summary: 'Create a deployment',
    description:
      'An artefact that can be used makes the first revision at once. A name that is taken is answered 400. The header `Warning` names a deployment whose name spells the same address.',
    takes: ['x-reason'],
    gives: ['ETag', 'x-dry-run', 'Warning'],
  })
  @Answers({ 200: plan, 201: deployment, 409: 'The agent has a deployment in this environment.' })
  @HttpCode(201)
  async create(
    @Context() context: CommandContext,
    @Query(dryRunQuery) { dry_run }: Infer<typeof dryRunQuery>,
    @Body(createRequest) sent: Infer<typeof createRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const draft = await this.commands.draft(context, sent);
    const warning = await this.addresses.warning(context.tenantId, draft.id, draft.name);
    if (dry_run) return answerTried(reply, dry_run, await this.commands.previewCreate(context, draft), warning);
    const { state } = await this.commands.create(context, draft, sent.secrets);
    warn(reply, warning);
    return answerWith(reply, state);
  }

  /** Deletes those that exist: 200 when all do, 207 when some do. */
  @Delete()
  @Scope('write')
  @Idempotent()
  @Describe({
    summary: 'Delete several deployments',
    description: '207 when some of them do not exist.',
    takes: ['If-Match', 'x-reason'],
    gives: ['x-dry-run'],
  })
  @Answers({
    200: bulkDeletion,
    207: bulkDeletion,
    404: 'None of them exists.',
    409: 'One is being deleted already.',
  })
  async removeMany(
    @Context() context: CommandContext,
    @Query(bulkDeleteQuery) { deployment_ids, delete_tracing_project, dry_run }: Infer<typeof bulkDeleteQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const outcome = await this.commands.removeMany(context, deployment_ids, delete_tracing_project, dry_run);
    reply.status(outcome.failed.length > 0 ? 207 : 200);
    if (dry_run) reply.header('x-dry-run', 'true');
    return outcome;
  }

  @Get(':deployment_id')
  @Scope('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({
    summary: 'Get a deployment, as it is or as it was',
    description:
      'Values of secrets are masked. `include_secrets=true` answers them to a key with the scope `secrets:read`, and the history tells of it.',
    takes: ['x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: asText(deployment) })
  async find(
    @Context() context: CommandContext,
    @Path(deploymentPath) { deployment_id: id }: Infer<typeof deploymentPath>,
    @Query(findQuery) query: Infer<typeof findQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const isPast = query.at !== undefined || query.version !== undefined;
    if (query.include?.length && (isPast || query.include_secrets)) throw new BadRequest(ALONE);
    if (query.include_secrets) return this.revealed(context, id, isPast, reply);
    if (isPast) return spelled(context, answerWith(reply, await this.commands.findAt(context.tenantId, id, query)));
    const found = await this.queries.find(context.tenantId, id, context.dialect);
    if (!found) throw new DeploymentNotFound(id);
    reply.header('etag', etag(found.edition));
    const [document] = await this.documents(context, [found.document], query.include);
    return json(reply, document!);
  }

  @Patch(':deployment_id')
  @Scope('write')
  @Idempotent(Spelling, Addressed)
  @Describe({
    summary: 'Change a deployment',
    description:
      'Another `source_revision_config`, `secrets` or `secret_references` makes a revision. Equal values change nothing. Changing or removing a gate takes the scope `admin` and a reason in `x-reason`.',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag', 'x-dry-run'],
  })
  @Answers({ 200: union(deployment, plan), 409: 'It is being deleted.' })
  async patch(
    @Context() context: CommandContext,
    @Path(deploymentPath) { deployment_id: id }: Infer<typeof deploymentPath>,
    @Query(dryRunQuery) { dry_run }: Infer<typeof dryRunQuery>,
    @Body(patchRequest) sent: Infer<typeof patchRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const wanted = this.addresses.sent(context, id, sent);
    if (dry_run) return answerTried(reply, dry_run, await this.commands.previewPatch(context, id, wanted));
    return answerWith(reply, (await this.commands.patch(context, id, wanted)).state);
  }

  @Delete(':deployment_id')
  @Scope('write')
  @Idempotent()
  @Describe({ summary: 'Delete a deployment', takes: ['If-Match', 'x-reason'], gives: ['x-dry-run'] })
  @Answers({ 200: plan, 204: null })
  @HttpCode(204)
  async remove(
    @Context() context: CommandContext,
    @Path(deploymentPath) { deployment_id: id }: Infer<typeof deploymentPath>,
    @Query(deleteQuery) { delete_tracing_project, dry_run }: Infer<typeof deleteQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    if (!dry_run) {
      await this.commands.remove(context, id, delete_tracing_project);
      return undefined;
    }
    const tried = await this.commands.preview(context, id, requestDeletion(delete_tracing_project));
    const planned = answerPlan(reply, tried);
    if (dry_run === 'plan') return planned;
    reply.status(204);
    return undefined;
  }

  /** Replaces the tag values that lists can be filtered by. */
  @Put(':deployment_id/tags')
  @Scope('write')
  @Idempotent()
  @Describe({
    summary: 'Replace the tags of a deployment',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @Answers({ 200: tags })
  async tag(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Infer<typeof deploymentPath>,
    @Body(tagsRequest) sent: Infer<typeof tagsRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { state } = await this.commands.change(context, path.deployment_id, tag(sent.tag_value_ids));
    reply.header('etag', etag(state.edition));
    return { tag_value_ids: state.tag_value_ids };
  }

  /** A page of a list, as text, and where the next one begins. */
  private async page(context: CommandContext, { limit, offset, count, include, ...filter }: ListQuery) {
    const { tenantId, dialect } = context;
    const { items, more } = await this.queries.list(tenantId, filter, { limit, offset }, dialect);
    const next = offset + items.length;
    const total = count ? `,"total":${await this.queries.count(tenantId, filter)}` : '';
    const resources = (await this.documents(context, items, include)).join(',');
    return { body: Buffer.from(`{"resources":[${resources}],"offset":${next}${total}}`), next, more };
  }

  /** Rendered deployments with their addresses, and with what was asked for besides. */
  private async documents(context: CommandContext, rendered: readonly string[], include: ListQuery['include'] = []) {
    const documents = rendered.map((item) => this.addresses.inText(context, item));
    const gated = include.includes('gates') ? await this.queries.withGates(context, documents) : documents;
    return include.includes('standing') ? this.standings.inTexts(context, gated) : gated;
  }

  /** The deployment as it is, with the values of its secrets; the reading is recorded. */
  private async revealed(context: CommandContext, id: string, isPast: boolean, reply: FastifyReply) {
    if (!allows(context.actor, 'secrets:read')) throw Forbidden.without('secrets:read');
    if (isPast) throw new BadRequest('Send include_secrets without at and version: secrets are shown as they are now.');
    const { state, version } = await this.commands.find(context.tenantId, id);
    const values = await this.secretStore.open(state, state.secrets, version, context.metadata);
    reply.header('cache-control', 'no-store');
    const secrets = state.secrets.map(({ name }) => ({ name, value: values.get(name)! }));
    return spelled(context, { ...this.addresses.shown(context, answerWith(reply, state)), secrets });
  }
}

/** Answers with text that is JSON already. */
function json<T extends string | Buffer>(reply: FastifyReply, text: T): T {
  reply.header('content-type', 'application/json; charset=utf-8');
  return text;
}
