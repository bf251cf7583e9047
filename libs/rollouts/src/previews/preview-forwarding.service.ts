import { spelledAddress } from '@fairlead/contracts';
import {
  ClusterForwarding,
  ClusterPreviews,
  ExecutorUnreachable,
  type Placed,
  requirePreview,
  StepFailed,
  type Through,
} from '@fairlead/executors';
import { NotFound, TimeLimit, Unavailable } from '@fairlead/schema';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { RolloutReports } from '../rollout/rollout-reports.service';
import { type Deployed, previewed } from '../rollout/target';

const ADDRESS = /^(.+)@([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;
/** Time limit for a connection to a program (ms). */
const CONNECT_MS = 10_000;

/** Leads requests for `/apps/<name>@<revision id>` to the revision that runs there while its gates hold it. */
@Injectable()
export class PreviewForwarding {
  private readonly forwarding = new ClusterForwarding();

  constructor(
    private readonly reports: RolloutReports,
    private readonly previews: ClusterPreviews,
  ) {}

  /** Answers what the program answers. @throws NotFound, Unavailable, Conflict, BadRequest */
  async pass(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { app } = request.params as { app: string };
    const found = await this.find(request.actor.tenantId, app);
    if (!found) throw new NotFound(`App '${app}' not found.`);
    const { state, revisionId } = found;
    requirePreview(request, state.stopped);
    this.forwarding.check(request);
    const through = await this.connect(state, revisionId);
    await this.forwarding.pass(request, reply, through, state);
  }

  /** The held revision of the workspace that an address names, by the name or the id of its deployment. */
  private async find(
    tenantId: string,
    address: string,
  ): Promise<{ readonly state: Deployed; readonly revisionId: string } | undefined> {
    const [, app = '', revisionId = ''] = ADDRESS.exec(address) ?? [];
    const { held } = revisionId ? await this.reports.rollout(revisionId) : {};
    const { state } = held === undefined ? {} : await this.reports.target(held);
    if (state?.tenantId !== tenantId || previewed(state)?.revision_id !== revisionId) return undefined;
    return app === state.id || app === spelledAddress(state.name) ? { state, revisionId } : undefined;
  }

  /** @throws Unavailable */
  private async connect({ id: deploymentId, tenantId, name, config }: Deployed, revisionId: string): Promise<Through> {
    const { place } = await this.reports.host(deploymentId);
    const placed: Placed = { deploymentId, tenantId, name, config, place };
    const limit = new TimeLimit(CONNECT_MS);
    try {
      return await this.previews.connect(placed, revisionId, limit.signal);
    } catch (error) {
      const isKnown = error instanceof StepFailed || error instanceof ExecutorUnreachable;
      if (!isKnown && !limit.hasPassed) throw error;
      const why = limit.hasPassed ? 'The cluster takes too long.' : (error as Error).message;
      throw new Unavailable(1, `The deployment does not answer: ${why}`);
    } finally {
      limit.end();
    }
  }
}
