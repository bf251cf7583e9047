import { setTimeout as pause } from 'node:timers/promises';
import { EventStore, fold, load, type Recorded, streamName } from '@fairlead/eventing';
import { Access, Area, Describe, etag, Idempotency, linkNext, unlessKnown, validateRequest } from '@fairlead/api';
import { Controller, Get, HttpCode, type OnModuleDestroy, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import { difference } from '../deployment/audit';
import { deploymentModel, owned } from '../deployment/deployment';
import { DeploymentAnswers } from '../deployment/deployment.answers';
import { deployment, revision, revisionDiff, revisions } from '../deployment/deployment.answers.schema';
import { DeploymentCommands } from '../deployment/deployment.commands';
import type { DeploymentEvent } from '../deployment/deployment-events';
import { DeploymentQueries } from '../deployment/deployment.queries';
import { DEPLOYMENTS_VIEW } from '../deployment/deployment.view';
import { deploymentPath, diffPath, revisionPath, revisionsQuery, waitQuery } from '../deployment/deployment.schema';
import { DeploymentsOptions } from '../deployments.options';
import { RevisionNotFound } from '../errors';
import { revisionRecord } from '../deployment/record';
import { interrupt, redeploy, revisionOf, revisionsModel, type Revisions } from './revision';
import { hasEnded } from './revision-status';

/** How often a waiting request looks whether its revision has ended. */
const LOOK_MS = 250;

@Area('Revisions')
@Controller('v2/deployments/:deployment_id/revisions')
export class RevisionsController implements OnModuleDestroy {
  private readonly stopping = new AbortController();

  constructor(
    private readonly store: EventStore,
    private readonly commands: DeploymentCommands,
    private readonly queries: DeploymentQueries,
    private readonly answers: DeploymentAnswers,
    private readonly idempotency: Idempotency,
    private readonly options: DeploymentsOptions,
  ) {}

  /** Requests that wait answer at once when the service stops. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  @Get()
  @Access('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({
    summary: 'List the revisions of a deployment',
    description: 'The newest first.',
    path: deploymentPath,
    query: revisionsQuery,
    answers: { 200: revisions, 304: null },
    takes: ['If-None-Match'],
    gives: ['Link', 'ETag'],
  })
  async list(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path, query } = validateRequest(request, { path: deploymentPath, query: revisionsQuery });
    await this.checkOwned(request, path.deployment_id);
    const { items, more } = await this.queries.revisions(path.deployment_id, query.status, query);
    const offset = query.offset + items.length;
    if (more) linkNext(request, reply, offset);
    const resources = items.map((revision) => this.answers.revision(request, revision));
    return unlessKnown(request, reply, { resources, offset });
  }

  @Get(':revision_id')
  @Access('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({
    summary: 'Get a revision',
    path: revisionPath,
    answers: { 200: revision, 304: null },
    takes: ['If-None-Match'],
    gives: ['ETag'],
  })
  async find(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path } = validateRequest(request, { path: revisionPath });
    const stored = await this.stored(request, path.deployment_id, path.revision_id);
    return unlessKnown(request, reply, this.answers.revision(request, stored));
  }

  /** Answers when the revision has ended, or after `timeout` seconds with the status it then has. */
  @Get(':revision_id/wait')
  @Access('read', { load: 'wait', views: [DEPLOYMENTS_VIEW] })
  @Describe({
    summary: 'Wait until a revision has ended',
    path: revisionPath,
    query: waitQuery,
    answers: { 200: revision },
  })
  async wait(@Req() request: FastifyRequest) {
    const { path, query } = validateRequest(request, { path: revisionPath, query: waitQuery });
    const deadline = Date.now() + query.timeout * 1000;
    for (;;) {
      const revision = await this.stored(request, path.deployment_id, path.revision_id);
      const left = deadline - Date.now();
      const { signal } = this.stopping;
      if (hasEnded(revision.status) || left <= 0 || signal.aborted || request.raw.destroyed) {
        return this.answers.revision(request, revision);
      }
      await pause(Math.min(left, LOOK_MS), undefined, { signal }).catch(() => undefined);
    }
  }

  /** A new revision from an earlier one's whole snapshot. */
  @Post(':revision_id/redeploy')
  @Access('write')
  @Describe({
    summary: 'Roll back to a revision',
    description: 'Makes a new revision from the whole of an earlier one, and answers the deployment.',
    path: revisionPath,
    answers: { 200: deployment },
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(200)
  async redeploy(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path } = validateRequest(request, { path: revisionPath });
    const answer = await this.idempotency.run(request, reply, async () => {
      const earlier = revisionOf(await this.folded(request, path.deployment_id), path.revision_id);
      const decide = redeploy(earlier, uuid(), this.options.hosting);
      const { state } = await this.commands.change(request, path.deployment_id, decide);
      return this.answers.kept(reply, state);
    });
    return this.answers.revealed(request, reply, answer);
  }

  @Post(':revision_id/interrupt')
  @Access('write')
  @Describe({
    summary: 'Interrupt a revision',
    path: revisionPath,
    answers: { 200: revision, 409: 'It has ended.' },
    takes: ['Idempotency-Key', 'If-Match', 'x-reason'],
    gives: ['ETag'],
  })
  @HttpCode(200)
  async interrupt(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply) {
    const { path } = validateRequest(request, { path: revisionPath });
    const answer = await this.idempotency.run(request, reply, async () => {
      revisionOf(await this.folded(request, path.deployment_id), path.revision_id);
      const { state } = await this.commands.change(request, path.deployment_id, interrupt(path.revision_id));
      reply.header('etag', etag(state.edition));
      const revisions = await this.folded(request, path.deployment_id);
      return revisionRecord(revisionOf(revisions, path.revision_id));
    });
    return this.answers.spelled(request, answer);
  }

  /** What differs between two revisions, by member; secrets as digests. */
  @Get(':revision_id/diff/:other_id')
  @Access('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({ summary: 'Compare two revisions', path: diffPath, answers: { 200: revisionDiff } })
  async diff(@Req() request: FastifyRequest) {
    const { path } = validateRequest(request, { path: diffPath });
    const revisions = await this.folded(request, path.deployment_id);
    const [from, to] = [revisionOf(revisions, path.revision_id), revisionOf(revisions, path.other_id)];
    return { from: from.id, to: to.id, changes: difference(from, to) };
  }

  private async checkOwned(request: FastifyRequest, id: string): Promise<void> {
    const { state } = await load(this.store, deploymentModel, streamName('deployment', id));
    owned(request.actor.tenantId, id, () => undefined)(state);
  }

  private async stored(request: FastifyRequest, id: string, revisionId: string) {
    await this.checkOwned(request, id);
    const revision = await this.queries.revision(id, revisionId);
    if (!revision) throw new RevisionNotFound(revisionId);
    return revision;
  }

  private async folded(request: FastifyRequest, id: string): Promise<Revisions> {
    const events = (await this.store.read(streamName('deployment', id))) as Recorded<DeploymentEvent>[];
    owned(request.actor.tenantId, id, () => undefined)(fold(deploymentModel, events));
    return fold(revisionsModel, events);
  }
}
