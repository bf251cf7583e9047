import { type Lease, QueueWorker } from '@fairlead/eventing';
import { Injectable, Logger } from '@nestjs/common';
import { RolloutReports } from '../rollout/rollout-reports.service';
import { GatedDeployments } from './gated-deployments.store';
import { RolloutQueue } from './rollout-queue.store';
import { RolloutsOptions } from './rollouts.options';

const CONCURRENCY = 2;

/** Takes up revisions of deployments with gates on which a process of an earlier version has ended its work. */
@Injectable()
export class GatedDeploymentsWorker extends QueueWorker {
  constructor(
    private readonly gated: GatedDeployments,
    private readonly rollouts: RolloutQueue,
    private readonly reports: RolloutReports,
    private readonly options: RolloutsOptions,
  ) {
    super(gated, new Logger('Rollouts'), CONCURRENCY);
  }

  protected async work({ item, signal }: Lease): Promise<void> {
    try {
      const { state, version } = await this.reports.target(item.id);
      const waits = state && !state.removed && (state.running ?? state.queued[0]);
      if (waits) await this.rollouts.note(state.id, version, state.tenantId);
      if (waits || (state?.gated && !state.removed)) await this.gated.rest(item, this.options.watchEvery);
      else await this.gated.finish(item);
    } catch (error) {
      if (signal.aborted) return;
      this.logger.error(error);
      await this.gated.rest(item, this.options.watchEvery).catch((lost: unknown) => this.logger.error(lost));
    }
  }
}
