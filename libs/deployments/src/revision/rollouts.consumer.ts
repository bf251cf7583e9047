import type {
  GateJudgedMessage,
  HostStatusReportedMessage,
  RevisionTakenBackMessage,
  RolloutHeldMessage,
  RolloutStatusReportedMessage,
} from '@fairlead/contracts';
import { type EventContext, owned } from '@fairlead/eventing';
import { bool, check, list, literal, object, optional, Problems, type Schema, str, uuid } from '@fairlead/schema';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { deploymentAggregate, type DeploymentState, reportHost } from '../model/deployment';
import { DeploymentCommands } from '../deployment/deployment.commands';
import { DeploymentRemoval } from '../deployment/deployment-removal.service';
import type { DeploymentEvent } from '../model/deployment-events';
import { DeploymentBeingDeleted, DeploymentNotFound } from '../model/deployment.errors';
import { hold, promote, refuse } from '../model/gates';
import { RevisionEnded, RevisionHeldByGates, RevisionWaits } from '../model/revision.errors';
import { reportRevision, takeBack } from '../model/revision';

/** Refusals of reports that were overtaken: the rollout learns it from the deployment's own events. */
const OVERTAKEN = [DeploymentNotFound, DeploymentBeingDeleted, RevisionEnded, RevisionHeldByGates, RevisionWaits];

const rolloutReport = object({
  deployment_id: uuid(),
  revision_id: uuid(),
  status: literal([
    ...(['AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING', 'DEPLOYED'] as const),
    ...(['BUILD_FAILED', 'DEPLOY_FAILED'] as const),
  ]),
  executor: optional(str()),
  repo_commit_sha: optional(str()),
});
const hostReport = object({
  deployment_id: uuid(),
  status: literal(['READY', 'UNUSED', 'UNKNOWN', 'REMOVED']),
  reason: optional(str({ anyText: true })),
  crash_looping: optional(bool()),
});
const takenBackReport = object({
  deployment_id: uuid(),
  revision_id: uuid(),
  active_revision_id: uuid(),
  reason: str({ anyText: true }),
});

const judgement = object({
  deployment_id: uuid(),
  revision_id: uuid(),
  outcome: literal(['promote', 'hold', 'refuse']),
  reasons: list(str({ anyText: true })),
});

/** Lets deployments follow what their rollouts report, and what is found about the revisions that gates hold. */
@Controller()
export class RolloutsConsumer {
  constructor(
    private readonly commands: DeploymentCommands,
    private readonly removal: DeploymentRemoval,
  ) {}

  @EventPattern<string>('RolloutStatusReported')
  async rolloutReported(@Payload() message: RolloutStatusReportedMessage, @Ctx() context: EventContext): Promise<void> {
    const { deployment_id, revision_id, status, executor, repo_commit_sha } = read(rolloutReport, message);
    const decide = reportRevision(revision_id, status, executor, repo_commit_sha);
    const tenant = context.metadata.tenant ?? '';
    await this.follow(context, deployment_id, owned(deploymentAggregate, tenant, deployment_id, decide));
  }

  @EventPattern<string>('HostStatusReported')
  async hostReported(@Payload() message: HostStatusReportedMessage, @Ctx() context: EventContext): Promise<void> {
    const { deployment_id, status, reason, crash_looping } = read(hostReport, message);
    if (status === 'REMOVED') return this.removal.complete(deployment_id, context.event);
    const { tenant } = context.metadata;
    const why = reason === undefined ? undefined : storable(reason);
    const decide = reportHost(status, why, crash_looping || undefined);
    await this.follow(context, deployment_id, (state) => (state?.tenant_id === tenant ? decide(state) : []));
  }

  @EventPattern<string>('RevisionTakenBack')
  async takenBack(@Payload() message: RevisionTakenBackMessage, @Ctx() context: EventContext): Promise<void> {
    const { deployment_id, revision_id, active_revision_id, reason } = read(takenBackReport, message);
    const { tenant } = context.metadata;
    const why = storable(reason);
    const decide = takeBack(revision_id, active_revision_id, why);
    await this.follow(context, deployment_id, (state) => (state?.tenant_id === tenant ? decide(state) : []), why);
  }

  /** The events of another service name gates as this one declared them. */
  @EventPattern<string>('RolloutHeld')
  async held(@Payload() message: RolloutHeldMessage, @Ctx() context: EventContext): Promise<void> {
    const { deployment_id, revision_id, gates } = message;
    const decide = hold(revision_id, gates, Date.parse(context.event.time));
    const tenant = context.metadata.tenant ?? '';
    await this.follow(context, deployment_id, owned(deploymentAggregate, tenant, deployment_id, decide));
  }

  @EventPattern<string>('GateJudged')
  async judged(@Payload() message: GateJudgedMessage, @Ctx() context: EventContext): Promise<void> {
    const { deployment_id, revision_id, outcome, reasons } = read(judgement, message);
    if (outcome === 'hold') return;
    const { tenant } = context.metadata;
    const decide = outcome === 'promote' ? promote(revision_id) : refuse(revision_id, reasons.map(storable));
    await this.follow(context, deployment_id, (state) => (state?.tenant_id === tenant ? decide(state) : []));
  }

  private async follow(
    { event }: EventContext,
    deploymentId: string,
    decide: (state: DeploymentState) => readonly DeploymentEvent[],
    reason?: string,
  ): Promise<void> {
    const { tenant, actor, traceparent } = event.metadata;
    const metadata = { tenant, actor, traceparent, causationId: event.id, ...(reason !== undefined && { reason }) };
    try {
      await this.commands.run({ metadata }, deploymentId, decide);
    } catch (error) {
      if (!OVERTAKEN.some((overtaken) => error instanceof overtaken)) throw error;
    }
  }
}

/** A text without U+0000, which PostgreSQL does not store, and lone surrogates, which UTF-8 does not have. */
function storable(text: string): string {
  return text.replaceAll(/[\0\p{Cs}]/gu, '');
}

/** The message, when it is one that rollouts send: a deployment's own events repeat nothing else. */
function read<T>(schema: Schema<T>, message: unknown): T {
  const problems = new Problems();
  const value = check(schema, message, [], problems);
  if (value === undefined) throw new Error(`This is no report of a rollout: ${JSON.stringify(problems.kept[0])}`);
  return value;
}
