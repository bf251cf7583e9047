import { Answers, Area, CommandContext, Context, Describe, Idempotent, Path, Scope, Spelling } from '@fairlead/api';
import type { ControlAction } from '@fairlead/contracts';
import type { Infer } from '@fairlead/schema';
import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Addressed } from './deployment-addresses.service';
import { control } from '../model/control';
import { deployment } from './deployment.answers.schema';
import { DeploymentCommands } from './deployment.commands';
import { deploymentPath } from './deployment.schema';
import { answerWith } from './record';

const CANNOT = 'Nothing of it runs, or its executor cannot do that.';
const USUAL = { takes: ['If-Match', 'x-reason'], gives: ['ETag'] } as const;
type Named = Infer<typeof deploymentPath>;

/** Stops, starts and restarts what runs of a deployment. The executor does it soon after the answer. */
@Area('Deployments')
@Controller('v2/deployments/:deployment_id')
export class ControlController {
  constructor(private readonly commands: DeploymentCommands) {}

  @Post('stop')
  @Scope('write')
  @Idempotent(Spelling, Addressed)
  @Describe({
    ...USUAL,
    summary: 'Stop what runs of a deployment',
    description: 'It stays stopped until it is started again, also when a revision is deployed meanwhile.',
  })
  @Answers({ 200: deployment, 409: CANNOT })
  @HttpCode(200)
  stop(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Named,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.control(context, path, reply, 'stop');
  }

  @Post('start')
  @Scope('write')
  @Idempotent(Spelling, Addressed)
  @Describe({ ...USUAL, summary: 'Start what was stopped of a deployment' })
  @Answers({ 200: deployment, 409: CANNOT })
  @HttpCode(200)
  start(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Named,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.control(context, path, reply, 'start');
  }

  @Post('restart')
  @Scope('write')
  @Idempotent(Spelling, Addressed)
  @Describe({ ...USUAL, summary: 'Restart what runs of a deployment' })
  @Answers({ 200: deployment, 409: CANNOT })
  @HttpCode(200)
  restart(
    @Context() context: CommandContext,
    @Path(deploymentPath) path: Named,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.control(context, path, reply, 'restart');
  }

  private async control(context: CommandContext, { deployment_id }: Named, reply: FastifyReply, action: ControlAction) {
    const { state } = await this.commands.change(context, deployment_id, control(action));
    return answerWith(reply, state);
  }
}
