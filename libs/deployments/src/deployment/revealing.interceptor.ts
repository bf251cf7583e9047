import { type CommandContext, ForEachCaller } from '@fairlead/api';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DeploymentAnswers } from './deployment.answers';
import type { DeploymentRecord } from './record';

/** Shows callers that may read secrets the secrets of the deployment that a command has answered. */
@Injectable()
export class Revealing extends ForEachCaller<DeploymentRecord> {
  constructor(private readonly answers: DeploymentAnswers) {
    super();
  }

  show(kept: DeploymentRecord, context: CommandContext, reply: FastifyReply): Promise<DeploymentRecord> {
    return this.answers.revealed(context, reply, kept);
  }
}
