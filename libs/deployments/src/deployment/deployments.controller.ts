import { EventStore, fold, KeptPages, newId, owned, streamName } from '@fairlead/eventing';
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
import { checkUrl } from '@fairlead/outbound';
import { BadRequest, Forbidden, type Infer, NotFound, union } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Patch, Post, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Addressed, DeploymentAddresses } from './addresses.service';
import { create, patch } from './change';
import { type Deployment, deploymentAggregate, deploymentModel, requestDeletion, tag } from './deployment';
import { bulkDeletion, deployment, deployments, plan, tags } from './deployment.answers.schema';
import { DeploymentCommands } from './deployment.commands';
import type { Secret } from './deployment-events';
import { nameForAgent } from './deployment.names';
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
import { checkedBy, placeOf, rehearse, warn } from './plans';
import { answerPlan, answerTried, answerWith, type DeploymentRecord } from './record';
import { DeploymentsOptions } from '../deployments.options';
import { DeploymentNotFound, VersionNotFound } from './deployment.errors';
import { SecretStore } from '../secrets/secret.store';
import { NamedResources } from '../source/named-resources.service';
import type { OfferedSecret } from '../secrets/secrets';

@Area('Deployments')
@Controller('v2/deployments')
export class DeploymentsController {
  constructor(
    private readonly store: EventStore,
    private readonly commands: DeploymentCommands,
    private readonly queries: DeploymentQueries,
    private readonly pages: KeptPages,
    private readonly secretStore: SecretStore,
    private readonly named: NamedResources,
    private readonly options: DeploymentsOptions,
    private readonly addresses: DeploymentAddresses,
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
    @Query(listQuery) { limit, offset, count, ...filter }: Infer<typeof listQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { tenantId, dialect } = context;
    const read = async () => {
      const { items, more } = await this.queries.list(tenantId, filter, { limit, offset }, dialect);
      const next = offset + items.length;
      const total = count ? `,"total":${await this.queries.count(tenantId, filter)}` : '';
      const resources = items.map((item) => this.addresses.inText(context, item)).join(',');
      return { body: Buffer.from(`{"resources":[${resources}],"offset":${next}${total}}`), next, more };
    };
    const key = JSON.stringify([dialect, limit, offset, count, filter]);
    // Addresses depend on what runs, not on the view.
    const isKept = this.addresses.base(context) === undefined;
    const { body, next, more } = await (isKept ? this.pages.get(tenantId, DEPLOYMENTS_VIEW, key, read) : read());
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
    @Query(dryRunQuery) query: Infer<typeof dryRunQuery>,
    @Body(createRequest) sent: Infer<typeof createRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { hosting, outbound, plans } = this.options;
    const { tenantId } = context;
    const name = sent.name ?? nameForAgent(sent.agent!);
    const { repo_url } = sent.source_config;
    if (repo_url !== undefined) checkUrl(repo_url, outbound, 'repo_url');
    const ids = { deploymentId: await this.commands.idFor(context, name), revisionId: newId() };
    const tried = { ...sent, name, secrets: await this.secretStore.pretend(ids.deploymentId, [], sent.secrets) };
    const decide = create(tried, tenantId, ids, hosting);
    (plans ? checkedBy(plans, decide) : decide)(null);
    await this.named.check(tenantId, sent.source_config);
    await this.named.checkBranch(tenantId, sent.source_config, sent.source_revision_config);
    if (query.dry_run) {
      const planned = await this.commands.previewCreate(context, ids, tried, hosting);
      if (plans) await rehearse(plans, reply, planned);
      const alike = warn(reply, await this.addresses.warning(tenantId, ids.deploymentId, name));
      return answerTried(reply, query.dry_run, planned, alike);
    }
    const secrets = await this.secretStore.seal(tenantId, ids.deploymentId, [], sent.secrets);
    const alike = await this.addresses.warning(tenantId, ids.deploymentId, name);
    const { state } = await this.commands.create(context, ids, { ...sent, name, secrets }, hosting);
    warn(reply, alike);
    return answerWith(reply, state);
  }

