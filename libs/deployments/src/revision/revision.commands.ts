import { allows, type CommandContext } from '@fairlead/api';
import { type Caller, EventStore, fold, newId, owned, type Recorded, streamName } from '@fairlead/eventing';
import { BadRequest } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import { deploymentAggregate, deploymentModel, type DeploymentState } from '../model/deployment';
import { DeploymentCommands, mayOverride } from '../deployment/deployment.commands';
import type { DeploymentEvent } from '../model/deployment-events';
import { DeploymentsOptions } from '../model/deployments.options';
import { override } from '../model/gates';
import { RanBefore } from '../model/ran-before';
import {
  interrupt,
  NewerSecrets,
  redeploy,
  type Redeploying,
  type Revision,
  revisionOf,
  revisionsModel,
  skipWarning,
  type Revisions,
} from '../model/revision';

/** A reader of the events of a deployment, in order. */
interface Learner {
  take(events: readonly DeploymentEvent[]): void;
}

/** Ids of a revision and of its deployment. */
interface Named {
  readonly deployment_id: string;
  readonly revision_id: string;
}

/** Finds and changes the revisions of a deployment. */
@Injectable()
export class RevisionCommands {
  constructor(
    private readonly store: EventStore,
    private readonly deployments: DeploymentCommands,
    private readonly options: DeploymentsOptions,
  ) {}

  /**
   * Makes a new revision from an earlier one, with warnings about newer secrets and about the commit that is skipped.
   * @throws RevisionNotFound, and what `redeploy` throws
   */
  async redeploy(caller: CommandContext, path: Named, choices: Redeploying) {
    const { decide, warnings } = await this.redeploying(caller, path, choices, mayOverride(caller));
    let before: DeploymentState = null;
    const { state } = await this.deployments.changePlanned(caller, path.deployment_id, (now) => decide((before = now)));
    return { state, warnings: warnings(before) };
  }

  /** Returns what `redeploy` would return; nothing is written. */
  async previewRedeploy(caller: CommandContext, path: Named, choices: Redeploying) {
    // The reason is given with the roll-back itself.
    const isAdmin = allows(caller.actor, 'admin');
    const { decide, warnings } = await this.redeploying(caller, path, choices, isAdmin);
    const tried = await this.deployments.previewPlanned(caller, path.deployment_id, decide);
    return { tried, warnings: warnings(tried.before) };
  }

  /** Ends a revision that waits or runs. @throws RevisionNotFound, RevisionEnded */
  async interrupt(caller: Caller, { deployment_id, revision_id }: Named) {
    const found = async () => (await this.some(caller.tenantId, deployment_id, [revision_id]))[0]!;
    await found();
    const { state } = await this.deployments.change(caller, deployment_id, interrupt(revision_id));
    return { state, revision: await found() };
  }

  /**
   * Lets a revision through that its gates hold, or would hold.
   * @throws RevisionNotFound, BadRequest without a reason, RevisionEnded, RevisionNotHeld
   */
  async override(caller: Caller, { deployment_id, revision_id }: Named) {
    const found = async () => (await this.some(caller.tenantId, deployment_id, [revision_id]))[0]!;
    await found();
    if (caller.metadata.reason === undefined) throw new BadRequest('Say why in the header x-reason.');
    const { state } = await this.deployments.change(caller, deployment_id, override(revision_id));
    return { state, revision: await found() };
  }

  /** Some revisions of a deployment; of the others, however many there are, nothing is kept. @throws RevisionNotFound */
  async some(
    tenantId: string,
    id: string,
    wanted: readonly string[],
    ...learn: readonly Learner[]
  ): Promise<Revision[]> {
    const isWanted = ({ data }: DeploymentEvent) => 'revision_id' in data && wanted.includes(data.revision_id);
    let deployment = deploymentModel.initial;
    let revisions: Revisions = revisionsModel.initial;
    for await (const part of this.store.parts(streamName('deployment', id))) {
      const events = part as Recorded<DeploymentEvent>[];
      for (const one of learn) one.take(events);
      deployment = fold(deploymentModel, events, deployment);
      revisions = fold(revisionsModel, events.filter(isWanted), revisions);
    }
    owned(deploymentAggregate, tenantId, id, () => undefined)(deployment);
    return wanted.map((one) => revisionOf(revisions, one));
  }

  private async redeploying(
    { tenantId }: Caller,
    { deployment_id, revision_id }: Named,
    choices: Redeploying,
    isAllowed: boolean,
  ) {
    const ran = new RanBefore(revision_id);
    const newer = new NewerSecrets(revision_id);
    const [earlier] = await this.some(tenantId, deployment_id, [revision_id], newer, ran);
    const decide = redeploy(earlier!, newId(), this.options.hosting, { ...choices, ran, mayOverride: isAllowed });
    const warnings = (state: DeploymentState) => [
      choices.keepSecrets ? undefined : newer.warning(state?.secrets ?? []),
      choices.skipCommit ? skipWarning(state) : undefined,
    ];
    return { decide, warnings };
  }
}
