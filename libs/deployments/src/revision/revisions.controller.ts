import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded } from '@fairlead/contracts';
import {
  Answers,
  Area,
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
import { type Infer, union } from '@fairlead/schema';
import { Controller, Get, HttpCode, type OnModuleDestroy, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { difference } from '../model/audit';
import { deployment, plan, revision, revisionDiff, revisions } from '../deployment/deployment.answers.schema';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { DeploymentQueries } from '../deployment/deployment.queries';
import { DEPLOYMENTS_VIEW } from '../deployment/deployment.projection';
import {
  deploymentPath,
  diffPath,
  redeployQuery,
  revisionPath,
  revisionsQuery,
  waitQuery,
} from '../deployment/deployment.schema';
import { RevisionNotFound } from '../model/revision.errors';
import { Addressed } from '../deployment/deployment-addresses.service';
import { answerTried, answerWith, revisionRecord, warn } from '../deployment/record';
import type { Revision } from '../model/revision';
import { CauseQueries } from './cause.queries';
import { RevisionCommands } from './revision.commands';

/** Interval at which a waiting request checks whether its revision has ended (ms). */
const LOOK_MS = 250;

@Area('Revisions')
@Controller('v2/deployments/:deployment_id/revisions')
export class RevisionsController implements OnModuleDestroy {
  private readonly stopping = new AbortController();

  constructor(
    private readonly commands: DeploymentCommands,
    private readonly queries: DeploymentQueries,
    private readonly revisions: RevisionCommands,
    private readonly causes: CauseQueries,
  ) {
    // Every request that waits listens to this one signal.
    setMaxListeners(0, this.stopping.signal);
  }

  /** Requests that wait answer at once when the service stops. */
  onModuleDestroy(): void {
    this.stopping.abort();
  }

  @Get()
  @Scope('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({
    summary: 'List the revisions of a deployment',
    description: 'The newest first.',
    takes: ['If-None-Match'],
    gives: ['Link', 'ETag'],
  })
  @Answers({ 200: revisions, 304: null })
  async list(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Infer<typeof deploymentPath>,
    @Query(revisionsQuery) query: Infer<typeof revisionsQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.commands.find(context.tenantId, path.deployment_id);
    const { items, more } = await this.queries.revisions(path.deployment_id, query.status, query);
    const offset = query.offset + items.length;
    if (more) linkNext(reply, offset);
    const records = items.map((revision) => spelled(context, revisionRecord(revision)));
    const resources = query.include ? await this.causes.of(path.deployment_id, records) : records;
    return unlessKnown(reply, { resources, offset });
  }

  @Get(':revision_id')
  @Scope('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({ summary: 'Get a revision', takes: ['If-None-Match'], gives: ['ETag'] })
  @Answers({ 200: revision, 304: null })
  async find(
    @Context() context: CommandContext,
    @Path(revisionPath) path: Infer<typeof revisionPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { revision } = await this.seen(context, path.deployment_id, path.revision_id);
    return unlessKnown(reply, spelled(context, revisionRecord(revision)));
  }

  /** Answers when the revision has ended or its gates hold it, or after `timeout` seconds with the status it then has. */
  @Get(':revision_id/wait')
  @Scope('read', { load: 'wait', views: [DEPLOYMENTS_VIEW] })
  @Describe({ summary: 'Wait until a revision has ended, or its gates hold it' })
  @Answers({ 200: revision })
  async wait(
    @Context() context: CommandContext,
    @Path(revisionPath) path: Infer<typeof revisionPath>,
    @Query(waitQuery) query: Infer<typeof waitQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const deadline = Date.now() + query.timeout * 1000;
    for (;;) {
      const { revision, isHeld } = await this.seen(context, path.deployment_id, path.revision_id);
      const left = deadline - Date.now();
      const { signal } = this.stopping;
      if (hasEnded(revision.status) || isHeld || left <= 0 || signal.aborted || reply.raw.destroyed) {
        return spelled(context, revisionRecord(revision));
      }
      await pause(Math.min(left, LOOK_MS), undefined, { signal }).catch(() => undefined);
    }
  }

  /** A new revision from an earlier one's whole snapshot. */
  @Post(':revision_id/redeploy')
  @Scope('write')
  @Idempotent(Spelling, Addressed)
  @Describe({
    summary: 'Roll back to a revision',
    description:
      'Makes a new revision from the whole of an earlier one, and answers the deployment. The header `Warning` names secrets that are newer than the earlier revision. Gates do not hold what was active before with all that it has; with `keep_secrets` it overrides them, which takes the scope `admin` and a reason in `x-reason`.',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag', 'x-dry-run', 'Warning'],
  })
  @Answers({ 200: union(deployment, plan) })
  @HttpCode(200)
  async redeploy(
    @Context() context: CommandContext,
    @Path(revisionPath) path: Infer<typeof revisionPath>,
    @Query(redeployQuery) { dry_run, keep_secrets: keepSecrets, skip_commit: skipCommit }: Infer<typeof redeployQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    if (dry_run) {
      const { tried, warnings } = await this.revisions.previewRedeploy(context, path, { keepSecrets, skipCommit });
      return answerTried(reply, dry_run, tried, ...warnings);
    }
    const { state, warnings } = await this.revisions.redeploy(context, path, { keepSecrets, skipCommit });
    warn(reply, ...warnings);
    return answerWith(reply, state);
  }

  @Post(':revision_id/interrupt')
  @Scope('write')
  @Idempotent(Spelling)
  @Describe({ summary: 'Interrupt a revision', takes: ['If-Match', 'x-reason'], gives: ['ETag'] })
  @Answers({ 200: revision, 409: 'It has ended.' })
  @HttpCode(200)
  async interrupt(
    @Context() context: CommandContext,
    @Path(revisionPath) path: Infer<typeof revisionPath>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { state, revision } = await this.revisions.interrupt(context, path);
    reply.header('etag', etag(state.edition));
    return revisionRecord(revision);
  }

  /** Differences between two revisions, by member; secrets as digests. */
  @Get(':revision_id/diff/:other_id')
  @Scope('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({ summary: 'Compare two revisions' })
  @Answers({ 200: revisionDiff })
  async diff(@Context() context: CommandContext, @Path(diffPath) path: Infer<typeof diffPath>) {
    const wanted = [path.revision_id, path.other_id];
    const [from, to] = (await this.revisions.some(context.tenantId, path.deployment_id, wanted)) as [
      Revision,
      Revision,
    ];
    return { from: from.id, to: to.id, changes: difference(from, to) };
  }

  private async seen(context: CommandContext, id: string, revisionId: string) {
    const { state } = await this.commands.find(context.tenantId, id);
    const revision = await this.queries.revision(id, revisionId);
    if (!revision) throw new RevisionNotFound(revisionId);
    return { revision, isHeld: state.held?.id === revisionId };
  }
}