  /** Deletes those that exist: 200 when all do, 207 when some do. */
  @Delete()
  @Scope('write')
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
    const attempts = [...new Set(deployment_ids)].map(async (deployment_id) => {
      try {
        if (dry_run) await this.commands.preview(context, deployment_id, requestDeletion(delete_tracing_project));
        else await this.commands.remove(context, deployment_id, delete_tracing_project);
        return { deployment_id };
      } catch (error) {
        if (error instanceof DeploymentNotFound) return { deployment_id, detail: error.message };
        throw error;
      }
    });
    const outcomes = await Promise.all(attempts);
    const failed = outcomes.filter((outcome) => outcome.detail !== undefined);
    const deleted = outcomes.filter(({ detail }) => detail === undefined).map(({ deployment_id }) => deployment_id);
    if (deleted.length === 0) throw new NotFound(failed[0]?.detail);
    reply.status(failed.length > 0 ? 207 : 200);
    if (dry_run) reply.header('x-dry-run', 'true');
    return { deleted, failed };
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
    const { tenantId } = context;
    const isPast = query.at !== undefined || query.version !== undefined;
    if (query.include_secrets) {
      if (!allows(context.actor, 'secrets:read')) throw new Forbidden();
      if (isPast)
        throw new BadRequest('Send include_secrets without at and version: secrets are shown as they are now.');
      const { state, version } = await this.commands.find(tenantId, id);
      return spelled(context, await this.revealed(context, reply, state, version));
    }
    if (isPast) return this.replay(context, reply, id, query);
    const found = await this.queries.find(tenantId, id, context.dialect);
    if (!found) throw new DeploymentNotFound(id);
    reply.header('etag', etag(found.edition));
    return json(reply, this.addresses.inText(context, found.document));
  }

  @Patch(':deployment_id')
  @Scope('write')
  @Idempotent(Spelling, Addressed)
  @Describe({
    summary: 'Change a deployment',
    description:
      'Another `source_revision_config`, `secrets` or `secret_references` makes a revision. Equal values change nothing.',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag', 'x-dry-run'],
  })
  @Answers({ 200: union(deployment, plan), 409: 'It is being deleted.' })
  async patch(
    @Context() context: CommandContext,
    @Path(deploymentPath) { deployment_id: id }: Infer<typeof deploymentPath>,
    @Query(dryRunQuery) query: Infer<typeof dryRunQuery>,
    @Body(patchRequest) sent: Infer<typeof patchRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { hosting, plans } = this.options;
    const wanted = this.addresses.sent(context, id, sent);
    const place = plans && (await placeOf(this.store, id));
    await this.checkBranch(context, id, wanted);
    const changes = (secrets: OfferedSecret[] | undefined, revisionId: string) => {
      const decide = patch({ ...wanted, secrets }, revisionId, hosting);
      return plans ? checkedBy(plans, decide, place) : decide;
    };
    if (query.dry_run) {
      const secrets =
        sent.secrets && (await this.secretStore.pretend(id, await this.readable(context, id), sent.secrets));
      const tried = await this.commands.preview(context, id, changes(secrets, newId()));
      if (plans) await rehearse(plans, reply, tried, place);
      return answerTried(reply, query.dry_run, tried);
    }
    const { tenantId } = context;
    const revisionId = newId();
    const decide = (secrets?: OfferedSecret[]) => changes(secrets, revisionId);
    const { secrets: offered } = sent;
    if (!offered) return answerWith(reply, (await this.commands.change(context, id, decide())).state);
    const { state } = await this.commands.changePrepared(context, id, async (current) => {
      const secrets = await this.secretStore.seal(tenantId, id, current.secrets, offered);
      const anew = this.mayGuess(context) && (await this.secretStore.seal(tenantId, id, [], offered));
      return (deployment) => {
        // A wrong value must be refused no sooner than the right one.
        if (anew) this.commands.check(context, id, decide(anew)(deployment));
        return decide(secrets)(deployment);
      };
    });
    return answerWith(reply, state);
  }

  @Delete(':deployment_id')
  @Scope('write')
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
  @Describe({
    summary: 'Replace the tags of a deployment',
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
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

  /** Asks the code host about the branch of a PATCH that changes it, or that begins to build pushes. */
  private async checkBranch({ tenantId }: CommandContext, id: string, wanted: Infer<typeof patchRequest>) {
    const { repo_ref } = wanted.source_revision_config ?? {};
    const { build_on_push } = wanted.source_config ?? {};
    if (build_on_push === false || (repo_ref === undefined && build_on_push === undefined)) return;
    const { state } = await this.commands.find(tenantId, id);
    const { source_config: config, source_revision_config: revision } = state;
    const builds = build_on_push ?? (config.build_on_push || state.build_on_push_paused) ?? false;
    if (config.build_on_push === builds && (repo_ref ?? revision.repo_ref) === revision.repo_ref) return;
    await this.named.checkBranch(
      tenantId,
      { ...config, build_on_push: builds },
      { repo_ref: repo_ref ?? revision.repo_ref },
    );
  }

  /** The deployment as it was, folded from the events up to a time or version; secrets are masked. */
  private async replay(
    context: CommandContext,
    reply: FastifyReply,
    id: string,
    { at, version }: { at?: { micros: number }; version?: number },
  ) {
    if (at !== undefined && version !== undefined) throw new BadRequest('Send either at or version, not both.');
    let folded = deploymentModel.initial;
    let newest = 0;

    for await (const events of this.store.parts(streamName('deployment', id))) {
      // Times of services whose clocks differ may not grow: nothing is left out from the middle.
      const later = events.findIndex(({ time, version: made }) =>
        at ? Date.parse(time) * 1000 > at.micros : made > (version ?? Infinity),
      );
      folded = fold(deploymentModel, later < 0 ? events : events.slice(0, later), folded);
      newest = events.at(-1)!.version;
      if (later >= 0) break;
    }
    const state = owned(deploymentAggregate, context.tenantId, id, (deployment: Deployment) => deployment)(folded);
    if (version !== undefined && version > newest) throw new VersionNotFound(id, version, newest);
    return spelled(context, answerWith(reply, state));
  }

  /** The deployment at a version with the values of its secrets; the reading is recorded. */
  private async revealed(
    context: CommandContext,
    reply: FastifyReply,
    state: Deployment,
    version: number,
  ): Promise<DeploymentRecord> {
    const values = await this.secretStore.open(state, state.secrets, version, context.metadata);
    reply.header('cache-control', 'no-store');
    const secrets = state.secrets.map(({ name }) => ({ name, value: values.get(name)! }));
    return { ...this.addresses.shown(context, answerWith(reply, state)), secrets };
  }

  /** The secrets that values may be compared with when nothing is written. */
  private async readable(context: CommandContext, id: string): Promise<readonly Secret[]> {
    const { state } = await this.commands.find(context.tenantId, id);
    return this.mayGuess(context) ? [] : state.secrets;
  }

  /** True when the caller must not learn that a value it sends is a stored one. */
  private mayGuess({ actor }: CommandContext): boolean {
    return !allows(actor, 'secrets:read');
  }
}

/** Answers with text that is JSON already. */
function json<T extends string | Buffer>(reply: FastifyReply, text: T): T {
  reply.header('content-type', 'application/json; charset=utf-8');
  return text;
}
