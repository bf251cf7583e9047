import type { DeploymentCreatedMessage, DeploymentDeletionRequestedMessage } from '@fairlead/contracts';
import { type Caller, EventContext, idOf, once, serviceCaller } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { Pool } from 'pg';
import { tracingProjectId } from '@fairlead/runs';
import { TracingProjectCommands } from './tracing-projects.commands';

const CREATED = 'experiments.tracing-projects.created';
const DELETED = 'experiments.tracing-projects.deleted';

/** Gives every deployment a tracing project of its name, and takes it away again when that is asked for. */
@Controller()
export class TracingProjectsController {
  constructor(
    private readonly projects: TracingProjectCommands,
    private readonly pool: Pool,
  ) {}

  @EventPattern<string>('DeploymentCreated')
  created(@Payload() { name }: DeploymentCreatedMessage, @Ctx() context: EventContext): Promise<void> {
    const { stream, time } = context.event;
    return this.react(CREATED, context, (id, caller) => this.projects.create(caller, id, name, idOf(stream), time));
  }

  @EventPattern<string>('DeploymentDeletionRequested')
  deleted(@Payload() data: DeploymentDeletionRequestedMessage, @Ctx() context: EventContext): Promise<void> {
    return this.react(DELETED, context, async (id, caller) => {
      if (!data.delete_tracing_project) return;
      await this.mustBeCreated(context.event.stream);
      await this.projects.delete(caller, id, data.name, context.event.time);
    });
  }

  /** The two kinds of event come side by side; a deletion that is ahead is delivered again. */
  private async mustBeCreated(deployment: string): Promise<void> {
    const { rowCount } = await this.pool.query('select 1 from inbox where consumer = $1 and subject = $2', [
      CREATED,
      deployment,
    ]);
    if (!rowCount) throw new Error(`The tracing project of ${deployment} is still to be created.`);
  }

  private async react(
    consumer: string,
    { event, metadata }: EventContext,
    work: (projectId: string, caller: Caller) => Promise<void>,
  ): Promise<void> {
    const { tenant, traceparent } = metadata;
    if (tenant === undefined) return;
    const caller = serviceCaller({ tenant, traceparent, actor: 'system:tracing-projects', causationId: event.id });
    await once(this.pool, consumer, event.stream, event.version, () => work(tracingProjectId(event.stream), caller));
  }
}
