import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { hasEnded } from '@fairlead/contracts';
import { actorNames, EventStore, fold, owned, type Recorded, streamName } from '@fairlead/eventing';
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
import { v7 as uuid } from 'uuid';
import { difference } from '../deployment/audit';
import { deploymentAggregate, deploymentModel, type DeploymentState } from '../deployment/deployment';
import { deployment, plan, revision, revisionDiff, revisions } from '../deployment/deployment.answers.schema';
import { DeploymentCommands } from '../deployment/deployment.commands';
import type { DeploymentEvent } from '../deployment/deployment-events';
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
import { DeploymentsOptions } from '../deployments.options';
import { causesOf } from './cause';
import { RevisionNotFound } from './revision.errors';
import { checkedBy, placeOf, rehearse, warn } from '../deployment/plans';
import { Addressed } from '../deployment/addresses.service';
import { answerTried, answerWith, revisionRecord } from '../deployment/record';
import { interrupt, NewerSecrets, redeploy, revisionOf, revisionsModel, type Revisions } from './revision';

/** Interval at which a waiting request checks whether its revision has ended (ms). */
const LOOK_MS = 250;

@Area('Revisions')
@Controller('v2/deployments/:deployment_id/revisions')
export class RevisionsController implements OnModuleDestroy {
  private readonly stopping = new AbortController();

  constructor(
    private readonly store: EventStore,
    private readonly commands: DeploymentCommands,
    private readonly queries: DeploymentQueries,
    private readonly options: DeploymentsOptions,
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
    const resources = query.include ? await this.withCauses(path.deployment_id, records) : records;
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
    const stored = await this.stored(context, path.deployment_id, path.revision_id);
    return unlessKnown(reply, spelled(context, revisionRecord(stored)));
  }

  /** Answers when the revision has ended, or after `timeout` seconds with the status it then has. */
  @Get(':revision_id/wait')
  @Scope('read', { load: 'wait', views: [DEPLOYMENTS_VIEW] })
  @Describe({ summary: 'Wait until a revision has ended' })
  @Answers({ 200: revision })
  async wait(
    @Context() context: CommandContext,
    @Path(revisionPath) path: Infer<typeof revisionPath>,
    @Query(waitQuery) query: Infer<typeof waitQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const deadline = Date.now() + query.timeout * 1000;
    for (;;) {
      const revision = await this.stored(context, path.deployment_id, path.revision_id);
      const left = deadline - Date.now();
      const { signal } = this.stopping;
      if (hasEnded(revision.status) || left <= 0 || signal.aborted || reply.raw.destroyed) {
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
      'Makes a new revision from the whole of an earlier one, and answers the deployment. The header `Warning` names secrets that are newer than the earlier revision.',
    takes: ['If-Match', 'x-reason'],
    gives: ['ETag', 'x-dry-run', 'Warning'],
  })
  @Answers({ 200: union(deployment, plan) })
  @HttpCode(200)
  async redeploy(
    @Context() context: CommandContext,
    @Path(revisionPath) path: Infer<typeof revisionPath>,
    @Query(redeployQuery) { dry_run, keep_secrets }: Infer<typeof redeployQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const newer = new NewerSecrets(path.revision_id);
    const revisions = await this.folded(context, path.deployment_id, [path.revision_id], newer);
    const earlier = revisionOf(revisions, path.revision_id);
    const { hosting, plans } = this.options;
    const anew = redeploy(earlier, uuid(), hosting, keep_secrets);
    const warning = (state: DeploymentState) => (keep_secrets ? undefined : newer.warning(state?.secrets ?? []));
    const place = plans && (await placeOf(this.store, path.deployment_id));
    const decide = plans ? checkedBy(plans, anew, place) : anew;
    if (dry_run) {
      const tried = await this.commands.preview(context, path.deployment_id, decide);
      if (plans) await rehearse(plans, reply, tried, place);
      return answerTried(reply, dry_run, tried, warn(reply, warning(tried.before)));
    }
    let before: DeploymentState = null;
    const { state } = await this.commands.change(context, path.deployment_id, (present) => decide((before = present)));
    warn(reply, warning(before));
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
    revisionOf(await this.folded(context, path.deployment_id, [path.revision_id]), path.revision_id);
    const { state } = await this.commands.change(context, path.deployment_id, interrupt(path.revision_id));
    reply.header('etag', etag(state.edition));
    return revisionRecord(
      revisionOf(await this.folded(context, path.deployment_id, [path.revision_id]), path.revision_id),
    );
  }

  /** Differences between two revisions, by member; secrets as digests. */
  @Get(':revision_id/diff/:other_id')
  @Scope('read', { views: [DEPLOYMENTS_VIEW] })
  @Describe({ summary: 'Compare two revisions' })
  @Answers({ 200: revisionDiff })
  async diff(@Context() context: CommandContext, @Path(diffPath) path: Infer<typeof diffPath>) {
    const revisions = await this.folded(context, path.deployment_id, [path.revision_id, path.other_id]);
    const [from, to] = [revisionOf(revisions, path.revision_id), revisionOf(revisions, path.other_id)];
    return { from: from.id, to: to.id, changes: difference(from, to) };
  }

  private async withCauses(id: string, records: readonly ReturnType<typeof revisionRecord>[]) {
    const causes = await causesOf(this.store.parts(streamName('deployment', id)));
    const known = records.map((record) => ({ ...record, ...causes.get(record.id)! }));
    const names = await actorNames(
      this.store,
      known.map(({ actor }) => actor),
    );
    return known.map((revision) => ({ ...revision, actor_name: names.get(revision.actor) ?? null }));
  }

  private async stored(context: CommandContext, id: string, revisionId: string) {
    await this.commands.find(context.tenantId, id);
    const revision = await this.queries.revision(id, revisionId);
    if (!revision) throw new RevisionNotFound(revisionId);
    return revision;
  }

  /** Some revisions of a deployment; of the others, however many there are, nothing is kept. */
  private async folded(
    context: CommandContext,
    id: string,
    wanted: readonly string[],
    newer?: NewerSecrets,
  ): Promise<Revisions> {
    const isWanted = ({ data }: DeploymentEvent) => 'revision_id' in data && wanted.includes(data.revision_id);
    let [deployment, revisions] = [deploymentModel.initial, revisionsModel.initial];
    for await (const part of this.store.parts(streamName('deployment', id))) {
      const events = part as Recorded<DeploymentEvent>[];
      newer?.take(events);
      deployment = fold(deploymentModel, events, deployment);
      revisions = fold(revisionsModel, events.filter(isWanted), revisions);
    }
    owned(deploymentAggregate, context.tenantId, id, () => undefined)(deployment);
    return revisions;
  }
}
