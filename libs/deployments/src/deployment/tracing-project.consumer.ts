import type { SessionCreatedMessage } from '@fairlead/contracts';
import { type EventContext, serviceCaller } from '@fairlead/eventing';
import { Controller } from '@nestjs/common';
import { Ctx, EventPattern, Payload } from '@nestjs/microservices';
import { nameTracingProject } from '../model/deployment';
import { DeploymentCommands } from './deployment.commands';
import { DeploymentNotFound } from '../model/deployment.errors';

/** Lets deployments know under which name their tracing project was made. */
@Controller()
export class TracingProjectConsumer {
  constructor(private readonly commands: DeploymentCommands) {}

  @EventPattern<string>('SessionCreated')
  async created(
    @Payload() { name, deployment_id }: SessionCreatedMessage,
    @Ctx() { event }: EventContext,
  ): Promise<void> {
    if (!deployment_id) return;
    const { tenant, traceparent } = event.metadata;
    const metadata = { tenant, traceparent, actor: 'system:deployments', causationId: event.id };
    try {
      await this.commands.change(serviceCaller(metadata), deployment_id, nameTracingProject(name));
    } catch (error) {
      if (!(error instanceof DeploymentNotFound)) throw error;
    }
  }
}
