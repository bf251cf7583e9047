import { EventStore, fold, load, newId, type Recorded, streamName } from '@fairlead/eventing';
import { Access, allows, Area, Describe, etag, Idempotency, linkNext, query, validateRequest } from '@fairlead/api';
import { SharedReads } from '@fairlead/edge';
import { checkUrl } from '@fairlead/outbound';
import { BadRequest, NotFound } from '@fairlead/schema';
import { Controller, Delete, Get, HttpCode, Patch, Post, Put, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { create, patch } from './change';
import { deploymentModel, owned, requestDeletion, tag } from './deployment';
import { DeploymentAnswers } from './deployment.answers';
import { bulkDeletion, deployment, deployments, tags } from './deployment.answers.schema';
import { DeploymentCommands } from './deployment.commands';
import type { DeploymentEvent, Secret } from './deployment-events';
import { nameForAgent } from './deployment.names';
import { DeploymentQueries } from './deployment.queries';
import { DEPLOYMENTS_VIEW } from './deployment.view';
import {
  bulkDeleteQuery,
  createRequest,
  deleteQuery,
  deploymentPath,
  dryRunQuery,
  listQuery,
  patchRequest,
  replayQuery,
  tagsRequest,
} from './deployment.schema';
import { DeploymentsOptions } from '../deployments.options';
import { DeploymentNotFound, VersionNotFound } from '../errors';
import { SecretSafe } from '../secrets/secret.safe';

@Area('Deployments')
@Controller('v2/deployments')
export class DeploymentsController {
  /** Dashboards ask for the same page over and over. */
  private readonly pages = new SharedReads();

  constructor(
    private readonly store: EventStore,
    private readonly commands: DeploymentCommands,
    private readonly queries: DeploymentQueries,
    private readonly answers: DeploymentAnswers,
    private readonly safe: SecretSafe,
    private readonly idempotency: Idempotency,
    private readonly options: DeploymentsOptions,
  ) {}

  /** Secrets are always masked in lists. */
  @Get()
  @Access('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({
    summary: 'List deployments',
    description: 'The newest first; an exact match of `name_contains` goes before all others.',
    query: listQuery,
    answers: { 200: deployments },
    gives: ['Link'],
  })
  async list(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { limit, offset, ...filter } = query(listQuery, request);
    const { dialect } = request;
    const { tenantId } = request.actor;
    const { body, next, more } = await this.pages.run(
      JSON.stringify([tenantId, dialect, limit, offset, filter]),
      async () => {
        const { items, more } = await this.queries.list(tenantId, filter, { limit, offset }, dialect);
        const next = offset + items.length;
        return { body: Buffer.from(`{"resources":[${items.join(',')}],"offset":${next}}`), next, more };
      },
    );
    if (more) linkNext(request, reply, next);
    return json(reply, body);
  }

  @Post()
  @Access('write')
  @Describe({
    summary: 'Create a deployment',
    description: 'An artefact that can be used makes the first revision at once. A name that is taken is answered 400.',
    query: dryRunQuery,
    body: createRequest,
    answers: { 201: deployment, 409: 'The agent has a deployment in this environment.' },
    takes: ['Idempotency-Key', 'x-reason'],
    gives: ['ETag', 'x-dry-run'],
  })
  @HttpCode(201)
  async create(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { query, body: sent } = validateRequest(request, { query: dryRunQuery, body: createRequest });
    const { hosting, outbound } = this.options;
    const { tenantId } = request.actor;
    const name = sent.name ?? nameForAgent(sent.agent!);
    const { repo_url } = sent.source_config;
    if (repo_url !== undefined) checkUrl(repo_url, outbound, 'repo_url');
    const ids = { deploymentId: await this.commands.idFor(request, name), revisionId: newId() };
    const tried = { ...sent, name, secrets: await this.safe.pretend(ids.deploymentId, [], sent.secrets) };
    if (query.dry_run) {
      const { state } = await this.commands.previewCreate(request, ids, tried, hosting);
      return this.answers.dryRun(request, reply, state);
    }
    const answer = await this.idempotency.run(request, reply, async () => {
      create(tried, tenantId, ids, hosting)(null);
      const secrets = await this.safe.seal(tenantId, ids.deploymentId, [], sent.secrets);
      const { state } = await this.commands.create(request, ids, { ...sent, name, secrets }, hosting);
      return this.answers.kept(reply, state);
    });
    return this.answers.revealed(request, reply, answer);
  }

  /** Deletes those that exist: 200 when all do, 207 when some do. */
  @Delete()
  @Access('write')
  @Describe({
    summary: 'Delete several deployments',
    description: '207 when some of them do not exist.',
    query: bulkDeleteQuery,
    answers: {
      200: bulkDeletion,
      207: bulkDeletion,
      404: 'None of them exists.',
      409: 'One is being deleted already.',
    },
    takes: ['If-Match', 'x-reason'],
  })
  async removeMany(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { deployment_ids, delete_tracing_project } = query(bulkDeleteQuery, request);
    const attempts = [...new Set(deployment_ids)].map(async (deployment_id) => {
      try {
        await this.requestDeletion(request, deployment_id, delete_tracing_project);
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
    return { deleted, failed };
  }

  @Get(':deployment_id')
  @Access('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({
    summary: 'Get a deployment, as it is or as it was',
    path: deploymentPath,
    query: replayQuery,
    answers: { 200: deployment },
    takes: ['x-reason'],
    gives: ['ETag'],
  })
  async find(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path, query } = validateRequest(request, { path: deploymentPath, query: replayQuery });
    const id = path.deployment_id;
    const { tenantId } = request.actor;
    if (query.at !== undefined || query.version !== undefined) return this.replay(request, reply, id, query);
    if (allows(request.actor, 'secrets:read')) {
      const { state } = await load(this.store, deploymentModel, streamName('deployment', id));
      const current = owned(tenantId, id, (deployment) => deployment)(state);
      return this.answers.revealed(request, reply, this.answers.kept(reply, current));
    }
    const found = await this.queries.find(tenantId, id, request.dialect);
    if (!found) throw new DeploymentNotFound(id);
    reply.header('etag', etag(found.edition));
    return json(reply, found.document);
  }

  @Patch(':deployment_id')
  @Access('write')
  @Describe({
    summary: 'Change a deployment',
    description:
      'Another `source_revision_config`, `secrets` or `secret_references` makes a revision. Equal values change nothing.',
    path: deploymentPath,
    query: dryRunQuery,
    body: patchRequest,
    answers: { 200: deployment, 409: 'It is being deleted.' },
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
    gives: ['ETag', 'x-dry-run'],
  })
  async patch(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const parts = { path: deploymentPath, query: dryRunQuery, body: patchRequest };
    const { path, query, body: sent } = validateRequest(request, parts);
    const id = path.deployment_id;
    const { hosting } = this.options;
    if (query.dry_run) {
      const secrets = sent.secrets && (await this.safe.pretend(id, await this.readable(request, id), sent.secrets));
      const { state } = await this.commands.preview(request, id, patch({ ...sent, secrets }, newId(), hosting));
      return this.answers.dryRun(request, reply, state);
    }
    const answer = await this.idempotency.run(request, reply, async () => {
      const { tenantId } = request.actor;
      const secrets =
        sent.secrets && (await this.safe.seal(tenantId, id, await this.stored(request, id), sent.secrets));
      const anew = sent.secrets && this.mayGuess(request) && (await this.safe.seal(tenantId, id, [], sent.secrets));
      const revisionId = newId();
      const { state } = await this.commands.change(request, id, (deployment) => {
        // A wrong value must be refused no sooner than the right one.
        if (anew) this.commands.check(request, id, patch({ ...sent, secrets: anew }, revisionId, hosting)(deployment));
        return patch({ ...sent, secrets }, revisionId, hosting)(deployment);
      });
      return this.answers.kept(reply, state);
    });
    return this.answers.revealed(request, reply, answer);
  }

  @Delete(':deployment_id')
  @Access('write')
  @Describe({
    summary: 'Delete a deployment',
    path: deploymentPath,
    query: deleteQuery,
    answers: { 204: null },
    takes: ['If-Match', 'x-reason'],
  })
  @HttpCode(204)
  async remove(@Req() request: FastifyRequest): Promise<void> {
    const { path, query } = validateRequest(request, { path: deploymentPath, query: deleteQuery });
    await this.requestDeletion(request, path.deployment_id, query.delete_tracing_project);
  }

  /** Replaces the tag values that lists can be filtered by. */
  @Put(':deployment_id/tags')
  @Access('write')
  @Describe({
    summary: 'Replace the tags of a deployment',
    path: deploymentPath,
    body: tagsRequest,
    answers: { 200: tags },
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  async tag(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path, body: sent } = validateRequest(request, { path: deploymentPath, body: tagsRequest });
    const { state } = await this.commands.change(request, path.deployment_id, tag(sent.tag_value_ids));
    reply.header('etag', etag(state.edition));
    return { tag_value_ids: state.tag_value_ids };
  }

  private async requestDeletion(request: FastifyRequest, id: string, deleteTracingProject: boolean): Promise<void> {
    const { state } = await this.commands.change(request, id, requestDeletion(deleteTracingProject));
    await this.commands.releaseName(request, state);
  }

  /** The deployment as it was, folded from the events up to a time or version; secrets are masked. */
  private async replay(
    request: FastifyRequest,
    reply: FastifyReply,
    id: string,
    { at, version }: { at?: { micros: number }; version?: number },
  ) {
    if (at !== undefined && version !== undefined) throw new BadRequest('Send either at or version, not both.');
    const events = (await this.store.read(streamName('deployment', id))) as Recorded<DeploymentEvent>[];
    // Times of services whose clocks differ may not grow: nothing is left out from the middle.
    const later = at ? events.findIndex(({ time }) => Date.parse(time) * 1000 > at.micros) : -1;
    const until = at ? events.slice(0, later < 0 ? undefined : later) : events.slice(0, version);
    const state = owned(request.actor.tenantId, id, (deployment) => deployment)(fold(deploymentModel, until));
    if (version !== undefined && version > events.length) throw new VersionNotFound(id, version, events.length);
    return this.answers.masked(request, reply, state);
  }

  /** Whether the caller must not be told that a value it sends is a stored one. */
  private mayGuess({ actor }: FastifyRequest): boolean {
    return !allows(actor, 'secrets:read');
  }

  /** The secrets that values may be compared with when nothing is written. */
  private async readable(request: FastifyRequest, id: string): Promise<readonly Secret[]> {
    const stored = await this.stored(request, id);
    return this.mayGuess(request) ? [] : stored;
  }

  /** The secrets that the caller's deployment has now. */
  private async stored(request: FastifyRequest, id: string): Promise<readonly Secret[]> {
    const { state } = await load(this.store, deploymentModel, streamName('deployment', id));
    return owned(request.actor.tenantId, id, ({ secrets }) => secrets)(state);
  }
}

/** Answers with text that is JSON already. */
function json<T extends string | Buffer>(reply: FastifyReply, text: T): T {
  reply.header('content-type', 'application/json; charset=utf-8');
  return text;
}
